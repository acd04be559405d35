"""What proftrace tells of its own cost against the run time of the job's own thread, with and without it."""
import argparse
import gzip
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

PAUSE_S = 1.0
HERE = os.path.dirname(os.path.abspath(__file__))
MODES = {
    "default": [],
    "keep-all": ["--keep-all"],
    "inner": ["--detail", "inner"],
    "inject": ["--inject"],
}


def command(name, times):
    launcher = ["-m", "torch.distributed.run", "--nproc_per_node=2"] if name == "fsdp2" else []
    return [sys.executable, *launcher, os.path.join(HERE, "job.py"), name, times]


def steps_of(times):
    with open(f"{times}.0") as file:
        next(file)
        return [tuple(map(int, line.split())) for line in file if line.count(" ") == 2 and line.endswith("\n")]


def ran(steps, begin, end):
    return [run for first, last, run in steps if first >= begin and last <= end]


def bounds(tool, recording, folder):
    """Time of day at the window's begin and end."""
    path = os.path.join(folder, "trace.json.gz")
    subprocess.run([tool, "export", "-q", "--format", "chrome", "-o", path, recording], check=True)
    with gzip.open(path) as file:
        trace = json.load(file)
    steps = [e for e in trace["traceEvents"] if e.get("name", "").startswith("ProfilerStep#")]
    base = trace["baseTimeNanoseconds"]
    return base + min(e["ts"] for e in steps) * 1000, base + max(e["ts"] + e["dur"] for e in steps) * 1000


def measure(tool, times, pid, options, steps):
    with tempfile.TemporaryDirectory() as folder:
        recording = os.path.join(folder, "told.ptrec")
        before = time.time_ns()
        time.sleep(PAUSE_S)
        begin = time.time_ns()
        subprocess.run(
            [tool, "-q", "-p", str(pid), "--record", f"2:{2 + steps}", "-o", recording, "--no-trace", *options],
            stdout=subprocess.DEVNULL,
            check=True,
        )
        end = time.time_ns()
        time.sleep(PAUSE_S)
        report = subprocess.run([tool, "report", "-f", "json", recording], stdout=subprocess.PIPE, check=True).stdout
        opened, closed = bounds(tool, recording, folder)
    cost = json.loads(report)["cost"]["rows"][0]
    every = steps_of(times)
    bare = ran(every, before, begin) + ran(every, end + 100_000_000, time.time_ns())
    inside = ran(every, opened, closed)
    return cost, statistics.median(inside) - statistics.median(bare), statistics.median(bare)


def run_job(tool, name, busy, modes, steps):
    folder = tempfile.mkdtemp()
    times = os.path.join(folder, "times")
    job = subprocess.Popen(command(name, times), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    others = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(busy)]
    try:
        while not (os.path.exists(f"{times}.0") and len(steps_of(times)) > 100):
            time.sleep(0.2)
        with open(f"{times}.0") as file:
            pid = int(file.readline())
        for mode in modes:
            cost, added_ns, bare_ns = measure(tool, times, pid, MODES[mode], steps)
            told_ns = cost["added_per_step_ns"]
            print(
                f"{name:12} {mode:9} beside {busy}: run time {bare_ns / 1e3:7.0f} us, added {added_ns / 1e3:6.0f}, "
                f"told {told_ns / 1e3:6.0f} ({told_ns / added_ns if added_ns > 0 else 0:.2f}x), measured "
                f"{cost.get('measured_per_step_ns', 0) / 1e3:.0f} [{cost.get('measured_low_ns', 0) / 1e3:.0f}, "
                f"{cost.get('measured_high_ns', 0) / 1e3:.0f}], share {cost['added_percent']:.2f} % of "
                f"{100 * added_ns / bare_ns:.2f} %, {cost['hits_per_step']} hits",
                flush=True,
            )
    finally:
        for process in [*others, job]:
            process.terminate()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", default="mlp,gru,cnn,transformer,fsdp2")
    parser.add_argument("--modes", default=",".join(MODES))
    parser.add_argument("--busy", default="0,2", help="processes beside it that want a processor")
    parser.add_argument("--steps", type=int, default=40)
    args = parser.parse_args()
    for name in args.jobs.split(","):
        for busy in args.busy.split(","):
            run_job(os.environ["PROFTRACE"], name, int(busy), args.modes.split(","), args.steps)


main()
