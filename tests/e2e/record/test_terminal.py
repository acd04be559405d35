# SPDX-License-Identifier: BSD-2-Clause
"""Tests `run` from a shell on a terminal: which process reads the terminal, and what Ctrl-C and Ctrl-Z do."""
import fcntl
import os
import pathlib
import pty
import re
import signal
import subprocess
import sys
import termios
import threading
import time

from lib import process
from lib.job import ENV, PYTHON, WORKLOADS
from lib.runner import test
from lib.tool import PROFTRACE, report

PROMPT = "shell> "
CTRL_C, CTRL_Z = "\x03", "\x1a"
ASKS = f"""
import runpy, sys
print('hello', input('who? '), flush=True)
sys.argv = ['mlp_train.py', '--steps', '100000']
try:
    runpy.run_path({str(WORKLOADS / "mlp_train.py")!r}, run_name='__main__')
except KeyboardInterrupt:
    print('interrupted', flush=True)
    sys.exit(5)
"""
ECHOES = """
import os, sys
print('echo', os.getpid(), flush=True)
for line in sys.stdin:
    print('got', line.strip(), flush=True)
"""
COUNTS = """
import os, time
print('count', os.getpid(), flush=True)
for n in range(1000):
    time.sleep(0.05)
"""


class Shell:
    """An interactive shell, whose terminal is ours to type at."""

    def __init__(self, case):
        self.dir = pathlib.Path(case.dir)
        self.ours, theirs = pty.openpty()
        self.shown = ""
        self.popen = subprocess.Popen(
            ["bash", "--norc", "--noprofile", "-i"], stdin=theirs, stdout=theirs, stderr=theirs,
            cwd=self.dir, env=dict(ENV, PS1=PROMPT, TERM="dumb"), start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(theirs)
        case.finally_(self.stop)
        threading.Thread(target=self.read, daemon=True).start()
        self.wait(PROMPT)

    def read(self):
        try:
            while data := os.read(self.ours, 65536):
                self.shown += data.decode(errors="replace")
        except OSError:  # nobody has the terminal any more
            pass

    def type(self, text):
        """The next wait looks only at text that is shown after this."""
        self.shown = ""
        os.write(self.ours, text.encode())

    def wait(self, pattern, timeout_s=90):
        try:
            process.wait_for(lambda: re.search(pattern, self.shown), timeout_s, pattern)
        except AssertionError as error:
            raise AssertionError(f"{error} in: {self.shown}") from None
        return re.search(pattern, self.shown)

    def run(self, *options, program, python=PYTHON):
        """Runs a Python program with proftrace run. The terminal shows the command too, so patterns must not be part of
        it."""
        path = self.dir / "program.py"
        path.write_text(program)
        self.type(" ".join([PROFTRACE, "run", "--no-trace", *map(str, options), "--", str(python),
                            str(path)]) + "\n")

    def recordings(self):
        return sorted(self.dir.glob("*.ptrec"))

    def wait_window(self):
        process.wait_for(self.recordings, 60, "a window")
        time.sleep(1)  # for steps, if there are any

    def stop(self):
        for pid in [*process.descendants(self.popen.pid), self.popen.pid]:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.popen.wait()
        os.close(self.ours)


@test("run on a terminal: a program that asks there gets the answer, and Ctrl-C; its window is kept")
def asks(case):
    shell = Shell(case)
    shell.run("--record", "2:100000", program=ASKS)
    shell.wait(r"who\? ")
    shell.type("Ada\n")
    shell.wait("hello Ada")
    shell.wait_window()
    shell.type(CTRL_C)
    shell.wait("interrupted")
    shell.wait(r"recording: .*\.ptrec[^$]*" + PROMPT)
    assert "what was seen is kept" in shell.shown and "status 5" in shell.shown, shell.shown
    assert "Model Summary" in shell.shown, shell.shown  # the terminal is standard error, too
    assert report(shell.recordings()[0])["summary"]["rows"][0]["steps"] > 0
    shell.type("echo status $?\n")  # the shell has its terminal again
    shell.wait("status 5")


@test("run on a terminal: Ctrl-C ends the window of a program that does not read, the next one the program")
def leaves_alone(case):
    shell = Shell(case)
    shell.run("--record", "2:100000", "--no-report", program=ASKS.replace("input('who? ')", "'you'"))
    shell.wait("hello you")
    shell.wait_window()
    shell.type(CTRL_C)
    shell.wait(r"recording: .*\.ptrec")
    assert "interrupted" not in shell.shown and PROMPT not in shell.shown, shell.shown
    shell.type(CTRL_C)
    shell.wait("interrupted[^$]*" + PROMPT)


def states(shell, pid):
    """Returns the states of proftrace and of its program."""
    tool, = (p for p in process.children(shell.popen.pid))
    return process.state(tool) + process.state(pid)


def stops(case, program, word, *keys):
    """Ctrl-Z must stop both, and fg must continue both. Then typed text gets its answer."""
    shell = Shell(case)
    shell.run("--no-report", "--duration", "100s", "--step-timeout", "1s", program=program,
              python=sys.executable)
    pid = int(shell.wait(word + r" (\d+)").group(1))
    shell.wait_window()
    for _ in range(2):
        process.wait_for(lambda: states(shell, pid) == "SS", 60, "both to run")
        shell.type(CTRL_Z)
        shell.wait(r"Stopped")
        shell.wait(PROMPT)
        process.wait_for(lambda: states(shell, pid) == "TT", 30, "both to stop")
        shell.type("fg\n")
        shell.wait("proftrace run")
        process.wait_for(lambda: states(shell, pid) == "SS", 30, "both to run")
        for typed, answer in keys:
            shell.type(typed)
            shell.wait(answer)
    return shell, pid


@test("run on a terminal: Ctrl-Z stops proftrace and its program, fg continues both")
def stopped(case):
    stops(case, COUNTS, "count")


@test("run on a terminal: the same of a program that reads it, and it still reads after")
def stopped_reader(case):
    shell, pid = stops(case, ECHOES, "echo", ("one\n", "got one"))
    shell.type(CTRL_Z)
    shell.wait("Stopped")
    shell.type("bg\n")  # a background process that reads the terminal is stopped
    process.wait_for(lambda: states(shell, pid) == "TT", 30, "both to stop")
    shell.type("fg\n")
    process.wait_for(lambda: states(shell, pid) == "SS", 30, "both to run")
    shell.type("two\n")
    shell.wait("got two")
    shell.type("\x04")
    shell.wait(PROMPT)
