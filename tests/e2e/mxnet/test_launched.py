# SPDX-License-Identifier: BSD-2-Clause
"""A job of several processes, launched by MXNet's tracker or by a user's own script."""
import jobs
from lib.launched import Launched
from lib.runner import test
from lib.tool import row


def check(case, *options):
    job = Launched(case, "mx_launched.py", 2, *options)
    tool = case.tool("--job", job.pid, "--record", f"2:{2 + jobs.STEPS}", "--no-trace").done()
    # Neither the server nor the scheduler, which have numbers of workers.
    assert len(tool.recordings()) == 2, tool.recordings()
    assert tool.said("cli.job-server-left-out"), tool.err
    for index in range(2):
        tables = tool.report(index=index)
        assert row(tables, "summary")["steps"] == jobs.STEPS, tables["summary"]
        jobs.check_phases(tables, Forward=1, Backward=1, Optimization=1)
    job.wait_steps(3)
    return tool


@test("a launched job: two workers, a server and a scheduler")
def launched(case):
    check(case)


@test("workers that nobody has numbered are ranks without numbers")
def unnumbered(case):
    tool = check(case, "--without", "DMLC_TASK_ID")
    assert not tool.said("cli.job-process-left-out"), tool.err
