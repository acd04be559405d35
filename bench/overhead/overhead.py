"""Added step time of proftrace and of the framework's own profiler, interleaved in one process per job.

A measurement runs N steps in one mode; before and after each there are N untraced steps, and what
the mode adds is the 10th percentile of its steps less the mean of that of its two neighbours. A
virtual machine's processor may change its speed by half from one second to the next: where the two
neighbours differ, or a yardstick that no profiler touches differs in one of the three, the
measurement is repeated. Ten such pairs per mode give the median and its 95 %
interval. CPU time is that of the thread that trains (MXNet, MindSpore: of the process), probes
included; elapsed time suffers from whatever else runs on the machine.
"""
import argparse
import json
import os
import random
import sys

import stats
from measure import Failed, Job, ROOT, closed, record

# Per framework its own profiler's name, and jobs: steps of one measurement.
PEERS = {
    "pytorch": "torch.profiler",
    "paddle": "paddle.profiler",
    "mxnet": "mx.profiler",
    "mindspore": "mindspore.profiler",
}
JOBS = {
    "pytorch": {"mlp": 400, "cnn": 100, "transformer": 100},
    "paddle": {"mlp": 200, "cnn": 100},
    "mxnet": {"mlp": 200, "cnn": 100},
    "mindspore": {"mlp": 30, "cnn": 30},
}
QUICK_SHARE = 0.5
LOW = 0.1
TRIES = 4  # per pair
PROFILER = "profiler"  # the framework's own
MODES = {
    "phase": ["phase", "--detail", "phase"],
    "operator": ["operator"],
    "operator --keep-all": ["operator", "--keep-all"],
    "inner": ["inner", "--detail", "inner"],
    "no-inject": ["operator", "--no-inject"],  # CUDA's calls by probes, no device times
    "phase no-inject": ["phase", "--detail", "phase", "--no-inject"],
    "operator with-stack": ["operator", "--with-stack"],
    "keep-all with-stack": ["operator", "--keep-all", "--with-stack"],
}
OTHER = [PROFILER, "closed", "untraced"]
CLOCKS = ["cpu", "wall"]
YARD_SHARE = 0.15  # by which the yardstick may differ: profilers take its caches from it


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    names = [*MODES, *OTHER]
    parser.add_argument("--quick", action="store_true", help="3 pairs of half as many steps")
    parser.add_argument("--pairs", type=int, help="pairs per mode (10)")
    parser.add_argument("--framework", choices=JOBS, default="pytorch")
    parser.add_argument("--jobs", help="of the framework's: mlp, cnn, for PyTorch transformer (all)")
    usual = [name for name in names if "no-inject" not in name and "with-stack" not in name]
    parser.add_argument("--modes", default=",".join(usual), help=f"of {', '.join(names)}")
    parser.add_argument("--steady", type=float, default=0.03, metavar="SHARE",
                        help="by which a measurement's neighbours may differ in CPU time (0.03)")
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--python", default=sys.executable, help="of the job")
    build = os.environ.get("BUILD", os.path.join(ROOT, "build"))
    parser.add_argument("--json", default=os.path.join(build, "overhead.json"), metavar="PATH")
    args = parser.parse_args()
    args.modes = args.modes.split(",")
    args.jobs = args.jobs.split(",") if args.jobs else [*JOBS[args.framework]]
    args.pairs = args.pairs or (3 if args.quick else 10)
    unknown = set(args.jobs) - set(JOBS[args.framework]) | set(args.modes) - set(names)
    if unknown:
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    return args


def low(times):
    """Microseconds of a quiet step, by clock, and of the yardstick beside it."""
    return {clock: stats.percentile(times[clock], LOW) / 1e3 for clock in [*CLOCKS, "yard"]}


def one(job, mode, steps):
    if mode == PROFILER:
        return job.ask(f"prof {steps}"), {}
    if mode == "untraced":
        return job.ask(f"run {steps}"), {}
    if mode == "closed":
        return closed(job, steps)
    detail, *options = MODES[mode]
    return record(job, options, detail, steps)


def load():
    with open("/proc/loadavg") as file:
        return float(file.read().split()[0])


def is_steady(entry, share):
    before, after = entry["before"]["cpu"], entry["after"]["cpu"]
    yards = [entry[part]["yard"] for part in ("before", "mode", "after")]
    return (abs(after - before) <= share * min(before, after)
            and max(yards) - min(yards) <= YARD_SHARE * min(yards))


def measure_job(args, name):
    """Per mode, one entry per pair: step before, step in the mode, step after, and facts."""
    steps = int(JOBS[args.framework][name] * (QUICK_SHARE if args.quick else 1))
    job = Job(args.python, args.framework, name, args.device)
    rounds = {mode: [] for mode in args.modes}
    tried = dict.fromkeys(args.modes, 0)
    order = random.Random(name)

    def is_due(mode):
        return len(rounds[mode]) < args.pairs and tried[mode] < args.pairs * TRIES

    try:
        job.ask(f"prof {steps}")  # what it does once, at its first use
        fresh = [low(job.ask(f"run {steps}")) for _ in range(3)]
        before = fresh[-1]
        while due := [mode for mode in args.modes if is_due(mode)]:
            for mode in order.sample(due, len(due)):
                print(f"{name}: {mode}, pair {len(rounds[mode]) + 1}", file=sys.stderr)
                times, facts = one(job, mode, steps)
                after = low(job.ask(f"run {steps}"))
                entry = {"before": before, "mode": low(times), "after": after, "load": load(), **facts}
                before = after
                tried[mode] += 1
                if is_steady(entry, args.steady):
                    rounds[mode].append(entry)
        left = [low(job.ask(f"run {steps}")) for _ in range(3)]
    finally:
        job.close()
    missed = [mode for mode in args.modes if len(rounds[mode]) < args.pairs]
    if missed:
        raise Failed(f"the machine is too unsteady: too few pairs of {', '.join(missed)}")
    return {"steps": steps, "fresh": fresh, "left": left, "modes": rounds, "tried": tried}


def added(entry, clock):
    return entry["mode"][clock] - (entry["before"][clock] + entry["after"][clock]) / 2


def summarise(result):
    """Adds to each mode its added time and its ratio to the framework's own profiler's, by clock."""
    modes = result["modes"]
    result["summary"] = {}
    for mode, entries in modes.items():
        row = result["summary"][mode] = {}
        for clock in CLOCKS:
            deltas = [added(entry, clock) for entry in entries]
            row[clock] = {"added_us": stats.median_interval(deltas)}
            if mode != PROFILER and PROFILER in modes:
                peers = [added(entry, clock) for entry in modes[PROFILER]]
                row[clock]["ratio"] = stats.ratio_interval(list(zip(deltas, peers)))
    bases = [entry["before"] for entries in modes.values() for entry in entries]
    result["untraced_us"] = {c: stats.median([base[c] for base in bases]) for c in CLOCKS}
    result["residue_us"] = {
        c: stats.median([b[c] for b in result["left"]])
        - stats.median([b[c] for b in result["fresh"]])
        for c in CLOCKS
    }


def spread(triple, form):
    return f"{triple[0]:{form}} [{triple[1]:{form}}, {triple[2]:{form}}]"


def print_added(results, peer):
    print(f"| job (untraced step, CPU / elapsed) | mode | added CPU us per step | x {peer} "
          f"| added elapsed us per step | x {peer} |")
    print("| --- | --- | ---: | ---: | ---: | ---: |")
    for name, result in results.items():
        base = result["untraced_us"]
        label = f"{name} ({base['cpu']:.0f} / {base['wall']:.0f} us)"
        for mode, row in result["summary"].items():
            cells = []
            for clock in CLOCKS:
                cells.append(spread(row[clock]["added_us"], ".0f"))
                ratio = row[clock].get("ratio")
                cells.append(spread(ratio, ".2f") if ratio else "1" if mode == PROFILER else "-")
            shown = peer if mode == PROFILER else mode
            print(f"| {label} | {shown} | {' | '.join(cells)} |")
            label = ""


FACTS = {
    "window_ms": ("start to window open, ms", ".0f"),
    "first_event_ms": ("attach to first event, ms", ".0f"),
    "attach_ms": ("attach call, ms", ".0f"),
    "longest_step_attaching_ms": ("longest step meanwhile, ms", ".1f"),
    "detach_ms": ("detach, ms", ".0f"),
    "loader_cpu_window_ms": ("loader CPU in window, ms", ".1f"),
    "loader_cpu_total_ms": ("loader CPU in all, ms", ".0f"),
    "hits_per_step": ("hits per step", ".0f"),
    "spans_per_step": ("spans per step", ".0f"),
    "own_estimate_us": ("own estimate of added us", ".0f"),
    "file_bytes_per_span": ("file bytes per span", ".1f"),
}


def print_facts(results):
    print("\n| job | mode | " + " | ".join(title for title, _ in FACTS.values()) + " |")
    print("| --- | --- |" + " ---: |" * len(FACTS))
    for name, result in results.items():
        for mode in MODES:
            entries = result["modes"].get(mode)
            if not entries:
                continue
            cells = [
                f"{stats.median([entry[key] or 0 for entry in entries]):{form}}"
                for key, (_, form) in FACTS.items()
            ]
            print(f"| {name} | {mode} | {' | '.join(cells)} |")


def print_rest(results):
    print()
    for name, result in results.items():
        residue = result["residue_us"]
        print(f"{name}: untraced step after the last detach less before the first attach: "
              f"{residue['cpu']:+.0f} us CPU, {residue['wall']:+.0f} us elapsed")
        kept = sum(len(entries) for entries in result["modes"].values())
        print(f"{name}: {kept} of {sum(result['tried'].values())} pairs had neighbours alike")
    loads = [e["load"] for r in results.values() for m in r["modes"].values() for e in m]
    print(f"load average {min(loads):.1f} to {max(loads):.1f} on {os.cpu_count()} CPUs")


def bpf_stats_on():
    with open("/proc/sys/kernel/bpf_stats_enabled") as file:
        return file.read().strip() != "0"


def main():
    args = parse_args()
    if bpf_stats_on():
        print("overhead: kernel.bpf_stats_enabled is on and adds to each hit", file=sys.stderr)
    results = {}
    for name in args.jobs:
        try:
            results[name] = measure_job(args, name)
        except Failed as failure:
            sys.exit(f"overhead: {name}: {failure}")
        summarise(results[name])
        with open(args.json, "w") as file:
            json.dump(results, file, indent=1)
    print_added(results, PEERS[args.framework])
    print_facts(results)
    print_rest(results)


if __name__ == "__main__":
    main()
