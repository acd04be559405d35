"""Added step time of proftrace and of the framework's own profiler, interleaved in one process per job.

A measurement runs N steps in one mode; before and after each there are N untraced steps, and what
the mode adds is the 10th percentile of its steps less the mean of that of its two neighbours. A
virtual machine's processor may change its speed by half from one second to the next, which a
yardstick tells that no profiler touches: a neighbour at another speed is left out, and what is
added at a lower speed than the job's usual higher one is scaled to that. Where both neighbours are
left out, or the two differ though their speed does not, the pair is unsteady and another one is
measured. Ten steady pairs per mode give the median and its 95 % interval; where the machine gives
fewer than three in four times as many tries, all pairs do, and how many of them were unsteady
stands beside it. A measurement that fails is counted and left out. CPU time is that of the thread
that trains (MXNet, MindSpore: of the process), probes included; elapsed time suffers from whatever
else runs on the machine.
"""
import argparse
import contextlib
import json
import math
import os
import random
import signal
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
    "paddle": {"mlp": 200, "adamw": 200, "cnn": 100},
    "mxnet": {"mlp": 200, "cnn": 100},
    "mindspore": {"mlp": 200, "cnn": 100, "pynative": 100},
}
QUICK_SHARE = 0.5
LOW = 0.1
TRIES = 4  # per pair
FAILURES = 3  # of a mode, after which it is left
PROFILER = "profiler"  # the framework's own
MODES = {
    "phase": ["phase", "--detail", "phase"],
    "operator": ["operator"],
    "operator --no-prune": ["operator", "--no-prune"],
    "inner": ["inner", "--detail", "inner"],
    "inject": ["operator", "--inject"],  # operators through pointers, without CUDA
    "no-inject": ["operator", "--no-inject"],  # CUDA's calls by probes, no device times
    "phase no-inject": ["phase", "--detail", "phase", "--no-inject"],
    "operator with-stack": ["operator", "--with-stack"],
    "no-prune with-stack": ["operator", "--no-prune", "--with-stack"],
}
BARE = "bare CUPTI"  # its callbacks and activities, which nobody takes: what no profiler is below
OTHER = [PROFILER, BARE, "closed", "untraced"]
CLOCKS = ["cpu", "wall"]
YARD_SHARE = 0.15  # by which the yardstick may differ: profilers take its caches from it


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    names = [*MODES, *OTHER]
    parser.add_argument("--quick", action="store_true", help="3 pairs of half as many steps")
    parser.add_argument("--pairs", type=int, help="pairs per mode (10)")
    parser.add_argument("--framework", choices=JOBS, default="pytorch")
    parser.add_argument("--jobs", help="of the framework's: mlp, cnn; PyTorch's transformer, "
                        "PaddlePaddle's adamw, MindSpore's pynative (all)")
    usual = [name for name in names
             if "no-inject" not in name and "with-stack" not in name and name != BARE]
    parser.add_argument("--modes", default=",".join(usual), help=f"of {', '.join(names)}")
    parser.add_argument("--steady", type=float, default=0.03, metavar="SHARE",
                        help="less than which a measurement's neighbours differ in CPU time (0.03); 0: none is steady")
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
    if mode == BARE:
        return job.ask(f"bare {steps}"), {}
    if mode == "untraced":
        return job.ask(f"run {steps}"), {}
    if mode == "closed":
        return closed(job, steps)
    detail, *options = MODES[mode]
    return record(job, options, detail, steps)


class Ended(Exception):
    """Told to end: what was measured until then is printed."""


def end(*_):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise Ended("ended before all pairs were measured")


def load():
    with open("/proc/loadavg") as file:
        return float(file.read().split()[0])


def neighbours(entry):
    """Those of the untraced measurements that ran at the mode's speed; both, if none did."""
    both = [entry["before"], entry["after"]]
    yard = entry["mode"]["yard"]
    return [n for n in both if abs(n["yard"] - yard) <= YARD_SHARE * min(n["yard"], yard)] or both


def is_steady(entry, share):
    yards = [part["yard"] for part in [entry["mode"], *neighbours(entry)]]
    times = [part["cpu"] for part in neighbours(entry)]
    return (max(times) - min(times) < share * min(times)
            and max(yards) - min(yards) <= YARD_SHARE * min(yards))


def steady(entries):
    return [entry for entry in entries if entry["steady"]]


def measure_pairs(args, name, job, result):
    """Fills in the result's pairs and failures, by mode, as far as the job lives."""
    steps, pairs, failed = result["steps"], result["pairs"], result["failed"]
    before = result["fresh"][-1]
    order = random.Random(name)

    def is_due(mode):
        return (len(steady(pairs[mode])) < args.pairs and len(pairs[mode]) < args.pairs * TRIES
                and len(failed[mode]) < FAILURES)

    while due := [mode for mode in args.modes if is_due(mode)]:
        for mode in order.sample(due, len(due)):
            print(f"{name}: {mode}, pair {len(pairs[mode]) + 1}, "
                  f"{len(steady(pairs[mode]))} steady", file=sys.stderr)
            try:
                times, facts = one(job, mode, steps)
            except Failed as failure:
                print(f"overhead: {name}: {mode}: {failure}", file=sys.stderr)
                failed[mode].append(str(failure))
                before = low(job.ask(f"run {steps}"))
                continue
            after = low(job.ask(f"run {steps}"))
            entry = {"before": before, "mode": low(times), "after": after, "load": load(), **facts}
            entry["steady"] = is_steady(entry, args.steady)
            pairs[mode].append(entry)
            before = after


def measure_job(args, name):
    """Per mode, one entry per pair: step before, step in the mode, step after, and facts. A job that
    ends leaves what was measured until then."""
    steps = int(JOBS[args.framework][name] * (QUICK_SHARE if args.quick else 1))
    result = {"steps": steps, "fresh": [], "left": [],
              "pairs": {mode: [] for mode in args.modes},
              "failed": {mode: [] for mode in args.modes}}
    try:
        with contextlib.closing(Job(args.python, args.framework, name, args.device)) as job:
            job.ask(f"prof {steps}")  # what it does once, at its first use
            result["fresh"] = [low(job.ask(f"run {steps}")) for _ in range(3)]
            measure_pairs(args, name, job, result)
            result["left"] = [low(job.ask(f"run {steps}")) for _ in range(3)]
    except (Failed, Ended) as failure:
        print(f"overhead: {name}: {failure}", file=sys.stderr)
    return result


def chosen(entries):
    """The pairs that the figures are of: the steady ones, if there are enough for an interval."""
    best = steady(entries)
    return best if len(best) >= stats.FEWEST else entries


def reference(entries):
    """The yardstick at the higher speed."""
    return stats.percentile([entry["mode"]["yard"] for entry in entries], LOW)


def added(entry, clock, yard):
    """As it would be at the speed of which that is the yardstick."""
    beside = neighbours(entry)
    share = yard / entry["mode"]["yard"]
    delta = entry["mode"][clock] - sum(part[clock] for part in beside) / len(beside)
    return delta if abs(1 - share) <= YARD_SHARE else delta * share


def summarise(result):
    """Adds to each mode its added time and its ratio to the framework's own profiler's, by clock."""
    modes = result["modes"] = {
        mode: chosen(entries) for mode, entries in result["pairs"].items() if entries
    }
    yard = reference([entry for entries in modes.values() for entry in entries])
    result["summary"] = {}
    for mode, entries in modes.items():
        row = result["summary"][mode] = {
            "pairs": len(entries), "unsteady": len(entries) - len(steady(entries))}
        for clock in CLOCKS:
            deltas = [added(entry, clock, yard) for entry in entries]
            row[clock] = {"added_us": stats.median_interval(deltas)}
            if mode != PROFILER and PROFILER in modes:
                peers = [added(entry, clock, yard) for entry in modes[PROFILER]]
                row[clock]["ratio"] = stats.ratio_interval(deltas, peers)
    bases = [entry["before"] for entries in modes.values() for entry in entries]
    result["untraced_us"] = {c: stats.median([base[c] for base in bases]) for c in CLOCKS}
    result["residue_us"] = result["left"] and {
        c: stats.median([b[c] for b in result["left"]])
        - stats.median([b[c] for b in result["fresh"]])
        for c in CLOCKS
    }


def spread(triple, form):
    if math.isnan(triple[1]):
        return f"{triple[0]:{form}} [too few]"
    return f"{triple[0]:{form}} [{triple[1]:{form}}, {triple[2]:{form}}]"


def print_added(results, peer):
    print(f"| job (untraced step, CPU / elapsed) | mode | added CPU us per step | x {peer} "
          f"| added elapsed us per step | x {peer} | pairs |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: |")
    for name, result in results.items():
        base = result["untraced_us"]
        label = f"{name} ({base['cpu']:.0f} / {base['wall']:.0f} us)"
        for mode, row in result["summary"].items():
            cells = []
            for clock in CLOCKS:
                cells.append(spread(row[clock]["added_us"], ".0f"))
                ratio = row[clock].get("ratio")
                cells.append(spread(ratio, ".2f") if ratio else "1" if mode == PROFILER else "-")
            unsteady = f", {row['unsteady']} unsteady" if row["unsteady"] else ""
            cells.append(f"{row['pairs']}{unsteady}")
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
        if residue:
            print(f"{name}: untraced step after the last detach less before the first attach: "
                  f"{residue['cpu']:+.0f} us CPU, {residue['wall']:+.0f} us elapsed")
        pairs = result["pairs"].values()
        print(f"{name}: {sum(len(steady(entries)) for entries in pairs)} of "
              f"{sum(map(len, pairs))} pairs were steady")
        for mode, failed in result["failed"].items():
            if failed:
                print(f"{name}: {mode}: {len(failed)} measurements failed, the last: {failed[-1]}")
    loads = [e["load"] for r in results.values() for m in r["modes"].values() for e in m]
    print(f"load average {min(loads):.1f} to {max(loads):.1f} on {os.cpu_count()} CPUs")


def bpf_stats_on():
    with open("/proc/sys/kernel/bpf_stats_enabled") as file:
        return file.read().strip() != "0"


def main():
    args = parse_args()
    if bpf_stats_on():
        print("overhead: kernel.bpf_stats_enabled is on and adds to each hit", file=sys.stderr)
    signal.signal(signal.SIGTERM, end)
    results = {}
    for name in args.jobs:
        if signal.getsignal(signal.SIGTERM) != end:
            break
        result = measure_job(args, name)
        if not any(result["pairs"].values()):
            print(f"overhead: {name}: nothing could be measured", file=sys.stderr)
            continue
        summarise(result)
        results[name] = result
        with open(args.json, "w") as file:
            json.dump(results, file, indent=1)
    if not results:
        sys.exit(1)
    print_added(results, PEERS[args.framework])
    print_facts(results)
    print_rest(results)


if __name__ == "__main__":
    main()
