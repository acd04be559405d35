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
from lib.growing import Count

ROOT = pathlib.Path(__file__).resolve().parents[3]
WORKLOADS = ROOT / "tests/workloads"
PYTHON = os.environ.get("PYTHON") or subprocess.run(
    [ROOT / "scripts/torch-python"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
# One thread per job, so that tests on few cores do not wait for each other's spinning threads.
ENV = dict(os.environ, OMP_NUM_THREADS="1", MKL_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1",
           PYTHONDONTWRITEBYTECODE="1")


def torch_lib():
    """Returns the library directory of the job's PyTorch."""
    spec = subprocess.run([PYTHON, "-c", "import importlib.util as u; print(u.find_spec('torch').origin)"],
                          text=True, capture_output=True, check=True)
    return pathlib.Path(spec.stdout.strip()).parent / "lib"


class Harmed(AssertionError):
    """The job did not survive its test. Such a test gets no second attempt."""


class Forked:
    """A job that a nursery forked, with the interface of subprocess.Popen. The test runner is a subreaper and so its
    parent."""

    def __init__(self, pid, args):
        self.pid, self.args, self.returncode = pid, args, None

    def poll(self):
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode

    def wait(self, timeout_s=60):
        process.wait_for(lambda: self.poll() is not None, timeout_s, f"the end of {self.pid}")
        return self.returncode

    def send_signal(self, sig):
        if self.poll() is None:
            os.kill(self.pid, sig)

    def kill(self):
        self.send_signal(signal.SIGKILL)


class Nursery:
    """Forks jobs from a process that has already imported their modules; see nursery.py."""

    # torch.optim imports the second in a job's first step.
    MODULES = ("torch", "torch._dynamo", "torch.utils.data", "paddle", "mxnet", "mindspore")

    def __init__(self, python):
        self.python, self.lock, self.popen = str(python), threading.Lock(), None

    def start(self):
        self.popen = subprocess.Popen(
            [self.python, str(pathlib.Path(__file__).with_name("nursery.py")), *self.MODULES], env=ENV,
            text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        atexit.register(self.popen.kill)
        if self.popen.stdout.readline() != "ready\n":
            raise RuntimeError(f"{self.python} forks no jobs")

    def spawn(self, argv, cwd, out, err, env):
        for path in out, err:  # a reader of these files need not wait for the job
            pathlib.Path(path).touch()
        request = {"argv": [str(word) for word in argv], "cwd": str(cwd), "out": str(out), "err": str(err), "env": env}
        with self.lock:
            if not self.popen:
                self.start()
            self.popen.stdin.write(json.dumps(request) + "\n")
            self.popen.stdin.flush()
            return Forked(int(self.popen.stdout.readline()), (self.python, *request["argv"]))


NURSERIES, NURSERIES_LOCK = {}, threading.Lock()


def nursery(python):
    with NURSERIES_LOCK:
        return NURSERIES.setdefault(str(python), Nursery(python))


class Job:
    """A running workload, forked from a process that had imported its framework (fresh=False) or started
    by a command of its own. It logs its steps to `log`, a line of `step NUMBER NS` each."""
    count = 0

    def __init__(self, directory, workload, *args, fresh=False, wrap=(), python=PYTHON, **settings):
        Job.count += 1
        base = pathlib.Path(directory) / f"job{Job.count}"
        self.out, self.err, self.log = (base.with_suffix(s) for s in (".out", ".err", ".log"))
        self.log.touch()
        self.made = Count(self.log, "step ")
        argv = [str(WORKLOADS / workload), "--log", str(self.log), *map(str, args)]
        env = dict(ENV, **settings)
        if fresh or wrap:
            with open(self.out, "w") as out, open(self.err, "w") as err:
                self.popen = subprocess.Popen([*wrap, python, *argv], stdin=subprocess.DEVNULL, stdout=out,
                                              stderr=err, env=env, cwd=directory, start_new_session=True)
        else:
            self.popen = nursery(python).spawn(argv, directory, self.out, self.err, env)
        self.pid = self.popen.pid

    def steps(self):
        """Durations in ns of the steps made so far."""
        return [int(words[2]) for words in self._step_lines()]

    def step_ends(self):
        """Returns when each step so far ended, on CLOCK_MONOTONIC in ns, if the job notes that."""
        return [int(words[3]) for words in self._step_lines() if len(words) == 4]

    def _step_lines(self):
        words = [line.split() for line in self.log.read_text().splitlines()]
        return [w for w in words if len(w) in (3, 4) and w[0] == "step"]

    def output(self):
        return self.out.read_text()

    def wait_steps(self, more=3, timeout_s=60):
        """Waits until it has made so many more steps."""
        want = self.made.look() + more
        process.wait_for(lambda: self.made.look() >= want or self.poll() is not None, timeout_s,
                         f"{more} more steps of {self.pid}")
        if self.poll() is not None:
            raise Harmed(f"the job ended with {self.poll()}: {self.err.read_text()}")
        return self

    def poll(self):
        """Returns None while it runs, then its exit status, or the negative signal that ended it."""
        return self.popen.poll()

    def wait(self, timeout_s=60):
        process.wait_for(lambda: self.poll() is not None, timeout_s, f"the end of {self.pid}")
        return self.poll()

    def signal(self, sig):
        self.popen.send_signal(sig)

    def stop(self):
        """Ends the job and its children, which share its session."""
        if self.poll() is None:
            try:
                os.killpg(self.pid, signal.SIGKILL)
            except ProcessLookupError:
                os.kill(self.pid, signal.SIGKILL)
            self.wait(10)


def fast_step_ns(job, cnt):
    """Returns the time of the fastest tenth of the next `cnt` steps. A busy machine delays the others."""
    first = len(job.steps())
    job.wait_steps(cnt)
    return sorted(job.steps()[first:first + cnt])[cnt // 10]
