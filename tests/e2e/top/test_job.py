# SPDX-License-Identifier: BSD-2-Clause
"""proftrace top --job: the ranks below a launcher."""
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "monitor"))

from lib import process  # noqa: E402
from lib.job import ENV, PYTHON, WORKLOADS  # noqa: E402
from lib.runner import Skip, test  # noqa: E402
from lib.tool import PROFTRACE  # noqa: E402
from monitored import command, is_there  # noqa: E402
from terminal import Terminal  # noqa: E402


class Shell:
    """A shell that runs torchrun with two ranks of ddp.py, after the file `go` has come."""

    def __init__(self, case):
        self.go, self.log = case.dir / "go", case.dir / "ddp.log"
        line = (f"until [ -e {self.go} ]; do sleep 0.2; done; {PYTHON} -m torch.distributed.run --nproc-per-node 2 "
                f"--max-restarts 30 --rdzv-id below --rdzv-backend c10d --rdzv-endpoint 127.0.0.1:0 "
                f"{WORKLOADS / 'ddp.py'} --steps-to {self.log}; true")
        with open(case.dir / "ddp.out", "w") as out:
            self.popen = subprocess.Popen(["sh", "-c", line], stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                          env=ENV, start_new_session=True)
        self.pid = self.popen.pid
        self.torchrun = None
        case.finally_(self.stop)

    def ranks(self):
        """Returns the process ids of the ranks that are there."""
        below = process.descendants(self.torchrun or self.pid)
        return [pid for pid in below if is_there(pid) and command(pid)[-3:-1] == ["--steps-to", str(self.log)]
                and "torch.distributed.run" not in command(pid)]

    def wait_ranks(self, but=()):
        process.wait_for(lambda: len(self.ranks()) == 2 and not set(self.ranks()) & set(but), 90, "two ranks")
        self.torchrun = self.torchrun or next(pid for pid in process.descendants(self.pid)
                                              if "torch.distributed.run" in command(pid))
        return self.ranks()

    def stop(self):
        for pid in [*process.descendants(self.torchrun or self.pid), self.torchrun, self.pid]:
            if pid and is_there(pid):
                os.kill(pid, signal.SIGKILL)
        self.popen.wait()


def states(top):
    """Returns process id -> state, from a job's page."""
    found = [re.match(r" +\d+ +(\d+) ([a-z]+) +\d+ ", line) for line in top.lines()]
    return {int(m.group(1)): m.group(2) for m in found if m}


def wait_watched(top, shell, timeout_s=90):
    """Waits until the page has the ranks of now, after restarts too, and their steps are counted."""
    def are_watched():
        shown = states(top)
        return len(shown) == 2 and set(shown) == set(shell.ranks()) and \
            all(state not in ("attaching", "ended") for state in shown.values())

    process.wait_for(are_watched, timeout_s, f"the ranks {shell.ranks()} on the page: {top.lines()}")


@test("--job: ranks that a shell's torchrun starts later, and after a restart, and when the shell is gone; no other job",
      alone=True)
def ranks_below_a_shell(case):
    if os.getuid() != 0:
        raise Skip("needs root")
    other = case.job("mlp_train.py", fresh=True).wait_steps(5)
    shell = Shell(case)
    top = Terminal(case, "--job", shell.pid, "-i", "500ms", rows=60)
    top.wait("0 jobs, 0 ranks", "Looking for ranks of this launcher.", without=("--young",))
    shell.go.touch()
    top.wait("torchelastic-~", "Attaching: the first window takes some seconds.", timeout_s=90)
    top.wait("1 job, 2 ranks", " ms ", timeout_s=90)
    top.keys("Enter")
    wait_watched(top, shell)
    first = shell.wait_ranks()
    lines, _ = top.wait("RUNS WAITS FOR A PROCESSOR", *(f"python ({pid})" for pid in first), timeout_s=60)
    os.kill(first[1], signal.SIGKILL)
    second = shell.wait_ranks(but=first)
    wait_watched(top, shell)
    assert not set(second) & set(first), (first, second)
    top.keys("Escape")
    lines, _ = top.wait("> torchelastic-~")
    assert "1 job, 2 ranks" in lines[0], lines
    top.keys("Enter")
    wait_watched(top, shell)
    # The ranks get another parent. They stay those that this shell started.
    shell.popen.kill()
    shell.popen.wait()
    time.sleep(4)  # four scans
    wait_watched(top, shell, timeout_s=1)
    sessions = [command(pid) for pid in process.descendants(top.pane()) if command(pid)[:2] == [PROFTRACE, "record"]]
    assert not any(str(pid) in words for words in sessions for pid in (other.pid, shell.torchrun)), sessions
    top.keys("q", "q")
    assert top.wait_end(40) == 0
    other.wait_steps(5)


@test("--job of what cannot be: errors; a single process is no rank, and top says what to do")
def job_errors(case):
    case.tool("top", "--job", 2 ** 22 + 1).fails("cli.top-process-missing", 2 ** 22 + 1)
    case.tool("top", "--job", "x").fails("cli.*", "x")
    case.tool("top", "-p", "1", "--job", "1").fails("cli.pid-excludes-job")
    case.tool("top", "--job", "1", "--once").fails("cli.top-pid-excludes")
    if os.getuid() != 0:
        raise Skip("needs root")
    job = case.job("mlp_train.py", fresh=True).wait_steps(5)
    top = Terminal(case, "--job", job.pid, "-i", "500ms")
    top.wait("0 jobs, 0 ranks", "Looking for ranks of this launcher.", "-p PID")
    top.keys("q")
    assert top.wait_end(40) == 0
