# SPDX-License-Identifier: BSD-2-Clause
"""Tests what a job suffers while proftrace looks for its steps."""
import ctypes
import os
import re
import struct
import time

from lib import process
from lib.ctl import ctl
from lib.runner import test
from lib.tool import row

OPERATORS = 300  # more than the probes that show steps, which are some dozens; a plan of operators has about a thousand
CALLS_MAX = 20000
LIBC, SYS_BPF = ctypes.CDLL(None, use_errno=True), 321
OBJ_GET_INFO_BY_FD, LINK_GET_FD_BY_ID, LINK_GET_NEXT_ID = 15, 30, 31
UPROBE_MULTI = 12


def links():
    """Asks the kernel what is attached, and returns (type, pid, functions) of each. See union bpf_attr and struct
    bpf_link_info."""
    found, at = [], 0
    while True:
        attr = (ctypes.c_uint32 * 4)(at)
        if LIBC.syscall(SYS_BPF, LINK_GET_NEXT_ID, attr, ctypes.sizeof(attr)):
            return found
        at = attr[1]
        fd = LIBC.syscall(SYS_BPF, LINK_GET_FD_BY_ID, (ctypes.c_uint32 * 4)(at), 16)
        if fd < 0:
            continue  # it is gone
        info = ctypes.create_string_buffer(64)
        ask = struct.pack("IIQ", fd, len(info), ctypes.addressof(info))
        if not LIBC.syscall(SYS_BPF, OBJ_GET_INFO_BY_FD, ask, len(ask)):
            kind, = struct.unpack_from("I", info)
            functions, _, pid = struct.unpack_from("III", info, 16 + 4 * 8 + 4)
            found.append((kind, pid, functions))
        os.close(fd)


def uprobes(pid):
    """How many are in the process."""
    return sum(functions for kind, of, functions in links() if kind == UPROBE_MULTI and of == pid)


def watch(tool, job):
    """How many it has at each look, from the first probe on until all go, since a window opens. A burst is no window
    to `proftrace ctl`."""
    seen = []
    while not tool.recordings():
        assert tool.popen.poll() is None, tool.err
        cnt = uprobes(job.pid)
        if cnt or seen:
            seen.append(cnt)
        state = ctl(job, "status")[1]
        assert "state: recording" not in state or tool.recordings(), state
        time.sleep(0.03)
    while not seen[-1]:
        seen.pop()
    return seen


def stretches(seen):
    """How many times in a row operators have probes."""
    have = [cnt > OPERATORS for cnt in seen]
    return sum(now and not before for before, now in zip([False] + have, have))


@test("looking for steps: operators have probes in bursts alone; without steps by then, a window by time")
def bursts(case):
    job = case.job("aperiodic.py").wait_steps(3)
    tool = case.tool("-p", job.pid, "--duration", "1s", "--step-timeout", "9s", "--no-trace")
    seen = watch(tool, job)
    tool.done()
    told = re.search(r"operators had probes for (\d+) ms in (\d) bursts?: (\d+) calls", tool.out)
    ms, cnt, calls = map(int, told.groups())
    assert 1 <= cnt <= 4 and 0 < calls <= 1.2 * cnt * CALLS_MAX, told[0]
    # The machine decides how long attaching and detaching takes. On a slow machine it is less than half of the time. A
    # burst may fall between two looks, and at the end the probes for the window may be seen.
    assert stretches(seen) <= cnt + 1 and ms < 4500 and 0 < min(seen), (told[0], seen)
    assert 2 * sum(cnt > OPERATORS for cnt in seen) < len(seen), seen


@test("looking for steps: of a process that waits for the one that works a window by time opens soon, and that one is named")
def works_below(case):
    job = case.job("aperiodic.py", "--below").wait_steps(3)
    child, = process.children(job.pid)
    tool = case.tool("-p", job.pid, "--duration", "1s", "--no-trace", "-v").wait_recording()
    assert "burst 2: 0 calls" in tool.err and "burst 3" not in tool.err, tool.err  # 10 s in which operators are called
    assert tool.said("capture.descendant-has-framework", child), tool.err
    tool.done()


@test("looking for steps: where --max-overhead leaves no room, or little, to look at operators, the error says so")
def no_room(case):
    job = case.job("aperiodic.py").wait_steps(3)
    for percent, told in (("0", ("capture.steps-no-overhead-left",)),
                          ("0.02", ("capture.steps-irregular-*looked-little",))):
        case.tool("-p", job.pid, "--record", "2:4", "--step-timeout", "8s", "--max-overhead", percent).fails(*told)


@test("a window by time: the budget holds, and what short operators are estimated to be is what the job's log says",
      alone=True)
def budget_by_time(case):
    job = case.job("aperiodic.py").wait_steps(3)
    tool = case.tool("-p", job.pid, "--duration", "3s", "--no-trace").wait_recording()
    before, begin = job.made.look(), time.monotonic()
    time.sleep(2)
    made = (job.made.look() - before) / (time.monotonic() - begin) * 3 * 500  # operators of a request
    tool.done()
    tables = tool.report("--table", "operator,cost")
    operators, cost = tables["operator"]["rows"], row(tables, "cost")
    # Less than a second of a job whose operators come at random, on a machine that others use.
    assert 0.6 < sum(op["calls"] for op in operators) / made < 1.6, (operators, made)
    assert all(op.get("estimated") for op in operators), operators
    assert cost["added_percent"] < 1 and cost["hits"] < made / 100, cost
    assert "before the window operators had probes for" in tool.out, tool.out
