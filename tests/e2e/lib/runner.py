# SPDX-License-Identifier: BSD-2-Clause
"""Runs test functions, a few side by side, and prints a line for each. A test gets a Case: a
directory, jobs and tools that are ended with it whatever happens. Tests that measure time are
marked `alone` and run one by one after the others."""
import concurrent.futures
import ctypes
import os
import pathlib
import shutil
import signal
import tempfile
import time
import traceback

from lib.job import Job
from lib.process import Snapshot
from lib.tool import Tool

PR_SET_CHILD_SUBREAPER = 36
CLONE_NEWNS, MS_REC, MS_PRIVATE = 0x20000, 1 << 14, 1 << 18
TESTS = []


class Skip(Exception):
    pass


def test(what, alone=False):
    """Registers a test; `what` is the line that it prints."""
    def register(function):
        TESTS.append((what, function, alone))
        return function
    return register


class Case:
    def __init__(self, base):
        self.dir = pathlib.Path(tempfile.mkdtemp(dir=base))
        self.dir.chmod(0o755)
        self.ends = []

    def job(self, workload, *args, **kwargs):
        job = Job(self.dir, workload, *args, **kwargs)
        self.ends.append(job.stop)
        return job

    def training(self, *args, **kwargs):
        """A job that has made its first steps, and what must be left as it is."""
        job = self.job("mlp_train.py", *args, **kwargs).wait_steps(5)
        return job, Snapshot(job.pid)

    def tool(self, *args, **kwargs):
        tool = Tool(self.dir, *args, **kwargs)
        self.ends.append(tool.stop)
        return tool

    def finally_(self, function, *args):
        self.ends.append(lambda: function(*args))

    def close(self):
        for end in reversed(self.ends):
            try:
                end()
            except Exception:
                traceback.print_exc()
        shutil.rmtree(self.dir, ignore_errors=True)


def run_one(base, what, function):
    """Returns the line that says how it failed, or None."""
    case, start = Case(base), time.monotonic()
    try:
        function(case)
        status, why = "ok", ""
    except Skip as skip:
        status, why = "skipped", f": {skip}"
    except Exception as error:
        status, why = "FAIL", f": {error}"
        if not isinstance(error, AssertionError) or not str(error):
            traceback.print_exc()
    finally:
        case.close()
    line = f"{status:7} {what} ({time.monotonic() - start:.1f} s){why}"
    print(line, flush=True)
    return None if status != "FAIL" else line


def own_processes_and_mounts():
    """Whatever the tests start ends up as our child, and what they mount goes with us."""
    libc = ctypes.CDLL(None, use_errno=True)
    if (libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) or libc.unshare(CLONE_NEWNS) or
            libc.mount(None, b"/", None, MS_REC | MS_PRIVATE, None)):
        raise OSError(ctypes.get_errno(), "cannot set up the tests")


def kill_leftovers():
    """What tests left running in spite of their clean-up was reparented to us."""
    for pid in pathlib.Path(f"/proc/self/task/{os.getpid()}/children").read_text().split():
        try:
            os.kill(int(pid), signal.SIGKILL)
        except ProcessLookupError:
            pass


def main(argv):
    """run [-j JOBS] [WORD...]: the tests whose line has one of the words. Exit status 1 if one
    failed."""
    jobs = 2
    if argv[:1] == ["-j"]:
        jobs, argv = int(argv[1]), argv[2:]
    chosen = [t for t in TESTS if not argv or any(word in t[0] for word in argv)]
    own_processes_and_mounts()
    base = tempfile.mkdtemp(prefix="proftrace-test.")
    os.chmod(base, 0o755)

    def stopped(*_):
        kill_leftovers()
        os._exit(143)

    signal.signal(signal.SIGTERM, stopped)
    try:
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            together = [pool.submit(run_one, base, what, function)
                        for what, function, alone in chosen if not alone]
            results = [f.result() for f in together]
        results += [run_one(base, what, function) for what, function, alone in chosen if alone]
    finally:
        kill_leftovers()
        shutil.rmtree(base, ignore_errors=True)
    failed = list(filter(None, results))
    print(*failed, f"{len(results) - len(failed)} of {len(results)} passed", sep="\n")
    return 0 if chosen and not failed else 1
