"""What proftrace tells of its own cost against the run time of the job's own thread, with and without it."""
import argparse
import collections
import gzip
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

QUIET_S = 0.4  # without probes, before and behind each window
WINDOW_S = 0.4
START_S = 120
CAPTURE_S = 60
GOAL = 0.75, 1.33
ALL_PROCESSORS = set(os.sched_getaffinity(0))
NICE = -10
HERE = os.path.dirname(os.path.abspath(__file__))
JOB = os.path.join(HERE, "../../tests/workloads/timed_steps.py")
MODES = {
    "default": [],
    "no-prune": ["--no-prune"],
    "inner": ["--detail", "inner"],
    "inject": ["--inject"],
}
NONE = "none"  # windows without proftrace: what the machine does of itself
Cell = collections.namedtuple("Cell", "job mode busy")


def on_processors(chosen):
    """This process, and what it starts, runs on those alone."""
    if len(ALL_PROCESSORS) > 1:
        os.sched_setaffinity(0, chosen)


class Job:
    """A job, and what wants the processors beside it. A job of one process has one processor, what watches
    it the others; both come before whatever else the machine does."""

    def __init__(self, name, busy):
        on_processors({min(ALL_PROCESSORS)} if name != "fsdp2" and not busy else ALL_PROCESSORS)
        self.times = os.path.join(tempfile.mkdtemp(), "times")
        launcher = ["-m", "torch.distributed.run", "--nproc_per_node=2"] if name == "fsdp2" else []
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self.processes = [subprocess.Popen([sys.executable, *launcher, JOB, name, self.times], **quiet)]
        self.processes += [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(busy)]
        on_processors(ALL_PROCESSORS - {min(ALL_PROCESSORS)} if name != "fsdp2" and not busy else ALL_PROCESSORS)
        self.pid = self.step_s = None

    def __enter__(self):
        give_up = time.monotonic() + START_S
        while len(self.steps()) < 100:
            if time.monotonic() > give_up:
                self.__exit__()
                raise TimeoutError(f"the job has made {len(self.steps())} steps in {START_S} s")
            time.sleep(0.2)
        with open(f"{self.times}.0") as file:
            self.pid = int(file.readline())
        begin, end = self.steps()[-50][0], self.steps()[-1][1]
        self.step_s = (end - begin) / 50e9
        return self

    def __exit__(self, *_):
        for process in self.processes:
            process.terminate()
        for process in self.processes:
            process.wait()
        shutil.rmtree(os.path.dirname(self.times))

    def steps(self):
        """Begin, end and run time of each."""
        if not os.path.exists(f"{self.times}.0"):
            return []
        with open(f"{self.times}.0") as file:
            next(file, None)
            return [tuple(map(int, line.split())) for line in file if line.count(" ") == 2 and line.endswith("\n")]

    def ran(self, *spans):
        """Run times of the steps in the spans."""
        return [run for first, last, run in self.steps() for begin, end in spans if begin <= first and last <= end]


def bounds(tool, recording, folder):
    """Time of day at the window's begin and end."""
    path = os.path.join(folder, "trace.json.gz")
    subprocess.run([tool, "export", "-q", "--format", "chrome", "-o", path, recording], check=True)
    with gzip.open(path) as file:
        trace = json.load(file)
    steps = [e for e in trace["traceEvents"] if e.get("name", "").startswith("ProfilerStep#")]
    base = trace["baseTimeNanoseconds"]
    return base + min(e["ts"] for e in steps) * 1000, base + max(e["ts"] + e["dur"] for e in steps) * 1000


def quick(times):
    """The lower quartile: what else the machine does only adds."""
    return statistics.quantiles(times, n=4)[0]


def bare_and_inside(job, begin, end, window):
    """Run times of steps beside the capture from begin to end, and in the window."""
    quiet_ns = int(QUIET_S * 1e9)
    bare = quick(job.ran((begin - quiet_ns, begin), (end + quiet_ns // 10, end + quiet_ns)))
    return {"bare_ns": bare, "added_ns": quick(job.ran(window)) - bare}


def measure_none(job):
    """As measure(), but nobody watches."""
    time.sleep(QUIET_S)
    begin = time.time_ns()
    time.sleep(WINDOW_S)
    end = time.time_ns()
    while job.steps()[-1][1] < end + QUIET_S * 1e9:  # written in blocks
        time.sleep(QUIET_S)
    return bare_and_inside(job, begin, end, (begin, end))


def measure(tool, job, options):
    """One window between two times without probes."""
    steps = min(max(int(WINDOW_S / job.step_s), 20), 400)
    with tempfile.TemporaryDirectory() as folder:
        recording = os.path.join(folder, "told.ptrec")
        time.sleep(QUIET_S)
        begin = time.time_ns()
        subprocess.run(
            [tool, "-q", "-p", str(job.pid), "--record", f"2:{2 + steps}", "-o", recording, "--no-trace", *options],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            timeout=CAPTURE_S,
            check=True,
        )
        end = time.time_ns()
        time.sleep(QUIET_S)
        report = subprocess.run([tool, "report", "-f", "json", recording], stdout=subprocess.PIPE, check=True).stdout
        window = bounds(tool, recording, folder)
    cost = json.loads(report)["cost"]["rows"][0]
    return {
        **bare_and_inside(job, begin, end, window),
        "estimated_ns": cost["added_per_step_ns"],
        "least_ns": cost["estimated_low_ns"],
        "most_ns": cost["estimated_high_ns"],
        "told_ns": cost["added_percent"] / 100 * cost["run_per_step_ns"],
        "report_ns": [cost.get(key) for key in ("measured_low_ns", "measured_per_step_ns", "measured_high_ns")],
        "run_ns": cost["run_per_step_ns"],
        "hits": cost["hits_per_step"],
    }


def read(path):
    """What was measured before, by cell."""
    cells = collections.defaultdict(list)
    if os.path.exists(path):
        with open(path) as file:
            for line in file:
                row = json.loads(line)
                cells[Cell(*row.pop("cell"))].append(row)
    return cells


def measure_job(tool, wanted, cells, args, until):
    """Modes in turn, so that a slow minute is of all of them."""
    with Job(wanted[0].job, wanted[0].busy) as job, open(args.results, "a") as results:
        for turn in range(args.rounds):
            for cell in wanted:
                if len(cells[cell]) > turn or time.monotonic() > until:
                    continue
                try:
                    row = measure_none(job) if cell.mode == NONE else measure(tool, job, MODES[cell.mode])
                except (subprocess.SubprocessError, statistics.StatisticsError, ValueError) as error:
                    print(f"{cell}: {error}: {getattr(error, 'stderr', '')}", file=sys.stderr)
                    continue
                cells[cell].append(row)
                print(json.dumps({"cell": cell, **row}), file=results, flush=True)


def noise(rows):
    """By how much windows differ, at most, that nobody watched."""
    return max((abs(row["added_ns"]) for row in rows), default=0)


def tell(cell, rows, noise_ns):
    """Medians, with the least and greatest of a window; returns what the cell says."""
    mid = {key: statistics.median(row[key] for row in rows) for key in rows[0] if key != "report_ns"}
    known = [row["report_ns"] for row in rows if row["report_ns"][0] is not None]
    ratio = mid["told_ns"] / mid["added_ns"] if mid["added_ns"] > 0 else 0
    added = sorted(row["added_ns"] for row in rows)
    inside = "[{:.0f}, {:.0f}]".format(*(statistics.median(r[i] for r in known) / 1e3 for i in (0, 2))) if known else "-"
    print(
        f"| {cell.job} | {cell.mode} | {cell.busy} | {mid['bare_ns'] / 1e3:.0f} | {mid['added_ns'] / 1e3:.0f} "
        f"[{added[0] / 1e3:.0f}, {added[-1] / 1e3:.0f}] | {mid['told_ns'] / 1e3:.0f} | {ratio:.2f} | "
        f"{mid['estimated_ns'] / 1e3:.0f} | {inside} | {mid['hits']:.0f} | {len(rows)} |"
    )
    if GOAL[0] <= ratio <= GOAL[1]:
        return "within"
    return "noise" if abs(mid["told_ns"] - mid["added_ns"]) <= noise_ns else "outside"


def tell_none(cell, rows):
    added = sorted(row["added_ns"] / 1e3 for row in rows)
    bare = statistics.median(row["bare_ns"] for row in rows) / 1e3
    mid = statistics.median(added)
    print(
        f"| {cell.job} | {cell.mode} | {cell.busy} | {bare:.0f} | {mid:.0f} [{added[0]:.0f}, {added[-1]:.0f}] "
        f"| - | - | - | - | 0 | {len(rows)} |"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", default="mlp,gru,cnn,transformer,fsdp2")
    parser.add_argument("--modes", default=",".join([NONE, *MODES]))
    parser.add_argument("--busy", default="0,2", help="processes beside it that want a processor")
    parser.add_argument("--rounds", type=int, default=5, help="windows of a cell")
    parser.add_argument("--results", default="told.jsonl", help="a cell's windows in it are not measured again")
    parser.add_argument("--limit", type=float, default=1e9, help="seconds; call it again to go on")
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("cut off"))  # and the job with it
    os.nice(NICE)
    until = time.monotonic() + args.limit
    cells = read(args.results)
    order = []
    for name in args.jobs.split(","):
        for busy in map(int, args.busy.split(",")):
            wanted = [Cell(name, mode, busy) for mode in args.modes.split(",")]
            order += wanted
            if any(len(cells[cell]) < args.rounds for cell in wanted) and time.monotonic() < until:
                measure_job(os.environ["PROFTRACE"], wanted, cells, args, until)
    print("| job | mode | beside | run time, us | added [least, most] | told | told / added | by hits | by steps | hits | windows |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    said = collections.Counter()
    for cell in order:
        if cells[cell] and cell.mode == NONE:
            tell_none(cell, cells[cell])
        elif cells[cell]:
            said[tell(cell, cells[cell], noise(cells[cell._replace(mode=NONE)]))] += 1
    left = sum(len(cells[cell]) < args.rounds for cell in order)
    print(
        f"{said['within']} of {said.total()} cells within {GOAL[0]} to {GOAL[1]}; {said['noise']} differ by less than "
        f"windows differ that nobody watched; {said['outside']} do not"
        + (f"; {left} not measured whole" if left else "")
    )


main()
