# SPDX-License-Identifier: BSD-2-Clause
"""Checks the kernel's messages during the tests, and proftrace's message on a kernel that is too old."""
import os
import re
import subprocess

from lib.runner import Skip, test

VERSION = tuple(map(int, re.match(r"(\d+)\.(\d+)", os.uname().release).groups()))


def warnings():
    log = subprocess.run(["dmesg"], capture_output=True, text=True, check=True).stdout
    return [line for line in log.splitlines() if re.search(r"WARNING:|BUG:|Oops|run-time alloc", line)]


@test("the kernel logged no warning", alone=True)
def log(_):
    if os.environ.get("COUNTS_WRITE"):
        raise Skip("this machine's log has other things in it")
    assert not warnings(), "\n".join(warnings())


@test("a kernel that is too old is named, and left in peace")
def too_old(case):
    if VERSION >= (5, 15):
        raise Skip("this one is not")
    sleeper = subprocess.Popen(["sleep", "1000"])
    case.finally_(sleeper.kill)
    case.tool("-p", sleeper.pid, "--duration", "1s").fails("older than Linux 5.15")
    case.tool("cpu", "--duration", "1s").fails("older than Linux 5.15")
    doctor = case.tool("doctor")
    doctor.wait()
    assert "Not ready" in doctor.out and "Linux 5.15" in doctor.out, doctor.out
    assert not warnings(), "\n".join(warnings())
