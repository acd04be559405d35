# SPDX-License-Identifier: BSD-2-Clause
"""Dynamic graphs: tables as paddle.profiler's, on the same model in the same process."""
import job
from lib.process import Snapshot
from lib.runner import test

STEPS = 8
PHASES = ("Forward", "Backward", "Optimization")


def names(tables, table, key="name"):
    return {row[key]: row for row in tables[table]["rows"]}


def operators(tables):
    """Calls a step by name."""
    calls = {}
    for row in tables["operator"]["rows"]:
        assert not row["section"].startswith("Not recorded"), row
        if row["depth"] == 0:
            calls[row["name"]] = calls.get(row["name"], 0) + row["calls"] / STEPS
    return calls


def differences(ours, theirs):
    return {name: (ours.get(name), theirs.get(name)) for name in ours.keys() | theirs.keys()
            if ours.get(name) != theirs.get(name)}


def check_phases(tables, *phases):
    model = names(tables, "model")
    for phase in phases:
        # At the end of an epoch the loader is asked twice.
        extra = (0, 1) if phase == "Dataloader" else (0,)
        assert model[phase]["calls"] - STEPS in extra, model
    assert model["Others"]["cpu_ratio_percent"] < 50, model


def record(running, case, *options):
    before = Snapshot(running.pid)
    tool = case.tool("-p", running.pid, "--record", f"2:{2 + STEPS}", "--keep-all", *options).done()
    running.wait_steps(3)
    before.check_text()  # each epoch has threads and mappings of its own
    tables = tool.report()
    summary = tables["summary"]["rows"][0]
    assert summary["framework"] == "PaddlePaddle 3.3.1", summary
    assert summary["steps"] == STEPS, summary
    assert tables["cost"]["rows"][0]["events_lost"] == 0, tables["cost"]
    return tables


@test("dygraph: operators and phases, Adam")
def adam(case):
    running, truth = job.train(case)
    tables = record(running, case)
    assert "DataLoader" in tables["summary"]["rows"][0]["step_rule"]
    check_phases(tables, "Dataloader", *PHASES)
    theirs = job.profile(running, truth, "Operator")
    assert theirs["conv2d dygraph"] == 1 and theirs["adam_ dygraph"] == 8, theirs
    assert not differences(operators(tables), theirs), differences(operators(tables), theirs)


@test("dygraph: operators and phases, Momentum, 2 loader processes")
def momentum(case):
    running, truth = job.train(case, "--optimizer", "Momentum", "--workers", 2)
    tables = record(running, case)
    check_phases(tables, "Dataloader", *PHASES)
    theirs = job.profile(running, truth, "Operator")
    assert theirs["momentum_ dygraph"] == 8, theirs
    assert not differences(operators(tables), theirs), differences(operators(tables), theirs)


@test("dygraph: steps and phases alone")
def phases(case):
    running, _ = job.train(case)
    tables = record(running, case, "--detail", "phase")
    check_phases(tables, "Dataloader", *PHASES)
    assert tables["cost"]["rows"][0]["hits_per_step"] < 30, tables["cost"]
