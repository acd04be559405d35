# SPDX-License-Identifier: BSD-2-Clause
"""A session that waits for a window of a job on a GPU."""
import pathlib
import time

from gpu import LONG_S, PYTHON, GpuJob, end
from lib import ctl, process
from lib.held import Held, wakeups
from lib.runner import test

JOB = pathlib.Path(__file__).with_name("job.py")
MIB = 1 << 20
HELD = 16 * MIB  # anonymous memory and BPF maps
WAKEUPS = 2.7  # a second: one of the session, one by which the library knows that it lives


@test("a session that waits for a job on a GPU holds little memory and wakes rarely", alone=True)
def waits(case):
    job = GpuJob(case, JOB, python=PYTHON)
    tool = case.tool("-p", job.pid, "--record", "100000000:100000010", "--no-trace", "--no-progress")
    ctl.wait_state(job, "waiting for the window")
    process.wait_for(lambda: not job.holds_cupti(), LONG_S, "CUPTI to be left")
    time.sleep(3)
    held, woke = Held(tool.popen.pid), wakeups(tool.popen.pid)
    assert held.anon + held.memlock < HELD, (held.anon, sorted(held.maps.values(), reverse=True))
    assert woke < WAKEUPS, woke
    tool.interrupt().wait()
    end(job)
