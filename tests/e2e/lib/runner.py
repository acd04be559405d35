# SPDX-License-Identifier: BSD-2-Clause
"""Runs test functions, a few side by side, and prints a line for each. A test gets a Case: a
directory, jobs and tools that are ended with it whatever happens. Tests that measure time are
marked `alone` and run one by one after the others. A test that fails gets a second attempt, alone,
since machines are shared; unless it harmed its job. Those that needed it are named at the end."""
import concurrent.futures
import ctypes
import errno
import os
import pathlib
import shutil
import signal
import tempfile
import time
import traceback

from lib.job import Harmed, Job
from lib.process import Snapshot
from lib.tool import Tool

PR_SET_CHILD_SUBREAPER = 36
CLONE_NEWNS, MS_REC, MS_PRIVATE = 0x20000, 1 << 14, 1 << 18
TESTS = []
HARMED = 3  # exit status
MAX_UNSTABLE = 3  # tests that pass at the second attempt only; more are no chance


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
        """A job that has made its first steps, and its state, which must not change."""
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


class Failure:
    """How a test failed."""

    def __init__(self, test, line, harmed):
        self.test, self.line, self.harmed = test, line, harmed


def run_one(base, chosen):
    """Returns its Failure, or None."""
    what, function, _ = chosen
    case, start, harmed = Case(base), time.monotonic(), False
    try:
        function(case)
        status, why = "ok", ""
    except Skip as skip:
        status, why = "skipped", f": {skip}"
    except Exception as error:
        status, why, harmed = "FAIL", f": {error}", isinstance(error, Harmed)
        if not isinstance(error, AssertionError) or not str(error):
            traceback.print_exc()
            at = traceback.extract_tb(error.__traceback__)[-1]
            why = f": {type(error).__name__}: {error} ({pathlib.Path(at.filename).name}:{at.lineno})"
    finally:
        case.close()
    line = f"{status:7} {what} ({time.monotonic() - start:.1f} s){why}"
    print(line, flush=True)
    return Failure(chosen, line, harmed) if status == "FAIL" else None


def run_again(base, failures):
    """Splits the failures into those that happen again and those that a second attempt does not show."""
    lasting, unstable = [], []
    for failure in failures:
        if failure.harmed or len(unstable) == MAX_UNSTABLE:
            lasting.append(failure)
            continue
        print("second attempt, alone:", flush=True)
        again = run_one(base, failure.test)
        if again:
            lasting.append(again)
        else:
            unstable.append(failure)
    return lasting, unstable


def checked(what, failed):
    if failed:
        number = ctypes.get_errno()
        raise OSError(number, f"cannot set up the tests: {what}: {os.strerror(number)}")


def mounts_spread():
    """Says whether mounts in our own namespace would be seen outside. They are not if nothing is shared."""
    return " shared:" in pathlib.Path("/proc/1/mountinfo").read_text()


def own_processes_and_mounts():
    """All processes that the tests start become our children in the end, and mounts end with us."""
    libc = ctypes.CDLL(None, use_errno=True)
    checked("PR_SET_CHILD_SUBREAPER", libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))
    checked("unshare mounts", libc.unshare(CLONE_NEWNS))
    if libc.mount(None, b"/", None, MS_REC | MS_PRIVATE, None) == 0:
        return
    if ctypes.get_errno() == errno.EINVAL and not mounts_spread():
        return  # a chroot, whose root is no mount
    checked("private mounts (in a chroot: make its root a mount, `mount --bind DIR DIR`)", True)


def kill_leftovers():
    """Kills processes that tests left running. They are our children now."""
    for pid in pathlib.Path(f"/proc/self/task/{os.getpid()}/children").read_text().split():
        try:
            os.kill(int(pid), signal.SIGKILL)
        except ProcessLookupError:
            pass


def main(argv):
    """run [-j JOBS] [WORD...]: the tests whose line has one of the words. Exit status 1 if one
    failed, HARMED if one killed its job. Lines of those go to the file `failed`."""
    jobs = 2
    if argv[:1] == ["-j"]:
        jobs, argv = int(argv[1]), argv[2:]
    chosen = [t for t in TESTS if not argv or any(word in t[0] for word in argv)]
    failed = pathlib.Path("failed").absolute()
    own_processes_and_mounts()
    base = tempfile.mkdtemp(prefix="proftrace-test.")
    os.chmod(base, 0o755)

    def stopped(*_):
        kill_leftovers()
        os._exit(143)

    signal.signal(signal.SIGTERM, stopped)
    try:
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            together = [pool.submit(run_one, base, t) for t in chosen if not t[2]]
            results = [f.result() for f in together]
        results += [run_one(base, t) for t in chosen if t[2]]
        lasting, unstable = run_again(base, list(filter(None, results)))
    finally:
        kill_leftovers()
        shutil.rmtree(base, ignore_errors=True)
    if lasting:
        failed.write_text("".join(f"{failure.test[0]}\n" for failure in lasting))
    for failure in unstable:
        print("unstable, passed at the second attempt:", failure.line)
    print(*(f.line for f in lasting), f"{len(results) - len(lasting)} of {len(results)} passed",
          sep="\n")
    if any(f.harmed for f in lasting):
        return HARMED
    return 0 if chosen and not lasting else 1
