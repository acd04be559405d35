# SPDX-License-Identifier: BSD-2-Clause
"""proftrace or the job dies at each step, and the other one must go on. tests/e2e/inject does this inside an
injection."""
import pathlib
import re
import signal
import time

from gpu import LONG_S, SIM, GpuJob, check_recorded, compare, dumped, notes, record
from lib import process
from lib.runner import test


def kill(job, tool):
    """The job lives, and is soon without us."""
    tool.signal(signal.SIGKILL)
    tool.wait()
    job.wait_progress()
    job.wait_parked()


@test("proftrace killed while it starts, and attached again")
def starting(case):
    job = GpuJob(case)
    for i in range(3):
        tool = record(case, job, "--duration", "100s")
        time.sleep(0.1 * i)  # the time of death does not matter, because the rest must be the same
        kill(job, tool)
    check_recorded(case, job)
    job.end()


@test("proftrace killed after the injection, and attached again at once")
def injected(case):
    job = GpuJob(case, SIMGPU_CUPTI_INIT_MS="1500")
    tool = record(case, job, "--duration", "100s")
    process.wait_for(job.is_served, LONG_S, "the library")
    tool.signal(signal.SIGKILL)
    tool.wait()
    tool = record(case, job).done(LONG_S)  # waits until the library has noticed
    assert all(compare(job, tool.recordings()[0]))
    job.wait_parked()
    job.end()


@test("proftrace killed while it records, and attached again")
def recording(case):
    job = GpuJob(case)
    tool = record(case, job, "--duration", "100s")
    process.wait_for(job.holds_cupti, LONG_S, "the window")
    process.wait_for(lambda: tool.recordings(), LONG_S, "the recording")
    kill(job, tool)
    check_recorded(case, job)
    job.end()


def check_at_once(case, job):
    """Nobody uses the library, and no message may claim so."""
    tool = record(case, job).done(LONG_S)
    assert not notes(tool), notes(tool)
    assert all(compare(job, tool.recordings()[0])), "a window without kernels, copies or sets"


@test("proftrace killed while it records: the library leaves at once, not when it misses the heartbeat", alone=True)
def noticed(case):
    job = GpuJob(case)
    for _ in range(3):
        tool = record(case, job, "--duration", "100s")
        process.wait_for(job.holds_cupti, LONG_S, "the window")
        tool.signal(signal.SIGKILL)
        tool.wait()
        began = time.monotonic()
        job.wait_parked()
        took_s = time.monotonic() - began
        assert took_s < 4, f"the library left after {took_s} s"  # it misses a heartbeat after 4.7
    job.end()


@test("ten proftraces killed within seconds, and attached again at once")
def ten(case):
    job = GpuJob(case)
    for i in range(10):
        tool = record(case, job, "--duration", "100s")
        if i == 0:
            process.wait_for(job.holds_cupti, LONG_S, "the window")
        time.sleep(0.05 * i)
        tool.signal(signal.SIGKILL)
        tool.wait()
    check_at_once(case, job)
    job.wait_parked()
    job.end()


@test("proftrace killed while it detaches, and attached again")
def detaching(case):
    job = GpuJob(case)
    for i in range(2):
        tool = record(case, job, "--duration", "100s")
        process.wait_for(job.holds_cupti, LONG_S, "the window")
        disabled = job.calls("cuptiActivityDisable")
        tool.interrupt()
        if i:
            process.wait_for(lambda: job.calls("cuptiActivityDisable") > disabled, LONG_S,
                             "the window's end")
        kill(job, tool)
    check_recorded(case, job)
    job.end()


@test("proftrace that stands still until the library gives up: device times end there")
def standing_still(case):
    job = GpuJob(case)
    tool = record(case, job, "--duration", "100s").wait_recording(LONG_S)
    process.wait_for(job.holds_cupti, LONG_S, "the window")
    job.wait_progress()
    tool.signal(signal.SIGSTOP)
    job.wait_parked()
    tool.signal(signal.SIGCONT)
    process.wait_for(lambda: tool.said("device.library-gave-up"), LONG_S,
                     "proftrace to notice")
    tool.interrupt().done(LONG_S)
    said = "device times for the first "
    assert said in notes(tool) and "the library in the process gave up" in notes(tool), notes(tool)
    assert all(compare(job, tool.recordings()[0], may_miss=1_000_000))
    job.end()


def dies(case, sig, *command):
    job = GpuJob(case, *command)
    tool = record(case, job, "--duration", "100s")
    process.wait_for(job.holds_cupti, LONG_S, "the window")
    before = len(job.truth())
    process.wait_for(lambda: len(job.truth()) > before + 1000, LONG_S, "some work in the window")
    flushes = job.calls("cuptiActivityFlushAll")
    process.wait_for(lambda: job.calls("cuptiActivityFlushAll") > flushes + 1, LONG_S, "its records")
    job.popen.send_signal(sig)
    job.popen.wait(LONG_S)
    tool.done(LONG_S)
    assert tool.said("cli.target-ended-in-window"), tool.err
    return job, tool


def missing_launches(dump, what="Launch"):
    """Launches in the recording that no kernel in it is of."""
    rows = [line.split("\t") for line in dump.read_text().splitlines()]
    kernels = {row[5] for row in rows if row[0] == "kernel"}
    return sum(row[0] in ("runtime", "driver") and what in row[7] and "Host" not in row[7] and
               row[5] not in kernels for row in rows)


@test("the job ends in the window: what it did is there")
def exits(case):
    job, tool = dies(case, signal.SIGTERM)
    assert job.popen.returncode == 0
    assert all(compare(job, tool.recordings()[0]))
    assert "device times" not in notes(tool), notes(tool)


@test("the job aborts in the window: what had come out is kept")
def aborts(case):
    job, tool = dies(case, signal.SIGABRT)
    assert job.popen.returncode == -signal.SIGABRT
    assert all(compare(job, tool.recordings()[0], may_miss=1_000_000))
    assert "device times for the first " in notes(tool), notes(tool)
    missing = missing_launches(dumped(job, tool.recordings()[0]))
    if missing:
        assert (f"what CUPTI had not handed over yet; {missing} launch" in notes(tool)), notes(tool)
    else:
        assert "what CUPTI had not handed over yet." in notes(tool), notes(tool)


@test("a job that captures graphs dies in the window: launches into a graph are no work that is missing")
def captures(case):
    python, program = SIM / "venv/bin/python", pathlib.Path(__file__).with_name("captures.py")
    job, tool = dies(case, signal.SIGKILL, python, "-B", program)
    dump = dumped(job, tool.recordings()[0])
    missing, without = missing_launches(dump, "GraphLaunch"), missing_launches(dump)
    said = re.search(r"; (\d+) launch\w+ (?:was|were) seen whose work was not", notes(tool))
    assert without - missing > 20, f"only {without - missing} launches were captured"
    assert (int(said[1]) if said else 0) == missing, (notes(tool), missing, without)
