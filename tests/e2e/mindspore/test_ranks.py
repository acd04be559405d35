# SPDX-License-Identifier: BSD-2-Clause
"""Ranks of a job that msrun, or the like, has started."""
import jobs
from lib.launched import Launched, straggler
from lib.runner import test

STEPS = 8


@test("two ranks: collectives, communication, and which rank the other waits for")
def ranks(case):
    job = Launched(case, "ms_ranks.py", 2)
    for options in (), ("--inject", "--max-overhead", "0.01%"):
        tool = case.tool("--job", job.pid, "--record", f"2:{2 + STEPS}", "--no-trace", *options).done(100)
        assert len(tool.recordings()) == 2, tool.recordings()
        for index in range(2):
            tables = tool.report(index=index)
            calls = {name: row["calls"] for name, row in jobs.names(tables, "collectives").items()}
            assert calls == {"AllReduce": STEPS, "AllGather": STEPS}, calls
            overview = jobs.names(tables, "overview", "event_type")
            assert overview["Communication"]["calls"] == 2 * STEPS, overview
            assert jobs.names(tables, "operator").keys() >= {"MatMul", "ReduceSum"}, tables["operator"]
        assert straggler(tool) == 1
    job.wait_steps(3)
