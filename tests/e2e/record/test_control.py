# SPDX-License-Identifier: BSD-2-Clause
"""proftrace ctl: windows on command, of a session that runs."""
import re
import time

import sense
from lib import process
from lib.ctl import ctl, obeyed, recording, wait_state
from lib.runner import test
from lib.tool import STOPPED, report


def steps_of(path):
    tables = report(path)
    first, end = map(int, re.search(r"\[(\d+),(\d+)\)",
                                    sense.rows(tables, "summary")[0]["window"]).groups())
    sense.check(tables, end - first)
    return first, end


@test("ctl: start, pause, resume, dump, reset and stop; refusals say why")
def verbs(case):
    job = case.job("train.py").wait_steps(3)
    status, said = ctl(job, "start")
    assert status == 1 and "no proftrace records process" in said, said
    tool = case.tool("-p", job.pid, "--paused")
    wait_state(job, "state: paused")
    assert not tool.recordings()
    status, said = ctl(job, "dump")
    next_step = f"no window is open: paused; `proftrace ctl {job.pid} start` opens one"
    assert status == 1 and next_step in said, said
    assert next_step in ctl(job, "reset")[1]
    status, said = ctl(job, "status", user=["setpriv", "--reuid=65534", "--clear-groups"])
    assert status != 0 and "another user" in said, said

    obeyed(job, "start")
    wait_state(job, "state: recording")
    assert "already" in ctl(job, "start")[1]
    job.wait_steps(3)
    dumped = int(re.search(r"up to step (\d+)", obeyed(job, "dump"))[1])
    wait_state(job, "recordings written: 1", "state: recording")
    first, end = steps_of(recording(tool, 0))  # the recording is complete while the session goes on
    assert first < end == dumped + 1, (first, end, dumped)
    job.wait_steps(2)
    obeyed(job, "reset")
    job.wait_steps(4)
    wait_state(job, "recordings written: 1", "state: recording")
    paused = int(re.search(r"with step (\d+)", obeyed(job, "pause"))[1])
    wait_state(job, "recordings written: 2", "state: paused", "current recording: -")
    assert steps_of(recording(tool, 1))[1] == paused + 1
    job.wait_steps(3)
    obeyed(job, "resume")
    wait_state(job, "state: recording")
    job.wait_steps(2)
    obeyed(job, "stop")
    tool.done()
    assert len(tool.recordings()) == 3, tool.recordings()
    assert tool.out.count("Model Summary") == 3
    job.wait_steps(3)


@test("ctl: a second session on a process has no door, and says so; --paused is refused")
def second_session(case):
    job = case.job("train.py").wait_steps(3)
    first = case.tool("-p", job.pid, "--paused")
    wait_state(job, "process:")
    who = f"another session, proftrace with process id {first.pid}, has it"
    case.tool("-p", job.pid, "--paused").fails("capture.paused-not-reachable", job.pid, who)
    second = case.tool("-p", job.pid, "--record", "0:3", "--no-trace").done()
    assert second.said("capture.control-not-reachable", job.pid, who), second.err
    sense.check(second.report(), 3)
    wait_state(job, "state: paused")
    obeyed(job, "stop")
    first.wait()
    assert not first.said("capture.control-not-reachable"), first.err


@test("ctl: a session that waits to start or attaches is reached from its first moment")
def waiting(case):
    job = case.job("train.py").wait_steps(3)

    def begin(*options):
        tool = case.tool("-p", job.pid, "--no-trace", *options)
        wait_state(job, "process:")
        return tool

    tool = begin("--record", "0:3", "--start-after", "300s")
    wait_state(job, "state: waiting to start, in 4 min")
    assert "no window is open yet: waiting to start" in ctl(job, "dump")[1]
    assert not process.is_probed(job.pid)
    obeyed(job, "start")
    tool.done()
    sense.check(tool.report(), 3)

    tool = begin("--record", "0:3", "--start-after", "300s")
    obeyed(job, "stop")
    tool.fails(STOPPED)

    tool = begin("--record", "0:3", "--start-at", f"@{int(time.time()) + 300}")
    obeyed(job, "start")
    tool.done()
    sense.check(tool.report(), 3)

    tool = begin("--paused")
    assert "when the probes are attached" in obeyed(job, "start")
    wait_state(job, "state: recording")
    obeyed(job, "stop")
    tool.done()


@test("ctl: what is asked for while steps are being found out is kept until then")
def early(case):
    job = case.job("mlp_train.py", "--sleep-ms", 700).wait_steps(3)
    tool = case.tool("-p", job.pid, "--paused", "--no-trace")
    wait_state(job, "finding out what a step is")
    assert "when it is known what a step is" in obeyed(job, "start")
    wait_state(job, "state: recording step")
    job.wait_steps(2)
    obeyed(job, "stop")
    tool.done()
    assert len(tool.recordings()) == 1, tool.recordings()


@test("--dump-every: a new recording after that long, whole steps, one left out between two")
def dump_every(case):
    job = case.job("train.py").wait_steps(3)
    tool = case.tool("-p", job.pid, "--record", "0:1000000", "--dump-every", "1s", "--no-trace")
    wait_state(job, "recordings written: 2")
    tool.interrupt().done()
    assert steps_of(recording(tool, 1))[0] >= steps_of(recording(tool, 0))[1] + 1
