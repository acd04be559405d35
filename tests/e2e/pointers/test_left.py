# SPDX-License-Identifier: BSD-2-Clause
"""Every pointer is put back, however proftrace ends."""
import collections
import signal
import time

from gpu import LONG_S
from lib import process
from lib.ctl import obeyed, wait_state
from lib.runner import test
from pointer_hooks import Data, end, record, record_on, seen, start, wait_steps


@test("four times in turn: each pointer has its value again, each page its protection, and results are those of a job alone")
def ten(case):
    job = start(case)
    data = Data(job)
    for i in range(4):
        tool = record(case, job).done(LONG_S)
        seen(tool)
        if i % 2 == 0:
            data.check()
    data.check()
    end(job)


@test("proftrace killed, interrupted, or still for too long in its window")
def gone(case):
    job = start(case)
    data = Data(job)
    for sig in signal.SIGKILL, signal.SIGINT, signal.SIGTERM:
        tool = record_on(case, job)
        tool.signal(sig)
        tool.wait()
        began = time.monotonic()
        process.wait_for(lambda: not job.is_served(), LONG_S, "the library to leave")
        took_s = time.monotonic() - began
        assert took_s < 4, f"after {sig} the library left after {took_s} s"  # the same limit as in tests/e2e/late
        data.check()
    tool = record_on(case, job)
    tool.signal(signal.SIGSTOP)
    time.sleep(7)
    data.check()
    tool.signal(signal.SIGCONT)
    wait_steps(job)
    tool.interrupt().done(LONG_S)
    data.check()
    end(job)


def operators_of_a_step(events):
    """All steps are alike, but for one that begins a period and has more."""
    steps = collections.Counter(e["step"] for e in events if e.get("category") == "operator" and "step" in e)
    assert len(steps) == 4, steps
    return min(steps.values())


@test("windows of proftrace ctl, and repeated ones")
def windows(case):
    job = start(case)
    data = Data(job)
    tool = case.tool("-v", "-p", job.pid, "--paused", "--no-trace", "--no-progress")
    for i in range(2):
        wait_state(job, "state: paused")
        obeyed(job, "start")
        wait_state(job, "state: recording")
        wait_steps(job)
        obeyed(job, "pause")
        wait_state(job, f"recordings written: {i + 1}")
    obeyed(job, "stop")
    tool.done(LONG_S)
    seen(tool)
    data.check()
    tool = case.tool("-v", "-p", job.pid, "--schedule", "skip_first=1,closed=10,ready=1,record=4,repeat=3",
                     "--no-trace", "--no-progress").done(LONG_S)
    seen(tool)
    assert len(tool.recordings()) == 3
    cnt = [operators_of_a_step(tool.events(i)) for i in range(3)]
    assert len(set(cnt)) == 1 and cnt[0], cnt
    data.check()
    end(job)
