# SPDX-License-Identifier: BSD-2-Clause
"""proftrace attaches while the job is still importing. Calls during the import must not count as steps."""
from lib import process
from lib.runner import test
from lib.tool import row


@test("attached while the job still imports")
def importing(case):
    job = case.job("slow_start.py", fresh=True)
    process.wait_for(lambda: job.log.read_text(), 60, "the import")
    tool = case.tool("-p", job.pid, "--record", "0:2", "--no-trace", "--detail", "inner").done()
    summary = row(tool.report(), "summary")
    assert summary["steps"] == 2, tool.out
    assert "optimizer" in summary["step_rule"].lower(), summary["step_rule"]
    job.wait_steps(3)
    assert not process.changed_text(job.pid)
