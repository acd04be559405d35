# SPDX-License-Identifier: BSD-2-Clause
"""A program of Python that loads no framework."""
import subprocess
import sys
import time

from lib.runner import test

ASKS = "import os, time\nwhile True:\n    os.getppid()\n    time.sleep(0.01)"


@test("Python without a framework: where a step's function is named it is waited for while the program is young")
def without_framework(case):
    job = subprocess.Popen([sys.executable, "-c", ASKS])
    case.finally_(job.wait)
    case.finally_(job.kill)
    time.sleep(1)
    options = "-p", job.pid, "--step-probe", "libc.so*:getppid", "--record", "2:10", "--no-trace"
    tool = case.tool(*options).done()
    assert tool.said("capture.framework-of-new-process-awaited", job.pid, "20 s"), tool.err
    assert tool.report()["summary"]["rows"][0]["steps"] == 8, tool.out
    tool = case.tool(*options).done()
    assert not tool.said("capture.framework-of-new-process-awaited"), tool.err
