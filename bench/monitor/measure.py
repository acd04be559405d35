"""Three jobs (training with a loader, training on the simulated GPU that never synchronises, two ranks) beside
`proftrace monitor`.

pairs: the monitor runs in every other block of time. Compares the steps of the blocks with and without it, pair by
pair; a pair is one block of each, in alternating order.
soak: the monitor runs all the time, is killed by SIGKILL in the middle, and started again. Samples its memory, its
descriptors, losses and cost each minute."""
import argparse
import json
import os
import pathlib
import signal
import socket
import statistics
import struct
import subprocess
import sys
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/e2e"), str(ROOT / "bench/overhead")]
import stats  # noqa: E402
from lib.held import Held, processes  # noqa: E402

PROFTRACE, PYTHON, GPU_PYTHON = (os.environ.get(name) for name in ("PROFTRACE", "PYTHON", "GPU_PYTHON"))
JOB = pathlib.Path(__file__).with_name("job.py")
STARTED_S = 120
SETTLED_S = 40  # of a block: sessions attach and look at steps
OUTLIER = 20  # a step that takes this many medians was not the job's: the machine was away


def wait_for(what, is_true, seconds):
    end = time.monotonic() + seconds
    while not is_true():
        assert time.monotonic() < end, f"{what}: not within {seconds} s"
        time.sleep(0.2)


class Jobs:
    def __init__(self, directory, rest):
        self.logs = {kind: directory / f"{kind}.steps" for kind in ("train", "gpu", "rank0", "rank1")}
        for log in self.logs.values():
            log.unlink(missing_ok=True)
        options = ["--rest", str(rest), "--steps"]
        ranks = [PYTHON, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
        self.popens = [self.start(directory, [python, JOB, kind, *options, directory / f"{name}.steps"])
                       for python, kind, name in ((PYTHON, "train", "train"), (GPU_PYTHON, "gpu", "gpu"))]
        self.popens.append(self.start(directory, [*ranks, JOB, "rank", *options, directory / "rank%r.steps"]))
        self.pids = [popen.pid for popen in self.popens]

    @staticmethod
    def start(directory, command):
        out = open(directory / "jobs.err", "ab")
        return subprocess.Popen(list(map(str, command)), stdout=out, stderr=out)

    def wait_steps(self):
        wait_for("the jobs' first steps", lambda: all(p.exists() and p.stat().st_size for p in self.logs.values()),
                 STARTED_S)

    def ranks(self):
        """The processes that make steps."""
        return self.pids[:2] + [pid for pid in processes(self.pids[2]) if JOB.name.encode() in command(pid)
                                and b"torch.distributed.run" not in command(pid)]

    def steps(self, kind):
        """(end, CPU time) of each step in ns."""
        data = self.logs[kind].read_bytes()
        return list(struct.iter_unpack("<QQ", data[:len(data) // 16 * 16]))

    def live(self):
        return all(popen.poll() is None for popen in self.popens)

    def stop(self):
        for popen in self.popens:
            popen.terminate()
        for popen in self.popens:
            popen.wait(60)


def command(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def be_nice():
    """As the unit of the package has it."""
    os.setpriority(os.PRIO_PROCESS, 0, 10)


class Monitor:
    """Watches what jobs.ranks() lists."""

    def __init__(self, directory, jobs, options):
        self.place = f"127.0.0.1:{free_port()}"
        rules = [word for pid in jobs.ranks() for word in ("--allow", f"pid:{pid}")]
        self.popen = subprocess.Popen([PROFTRACE, "monitor", "--listen", self.place, "--store", directory / "store",
                                       *rules, *options], stdout=subprocess.DEVNULL, preexec_fn=be_nice,
                                      stderr=open(directory / "monitor.err", "ab"))

    def ask(self, path):
        return urllib.request.urlopen(f"http://{self.place}{path}", timeout=30).read().decode()

    def metrics(self):
        """name{labels} -> value, of what is not a bucket."""
        lines = (line.rsplit(" ", 1) for line in self.ask("/metrics").splitlines() if line[:1] not in "#")
        return {name: float(value) for name, value in lines}

    def stop(self, sig=signal.SIGTERM):
        self.popen.send_signal(sig)
        self.popen.wait(60)


def sum_of(metrics, name):
    return sum(value for key, value in metrics.items() if key.split("{")[0] == name)


# ---- pairs ----

def block_mean(steps, begin, end):
    """(wall, CPU) time of a step in us, means of the steps in [begin, end); outliers are left out."""
    inside = [(b[0] - a[0], b[1] - a[1]) for a, b in zip(steps, steps[1:]) if begin <= a[0] and b[0] < end]
    most = OUTLIER * statistics.median(wall for wall, _ in inside)
    kept = [step for step in inside if step[0] < most]
    return [statistics.fmean(column) / 1e3 for column in zip(*kept)] + [len(inside) - len(kept)]


def run_block(directory, jobs, options, with_monitor, seconds):
    begin = time.monotonic_ns()
    monitor = Monitor(directory, jobs, options) if with_monitor else None
    time.sleep(seconds)
    end = time.monotonic_ns()
    metrics = monitor.metrics() if monitor else None
    if monitor:
        monitor.stop()
    return begin, end, metrics


def print_pairs(jobs, pairs, settled):
    print(f"\n{'job':8} {'us a step':>10} {'CPU':>8}   with the monitor, 95 % interval" +
          (f", without the first {SETTLED_S} s of a block" if settled else ", whole blocks"))
    for kind in jobs.logs:
        steps = jobs.steps(kind)
        means = [[block_mean(steps, begin + settled * SETTLED_S * 10 ** 9, end) for begin, end, _ in pair]
                 for pair in pairs]
        wall, cpu = ([100 * (on[i] / off[i] - 1) for on, off in means] for i in (0, 1))
        base = [statistics.median(off[i] for _, off in means) for i in (0, 1)]
        shown = " ".join("%s %+.2f %% [%+.2f, %+.2f]" % (name, *stats.median_interval(values))
                         for name, values in (("time", wall), ("CPU", cpu)))
        print(f"{kind:8} {base[0]:10.0f} {base[1]:8.0f}   {shown}; {sum(on[2] + off[2] for on, off in means)} outliers")


def measure_pairs(directory, jobs, args):
    pairs = []
    for i in range(max(1, round(args.minutes * 30 / args.block))):
        blocks = {on: run_block(directory, jobs, args.options, on, args.block) for on in ((True, False), (False, True))[i % 2]}
        pairs.append((blocks[True], blocks[False]))
        assert jobs.live(), "a job has ended"
        m = blocks[True][2]
        spent = {key: value for key, value in m.items() if key.startswith("proftrace_monitor_overhead_ratio")}
        print(f"pair {i + 1}: {sum_of(m, 'proftrace_monitor_windows_total'):.0f} windows, "
              f"{sum_of(m, 'proftrace_monitor_events_lost_total'):.0f} events lost; spent by its own estimate: " +
              ", ".join(f"{100 * value:.3f} %" for value in spent.values()) +
              f"; CPU {sum_of(m, 'process_cpu_seconds_total') / args.block:.3f} processors", flush=True)
    print_pairs(jobs, pairs, False)
    print_pairs(jobs, pairs, True)


# ---- soak ----

def descriptors(pids):
    return sum(len(os.listdir(f"/proc/{pid}/fd")) for pid in pids if os.path.exists(f"/proc/{pid}/fd"))


def sample(monitor, begin):
    held, m = Held(monitor.popen.pid), monitor.metrics()
    windows = {key.split('"')[1]: int(value) for key, value in m.items()
               if key.startswith("proftrace_monitor_windows_total")}
    return {"minute": round((time.monotonic() - begin) / 60, 1), "anon_mib": round(held.anon / 2 ** 20, 2),
            "bpf_mib": round(held.memlock / 2 ** 20, 2), "processes": len(held.pids), "fds": descriptors(held.pids),
            "cpu_s": round(held.cpu_s, 2), "cpu_total_s": round(sum_of(m, "process_cpu_seconds_total"), 2),
            "windows": windows, "events_lost": int(sum_of(m, "proftrace_monitor_events_lost_total")),
            "steps": int(sum_of(m, "proftrace_steps_total")),
            "overhead": [round(v, 6) for k, v in m.items() if k.startswith("proftrace_monitor_overhead_ratio")],
            "held": [k.split('"')[1] for k, v in m.items() if k.startswith("proftrace_monitor_held{") and v],
            "attach_failures": int(sum_of(m, "proftrace_monitor_attach_failures_total"))}


def soak_half(directory, jobs, args, begin, until, out):
    monitor = Monitor(directory, jobs, args.options)
    wait_for("the monitor", lambda: "proftrace_build_info" in try_metrics(monitor), 60)
    while time.monotonic() < until:
        time.sleep(60)
        assert jobs.live(), "a job has ended"
        row = sample(monitor, begin)
        out.write(json.dumps(row) + "\n")
        out.flush()
    return monitor


def try_metrics(monitor):
    try:
        return monitor.ask("/metrics")
    except OSError:
        return ""


def gone_within(pids, seconds):
    begin = time.monotonic()
    wait_for(f"the end of {pids}", lambda: not any(os.path.exists(f"/proc/{pid}") for pid in pids), seconds)
    return time.monotonic() - begin


def measure_soak(directory, jobs, args):
    begin, half = time.monotonic(), args.minutes * 30
    with open(directory / "soak.jsonl", "w") as out:
        monitor = soak_half(directory, jobs, args, begin, begin + half, out)
        own, before = processes(monitor.popen.pid)[1:], sorted((directory / "store").iterdir())
        monitor.stop(signal.SIGKILL)
        print(f"SIGKILL: its {len(own)} processes were gone after {gone_within(own, 60):.1f} s; "
              f"{len(before)} recordings before, {len(list((directory / 'store').iterdir()))} after", flush=True)
        monitor = soak_half(directory, jobs, args, begin, begin + 2 * half, out)
        own = processes(monitor.popen.pid)[1:]
        monitor.stop()
        print(f"SIGTERM: its {len(own)} processes were gone after {gone_within(own, 60):.1f} s")
    unread = [p.name for p in (directory / "store").glob("*.ptrec")
              if subprocess.run([PROFTRACE, "report", "-q", p], stdout=subprocess.DEVNULL).returncode]
    print(f"recordings that `proftrace report` refuses: {unread or 'none'}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("pairs", "soak"))
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--block", type=float, default=180, help="pairs: seconds of a block")
    parser.add_argument("--rest", type=float, default=20, help="ms without work in each step")
    parser.add_argument("--dir", type=pathlib.Path, default="monitor-bench")
    parser.epilog = "Options of the monitor come after --."
    own, _, options = "\0".join(sys.argv[1:]).partition("\0--\0")
    args = parser.parse_args(own.split("\0"))
    args.options = options.split("\0") if options else []
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    (args.dir / "store").mkdir(parents=True, exist_ok=True)
    jobs = Jobs(args.dir, args.rest)
    try:
        jobs.wait_steps()
        print(f"jobs {jobs.ranks()}", flush=True)
        time.sleep(130)  # older than --young
        (measure_pairs if args.what == "pairs" else measure_soak)(args.dir, jobs, args)
    finally:
        jobs.stop()


if __name__ == "__main__":
    main()
