"""How long the requests of a job take while proftrace looks for its steps, over those before and behind."""
import os
import statistics
import subprocess
import sys
import tempfile
import time

PROFTRACE = os.environ["PROFTRACE"]
JOB = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tests/workloads/aperiodic.py")
JOBS = {  # all without an order that repeats: what takes longest to find
    "small operators": ["--operators", "500", "--size", "64"],
    "large operators": ["--operators", "100", "--size", "40000"],
    "OpenMP, all processors": ["--operators", "200", "--size", "200000", "--threads", str(os.cpu_count())],
}


def requests(log):
    with open(log) as file:
        return [int(line.split()[2]) for line in file if line.count(" ") == 2]


def spend(log, seconds):
    """Times of the requests that end within so many seconds."""
    before = len(requests(log))
    time.sleep(seconds)
    return requests(log)[before:-1]


def look(pid, log, seconds):
    """The same while proftrace looks, from its attach to its detach."""
    before = len(requests(log))
    subprocess.run([PROFTRACE, "-q", "-p", str(pid), "--record", "2:10", "--step-timeout", f"{seconds}s", "--no-trace"],
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False, timeout=seconds + 60)
    return requests(log)[before:-1]


def measure(name, options, seconds):
    log = os.path.join(tempfile.mkdtemp(), "log")
    job = subprocess.Popen([sys.executable, JOB, "--log", log, *options])
    try:
        while not os.path.exists(log) or len(requests(log)) < 20:
            time.sleep(0.2)
        without = spend(log, seconds / 2)
        looked = look(job.pid, log, seconds)
        without += spend(log, seconds / 2)
    finally:
        job.kill()
        job.wait()
    mean, median = (f(looked) / f(without) for f in (statistics.fmean, statistics.median))
    print(f"{name}: {len(looked)} requests, mean {mean:.3f}x, median {median:.3f}x of {statistics.fmean(without) / 1e6:.2f} ms",
          flush=True)


def main():
    seconds = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    for name, options in JOBS.items():
        measure(name, options, seconds)


if __name__ == "__main__":
    main()
