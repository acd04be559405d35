# SPDX-License-Identifier: BSD-2-Clause
"""Training jobs of the tests (tests/workloads/): started, waited for, ended."""
import atexit
import json
import os
import pathlib
import signal
import subprocess
import threading
import time

from lib import process

ROOT = pathlib.Path(__file__).resolve().parents[3]
WORKLOADS = ROOT / "tests/workloads"
PYTHON = os.environ.get("PYTHON") or subprocess.run(
    [ROOT / "scripts/torch-python"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
# One thread each, so that tests on few cores do not wait for each other's spinning threads.
ENV = dict(os.environ, OMP_NUM_THREADS="1", MKL_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1",
           PYTHONDONTWRITEBYTECODE="1")


def torch_lib():
    """The directory of the job's PyTorch that has its libraries."""
    spec = subprocess.run([PYTHON, "-c", "import importlib.util as u; print(u.find_spec('torch').origin)"],
                          text=True, capture_output=True, check=True)
    return pathlib.Path(spec.stdout.strip()).parent / "lib"


class Harmed(AssertionError):
    """A job did not live through its test: no second attempt makes that good."""


class Nursery:
    """Forks jobs that have torch already; see nursery.py."""

    def __init__(self):
        self.lock = threading.Lock()
        self.popen = None

    def start(self):
        self.popen = subprocess.Popen(
            [PYTHON, str(pathlib.Path(__file__).with_name("nursery.py"))], env=ENV, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        atexit.register(self.popen.kill)
        if self.popen.stdout.readline() != "ready\n":
            raise RuntimeError(f"{PYTHON} cannot import torch")

    def spawn(self, argv, cwd, out, err):
        request = {"argv": argv, "cwd": str(cwd), "out": str(out), "err": str(err)}
        with self.lock:
            if not self.popen:
                self.start()
            self.popen.stdin.write(json.dumps(request) + "\n")
            self.popen.stdin.flush()
            return int(self.popen.stdout.readline())


NURSERY = Nursery()


class Job:
    """A running workload, forked from a process that had imported torch (fresh=False) or started
    by a command of its own, as with another Python. It logs its steps to `log`, a line of
    `step NUMBER NS` each."""
    count = 0

    def __init__(self, directory, workload, *args, fresh=False, wrap=(), python=None):
        Job.count += 1
        base = pathlib.Path(directory) / f"job{Job.count}"
        self.out, self.err, self.log = (base.with_suffix(s) for s in (".out", ".err", ".log"))
        self.log.touch()
        argv = [str(WORKLOADS / workload), "--log", str(self.log), *map(str, args)]
        self.status = None
        self.popen = None
        if fresh or wrap or python:
            with open(self.out, "w") as out, open(self.err, "w") as err:
                self.popen = subprocess.Popen([*wrap, python or PYTHON, *argv], stdin=subprocess.DEVNULL,
                                              stdout=out, stderr=err, env=ENV, cwd=directory,
                                              start_new_session=True)
            self.pid = self.popen.pid
        else:
            self.pid = NURSERY.spawn(argv, directory, self.out, self.err)

    def steps(self):
        """Durations in ns of the steps made so far."""
        return [int(words[2]) for words in self._step_lines()]

    def step_ends(self):
        """On CLOCK_MONOTONIC, in ns, of the steps made so far, where the job notes them."""
        return [int(words[3]) for words in self._step_lines() if len(words) == 4]

    def _step_lines(self):
        words = [line.split() for line in self.log.read_text().splitlines()]
        return [w for w in words if len(w) in (3, 4) and w[0] == "step"]

    def output(self):
        return self.out.read_text()

    def wait_steps(self, more=3, timeout_s=60):
        """Waits until it has made so many more steps."""
        want = len(self.steps()) + more
        process.wait_for(lambda: len(self.steps()) >= want or self.poll() is not None, timeout_s,
                         f"{more} more steps of {self.pid}")
        if self.poll() is not None:
            raise Harmed(f"the job ended with {self.poll()}: {self.err.read_text()}")
        return self

    def poll(self):
        """None while it runs, then its exit status, negative the signal that ended it."""
        if self.status is None and self.popen:
            self.status = self.popen.poll()
        elif self.status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = os.waitstatus_to_exitcode(status)
        return self.status

    def wait(self, timeout_s=60):
        process.wait_for(lambda: self.poll() is not None, timeout_s, f"the end of {self.pid}")
        return self.status

    def signal(self, sig):
        if self.poll() is None:
            os.kill(self.pid, sig)

    def stop(self):
        """Ends it and what it has started: its session is its own."""
        if self.poll() is None:
            try:
                os.killpg(self.pid, signal.SIGKILL)
            except ProcessLookupError:
                os.kill(self.pid, signal.SIGKILL)
            self.wait(10)


def fast_step_ns(job, cnt):
    """The time that the fastest tenth of the next `cnt` steps take: a busy machine delays the
    others."""
    first = len(job.steps())
    job.wait_steps(cnt)
    return sorted(job.steps()[first:first + cnt])[cnt // 10]
