# SPDX-License-Identifier: BSD-2-Clause
"""Jobs on the simulated GPU, their truth logs, and proftrace beside them."""
import collections
import os
import pathlib
import re
import signal
import subprocess
import sys

from lib import process
from lib.growing import Count, Growing
from lib.job import nursery
from lib.tool import PROFTRACE

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = pathlib.Path(os.environ["BUILD"])
SIM = BUILD / "simgpu/13"
PYTHON = SIM / "venv/bin/python"
TRAIN = SIM / "client/train"
COMPARE = ROOT / "tests/e2e/shim/compare.py"
DEVICE = ("kernel", "memcpy", "memset")
LONG_S = 120  # for actions that take a second on a free machine


class GpuJob:
    """`train` of tests/simgpu/client, without graphs, or another command, or with `python` a program that it is
    to run, until it is told to end."""
    count = 0

    def __init__(self, case, *command, wrap=(), python=None, **settings):
        GpuJob.count += 1
        self.dir = case.dir / f"gpu{GpuJob.count}"
        self.dir.mkdir()
        self.dir.chmod(0o777)
        self.logs = {}
        self.made = Count(self.dir / "out", "step ")
        command = command or (TRAIN, 0, 3000, 1, 2, 0)
        env = dict(os.environ, SIMGPU_TRUTH=str(self.dir / "truth"), SIMGPU_COPY_MAX_MB="1",
                   **{"SIMGPU_TRUTH_API": "1", **settings})
        if python:
            self.popen = nursery(python).spawn(command, self.dir, self.dir / "out", self.dir / "err", env)
        else:
            with open(self.dir / "out", "w") as out, open(self.dir / "err", "w") as err:
                self.popen = subprocess.Popen([*wrap, *map(str, command)], env=env, stdout=out,
                                              stdin=subprocess.DEVNULL, stderr=err, cwd=self.dir)
        case.finally_(self.kill)
        # Whole: an unbuffered print() writes word by word.
        process.wait_for(lambda: re.search(r"ready \d+\s", self.out()) or self.popen.poll() is not None,
                         LONG_S, "the job to be ready")
        assert self.popen.poll() is None, f"the job ended with {self.popen.poll()}: {self.err()}"
        self.pid = int(self.out().split("ready")[1].split()[0])
        if self.pid == 1:  # runs in its own pid namespace
            self.pid, = process.children(self.popen.pid)

    def out(self):
        return (self.dir / "out").read_text()

    def err(self):
        return (self.dir / "err").read_text()

    def kill(self):
        if self.popen.poll() is None:
            self.popen.kill()
        self.popen.wait()

    def truth(self):
        """Returns the rows of its log, without the column names."""
        for path in self.dir.glob("truth.*"):
            log, rows = self.logs.setdefault(path, (Growing(path), []))
            rows += [line.split("\t") for line in log.more()]
        return [row for _, rows in self.logs.values() for row in rows[1:]]

    def calls(self, name):
        """How often CUPTI's interface was called so."""
        return sum(r[0] == "cupti" and name in r[-1] for r in self.truth())

    def cupti_calls(self):
        return sum(r[0] == "cupti" for r in self.truth())

    def holds_cupti(self):
        tool = [r[-1] for r in self.truth() if r[0] == "tool"]
        return bool(tool) and tool[-1] == "attached"

    def has_library(self):
        return any("libproftrace_cupti" in m[4] for m in process.mappings(self.pid))

    def is_served(self):
        return process.is_served(self.pid)

    def wait_parked(self):
        """Waits until only the library's text is left in the process."""
        process.wait_for(lambda: not self.is_served() and not self.holds_cupti(), LONG_S,
                         "the library to leave")

    def wait_progress(self):
        """Waits until the job makes progress."""
        before = len(self.truth())
        process.wait_for(lambda: len(self.truth()) > before, LONG_S, "the job to go on")

    def end(self):
        """The job must have done all its work, and used CUPTI according to its documentation."""
        self.popen.send_signal(signal.SIGTERM)
        status = self.popen.wait(LONG_S)
        assert status == 0, f"the job ended with {status}: {self.err()}"
        cnt = collections.Counter(r[0] for r in self.truth())
        said = "kernels {kernel} copies {memcpy} sets {memset}".format_map(cnt)
        assert said in self.out(), f"the device did {said}, the job says: {self.out()}"
        assert not cnt["misuse"], [r for r in self.truth() if r[0] == "misuse"]


def end(job):
    """Checks the order, and that CUPTI was used according to its documentation."""
    job.popen.send_signal(signal.SIGTERM)
    assert job.popen.wait(LONG_S) == 0, job.err()
    assert not [r for r in job.truth() if r[0] == "misuse"]


def record(case, job, *options, **kwargs):
    """proftrace on the job, by time: it has no framework, so no steps."""
    return case.tool("-p", job.pid, "--step-timeout", "200ms", "--no-trace", "--no-progress",
                     *(options or ("--duration", "300ms")), **kwargs)


def dumped(job, recording):
    """Returns the recording's windows, calls and activities as a text file."""
    dump = job.dir / "dump"
    with open(dump, "w") as out:
        subprocess.run([BUILD / "shim-dump", recording], stdout=out, check=True)
    return dump


def compare(job, recording, tolerance_ns=0, may_miss=0, pid="*"):
    """Activities and their calls must be those of the truth. Returns the number of each kind."""
    dump = dumped(job, recording)
    done = subprocess.run([sys.executable, COMPARE, dump, *job.dir.glob(f"truth.{pid}"),
                           str(tolerance_ns), str(may_miss)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    counts = {kind: int(cnt) for kind, cnt in re.findall(r"'(\w+)': (\d+)", done.stdout)}
    return [counts.get(kind, 0) for kind in DEVICE]


def check_recorded(case, job, *options):
    """A recording with everything that the device did in it."""
    tool = record(case, job, *options).done(LONG_S)
    assert all(compare(job, tool.recordings()[0])), "a window without kernels, copies or sets"
    job.wait_parked()
    return tool


def notes(tool):
    """Returns the report's notes about missing data, without the notes about the cost of probes."""
    of_cost = ("Not in the estimate: what CUPTI itself takes of ", "The share is of the time that ",
               "The estimate may be low: ", "The estimate is more than --max-overhead ", "Measured: ")
    return " ".join(note for note in tool.report()["cost"]["notes"] if not note.startswith(of_cost))


def doctor(pid, *options):
    return subprocess.run([PROFTRACE, "doctor", "-p", str(pid), *options], capture_output=True,
                          text=True, check=True).stdout
