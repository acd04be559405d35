# SPDX-License-Identifier: BSD-2-Clause
"""Jobs in MindSpore, their recordings, and the counts of MindSpore's profiler for the same network."""
import csv
import os

from lib.process import Snapshot

# Each version has its own environment: scripts/mindspore-python.
VERSION = os.environ.get("MINDSPORE_VERSION") or "2.10.0"
STEPS = 8
# There are 612 classes of kernels on the CPU. Two of them replace the function by which proftrace sees kernels.
UNSEEN = {"GatherD"}


def start(case, *args, workload="ms_train.py"):
    return case.job(workload, *args)


def train(case, *args):
    """A job that trains already: a graph is compiled first, which takes seconds."""
    return start(case, *args).wait_steps(5, timeout_s=120)


def own_table(case, name):
    """Rows of a table that MindSpore's profiler wrote."""
    tables = list((case.dir / "theirs").glob(f"*/FRAMEWORK/{name}"))
    assert len(tables) == 1, tables
    with open(tables[0]) as table:
        return list(csv.DictReader(table))


def watched(case, *args):
    """A job that was watched by MindSpore's profiler for some steps."""
    return start(case, "--profile", case.dir / "theirs", *args).wait_steps(14, timeout_s=120)


def profiled(case, *args):
    """Runs such a job under MindSpore's profiler. Returns calls per step by operator."""
    job = watched(case, *args)
    return job, {row["op_type"]: int(row["type_occurrences"]) / STEPS
                 for row in own_table(case, "cpu_op_type_info_0.csv")}


def names(tables, table, key="name"):
    return {row[key]: row for row in tables[table]["rows"]} if table in tables else {}


def operators(tables):
    """Calls a step by name."""
    calls = {}
    for row in tables["operator"]["rows"]:
        assert not row["estimated"], row
        if row["depth"] == 0:
            calls[row["name"]] = calls.get(row["name"], 0) + row["calls"] / STEPS
    return calls


def check_operators(ours, theirs):
    different = {n: (ours.get(n), theirs.get(n)) for n in ours.keys() | theirs.keys()
                 if ours.get(n) != theirs.get(n)}
    assert not different, different


def check_phases(tables, *phases):
    """Each step must have each phase once and no other phase. At the end of an epoch the loader is asked twice."""
    model = names(tables, "model")
    seen = {name: row["calls"] for name, row in model.items()
            if name not in ("ProfileStep", "Others")}
    assert seen.keys() == set(phases), seen
    for name, calls in seen.items():
        assert calls - STEPS in ((0, 1) if name == "Dataloader" else (0,)), seen
    assert model["ProfileStep"]["calls"] == STEPS, model


def capture(case, job, *options):
    """Records, and checks that the job is as before."""
    before = Snapshot(job.pid, passing=("/proc/",))  # the data pipeline looks there
    tool = case.tool("-p", job.pid, "--record", f"2:{2 + STEPS}", *options).done(timeout_s=100)
    job.wait_steps(3)
    before.check()
    return tool


def tables_of(tool, *names):
    """Returns a recording's printed tables, or the named ones."""
    tables = tool.report(*(("--table", ",".join(("summary", "cost", *names))) if names else ()))
    summary = tables["summary"]["rows"][0]
    assert summary["framework"].startswith(f"MindSpore {VERSION}"), summary
    assert summary["steps"] == STEPS, summary
    assert tables["cost"]["rows"][0]["events_lost"] == 0, tables["cost"]
    return tables


def record(case, job, *options):
    return tables_of(capture(case, job, *options))
