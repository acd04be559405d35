# SPDX-License-Identifier: BSD-2-Clause
"""A hostile neighbour: an unprivileged user, and programs of his."""
import pathlib
import subprocess

from lib import process

HERE = pathlib.Path(__file__).resolve().parent
NOBODY = 65534
AS_NOBODY = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]


def compiled(case, name):
    program = case.dir / name
    subprocess.run(["cc", "-O1", "-o", program, HERE / f"{name}.c"], check=True)
    return program


def running(case, *command):
    """Starts a program and waits until it says that it is ready."""
    log = case.dir / "program.log"
    with open(log, "w") as out:
        popen = subprocess.Popen([*map(str, command)], stdout=out, stdin=subprocess.DEVNULL)
    case.finally_(popen.wait)
    case.finally_(popen.kill)
    process.wait_for(lambda: "ready" in log.read_text() or popen.poll() is not None, 30, "ready")
    assert popen.poll() is None, log.read_text()
    return popen


def sleeping(case):
    """A process to record, which does nothing."""
    popen = subprocess.Popen(["sleep", "100"])
    case.finally_(popen.wait)
    case.finally_(popen.kill)
    return popen


def their_directory(case):
    """A directory that the neighbour owns, with root working in it."""
    theirs = case.dir / "theirs"
    theirs.mkdir()
    subprocess.run(["chown", str(NOBODY), theirs], check=True)
    return theirs
