# SPDX-License-Identifier: BSD-2-Clause
"""Each illness is found by its rule, with evidence that fits, and before all others."""
from lib.runner import test

# What the machine, not the job, may suffer from.
OF_THE_MACHINE = {"cpu_wait", "slow_steps"}


def findings(case, illness):
    job = case.job("ill.py", "--illness", illness).wait_steps(5)
    tool = case.tool("-p", job.pid, "--record", "2:22", "--no-trace").done()
    rows = tool.report("--table", "findings")["findings"]["rows"]
    job.wait_steps(3)
    return {row["rule"]: row for row in rows}, tool


@test("a healthy job: nothing")
def healthy(case):
    rows, _ = findings(case, "none")
    # A thread that gets no processor does so in each phase: smaller findings follow from that.
    waiting = rows.get("cpu_wait", {"share_percent": 0})["share_percent"]
    assert not {rule for rule, row in rows.items()
                if rule not in OF_THE_MACHINE and row["share_percent"] > waiting}, rows


@test("a data loader without workers")
def loader(case):
    rows, tool = findings(case, "loader")
    assert not set(rows) - OF_THE_MACHINE - {"data_loader"}, rows
    found = rows["data_loader"]
    assert found["cost_ns"] > 16e6 and found["share_percent"] > 30, found
    assert "no worker process" in found["evidence"] and "num_workers" in found["next"], found
    assert "1. The step waits" in tool.out, tool.out


@test("a data loader whose one worker has too much to do")
def workers(case):
    rows, _ = findings(case, "workers")
    found = rows["data_loader"]
    assert "1 worker process ran" in found["evidence"], found
    assert "the workers are the bottleneck" in found["next"], found


@test("a slow step now and then")
def slow_step(case):
    rows, _ = findings(case, "slow-step")
    found = rows["slow_steps"]
    # The pause lies before backward(): in what is inferred to be the forward pass.
    assert "of the surplus lies in Forward" in found["evidence"], found
    assert 8e6 < found["cost_ns"] < 40e6, found


@test("time between the steps")
def outside(case):
    rows, _ = findings(case, "outside")
    found = rows["outside_phases"]
    assert found["cost_ns"] > 18e6 and "blocked" in found["evidence"], found
