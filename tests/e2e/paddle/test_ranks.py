# SPDX-License-Identifier: BSD-2-Clause
"""Collectives over gloo, and the rank that the others wait for."""
import job as paddle
from lib.launched import Launched, straggler
from lib.runner import test
from lib.tool import row

STEPS = 8


@test("two ranks over gloo: their collectives, and who is slow")
def ranks(case):
    job = Launched(case, "paddle_ranks.py", 2, python=paddle.PYTHON)
    tool = case.tool("--job", job.pid, "--record", f"2:{2 + STEPS}", "--no-trace").done()
    assert len(tool.recordings()) == 2, tool.recordings()
    for index in range(2):
        tables = tool.report(index=index)
        assert row(tables, "summary")["steps"] == STEPS, tables["summary"]
        calls = {r["name"]: r["calls"] for r in tables["collectives"]["rows"]}
        # DataParallel's bucket and the job's own; those of the window's edges may be one more or less.
        assert abs(calls["ProcessGroupGloo::AllReduce"] - 2 * STEPS) <= 1, calls
        assert abs(calls["ProcessGroupGloo::Broadcast"] - STEPS) <= 1, calls
    assert straggler(tool) == 1
    job.wait_steps(3)
