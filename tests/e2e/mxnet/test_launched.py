# SPDX-License-Identifier: BSD-2-Clause
"""A job of several processes, as MXNet's tracker launches them."""
import os
import signal
import subprocess

import jobs
from lib import process
from lib.job import ENV, PYTHON, WORKLOADS
from lib.runner import test
from lib.tool import row


@test("a launched job: two workers, a server and a scheduler")
def launched(case):
    log = case.dir / "log"
    with open(case.dir / "out", "w") as out:
        popen = subprocess.Popen([PYTHON, WORKLOADS / "mx_launched.py", "--log", log], env=ENV, stdout=out,
                                 stderr=out, stdin=subprocess.DEVNULL, start_new_session=True)
    case.finally_(lambda: (os.killpg(popen.pid, signal.SIGKILL), popen.wait()))
    logs = [log.with_name(f"log.{rank}") for rank in range(2)]

    def steps():
        return min(len(path.read_text().splitlines()) if path.exists() else 0 for path in logs)

    process.wait_for(lambda: steps() > 10 or popen.poll() is not None, 120, "steps of both workers")
    assert popen.poll() is None, (case.dir / "out").read_text()
    tool = case.tool("--job", popen.pid, "--record", f"2:{2 + jobs.STEPS}", "--no-trace").done()
    # Neither the server nor the scheduler, which have numbers of workers.
    assert len(tool.recordings()) == 2, tool.recordings()
    for index in range(2):
        tables = tool.report(index=index)
        assert row(tables, "summary")["steps"] == jobs.STEPS, tables["summary"]
        jobs.check_phases(tables, Forward=1, Backward=1)
    before = steps()
    process.wait_for(lambda: steps() > before + 3, 60, "the job to go on")
