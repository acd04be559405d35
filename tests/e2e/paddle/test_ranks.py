# SPDX-License-Identifier: BSD-2-Clause
"""Tests collectives over gloo, and the rank that the others wait for."""
import json

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
        # DataParallel's bucket and the job's own collective. At the window's edges there may be one more or less.
        assert abs(calls["ProcessGroupGloo::AllReduce"] - 2 * STEPS) <= 1, calls
        assert abs(calls["ProcessGroupGloo::Broadcast"] - STEPS) <= 1, calls
    assert straggler(tool) == 1
    job.wait_steps(3)


@test("ranks of paddle.distributed.spawn set their own environment: --job finds them, with their numbers")
def spawned(case):
    job = Launched(case, "paddle_spawned.py", 2, python=paddle.PYTHON)
    tool = case.tool("--job", job.pid, "--record", "2:6", "--no-trace", "--format", "json").done()
    rows = json.loads(tool.out)["ranks"]["rows"]
    assert [(r["rank"], r["steps"]) for r in rows] == [(0, 4), (1, 4)], rows
    assert f"rank 1 ({rows[1]['pid']}): " in tool.err, tool.err
    job.wait_steps(3)
