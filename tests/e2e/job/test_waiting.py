# SPDX-License-Identifier: BSD-2-Clause
"""Sessions of all ranks that wait for a window."""
import time

from lib import ctl
from lib.held import Held, processes, wakeups
from lib.runner import test
from test_job import Launched

MIB = 1 << 20
RANKS = 2
HELD = 16 * MIB  # of each rank: anonymous memory and BPF maps
PARENT = 32 * MIB
WAKEUPS = 2  # a second, of each process


class Rank:
    def __init__(self, pid):
        self.pid = pid


@test("ranks that wait for a far window, and the parent, hold little memory and wake rarely", alone=True)
def waits(case):
    job = Launched(case, ranks=RANKS)
    tool = case.tool("--job", job.popen.pid, "--record", "100000000:100000010", "--no-trace")
    for pid in job.pids():
        ctl.wait_state(Rank(pid), "waiting for the window")
    time.sleep(3)
    pids = processes(tool.popen.pid)
    held, woke = Held(tool.popen.pid), wakeups(tool.popen.pid)
    parent = Held(tool.popen.pid, alone=True)
    assert parent.anon < PARENT, parent.anon
    assert held.anon - parent.anon + held.memlock < RANKS * HELD, (held.anon, held.memlock)
    assert woke < WAKEUPS * len(pids), (woke, len(pids))
    tool.interrupt().wait()
    job.wait_steps(3)
