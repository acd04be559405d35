# SPDX-License-Identifier: BSD-2-Clause
"""Tests what a job may do within a window."""
import os
import signal

from gpu import LONG_S
from lib import process
from lib.astray import led_astray
from lib.runner import test
from pointer_hooks import Data, end, record_on, start, wait_steps


def goes_on(case, part):
    """In each step of a window the job must do the same as alone."""
    job = start(case, part)
    data = Data(job)
    record_on(case, job).interrupt().done(LONG_S)
    data.check()
    end(job)


@test("functions as keys of dictionaries, and torch's default device")
def hashes(case):
    goes_on(case, "hashes")


@test("errors in operators, in nodes of Python and C++, and in hooks")
def raises(case):
    goes_on(case, "raises")


@test("threads that come and go")
def threads(case):
    goes_on(case, "threads")


@test("workers of a data loader that run operators")
def loader(case):
    goes_on(case, "loader")


def once(case, part):
    job = start(case, part)
    data = Data(job)
    tool = record_on(case, job)
    job.popen.send_signal(signal.SIGUSR1)
    return job, data, tool


@test("a child within the window: its pointers are in their place, and its work is its own")
def fork(case):
    job, data, tool = once(case, "fork")
    process.wait_for(lambda: "child " in job.out(), LONG_S, "the child")
    child, hashed = job.out().split("child ")[1].split()[:2]
    assert hashed == "True", "functions have other hashes in the child"
    assert not led_astray(int(child)), "pointers of the child lead to the library"
    wait_steps(job)
    assert led_astray(job.pid), "the child has put its parent's pointers back"
    tool.interrupt().done(LONG_S)
    its = {e["pid"] for e in tool.events() if e.get("name") == "aten::matmul"}  # none of them is the job's own
    assert its <= {int(child)}, (its, child)
    data.check()
    os.kill(int(child), signal.SIGKILL)
    end(job)


@test("torch.profiler within the window")
def profiler(case):
    job, data, tool = once(case, "profile")
    process.wait_for(lambda: "profiled " in job.out(), LONG_S, "torch.profiler")
    assert int(job.out().split("profiled ")[1].split()[0]) == 1, job.out()
    wait_steps(job)
    tool.interrupt().done(LONG_S)
    data.check()
    end(job)


def ended(case, part, status):
    job, _, tool = once(case, part)
    assert job.popen.wait(LONG_S) == status, (job.popen.poll(), job.err())
    assert not job.err(), job.err()
    tool.done(LONG_S)
    assert any(e.get("category") == "operator" for e in tool.events())


@test("a job that exits within the window, with threads that stay")
def leave(case):
    ended(case, "leave", 5)


@test("a job that exits without a word within the window")
def leave_at_once(case):
    ended(case, "leave_at_once", 6)


@test("a job that replaces its program within the window")
def replaced(case):
    job, _, tool = once(case, "replaced")
    process.wait_for(lambda: os.readlink(f"/proc/{job.pid}/exe") != os.path.realpath(job.popen.args[0]) and
                     open(f"/proc/{job.pid}/comm").read() == "sleep\n", LONG_S, "the other program")
    tool.done(LONG_S)
    assert job.popen.poll() is None, "the program that came instead has ended"
