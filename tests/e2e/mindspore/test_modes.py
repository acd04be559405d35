# SPDX-License-Identifier: BSD-2-Clause
"""Compares each way to train with MindSpore's own profiler where that works."""
import collections
import os
import shutil

import jobs
from lib import evaluation
from lib.job import WORKLOADS
from lib.runner import test

ALL = ("Dataloader", "Forward", "Backward", "Optimization")


def without(calls, names):
    return {n: c for n, c in calls.items() if n not in names}


@test("graph mode: operators as MindSpore's profiler counts them, phases by their names")
def graph(case):
    job, theirs = jobs.profiled(case, "--mode", "graph")
    tables = jobs.record(case, job)
    jobs.check_operators(jobs.operators(tables), without(theirs, jobs.UNSEEN))
    jobs.check_phases(tables, *ALL)
    assert "compiled graph" in tables["summary"]["rows"][0]["step_rule"], tables["summary"]
    assert "OperatorInner" not in jobs.names(tables, "overview", "event_type"), tables["overview"]


@test("full names: the rows of op_detail are those of MindSpore's profiler, in each mode")
def full_names(case):
    for mode in ("graph", "gradients", "jit", "pynative"):
        job = jobs.watched(case, "--mode", mode)
        theirs = {row["full_op_name"]: int(row["op_occurrences"])
                  for row in jobs.own_table(case, "cpu_op_detail_info_0.csv")
                  if row["op_type"] not in jobs.UNSEEN}
        tables = jobs.tables_of(jobs.capture(case, job, "--no-prune"), "op_detail")
        ours = {row["op_full_name"]: row["occurrences"] for row in tables["op_detail"]["rows"]}
        jobs.check_operators(ours, theirs)
        assert sum("/" in name for name in ours) > 20, ours
        job.stop()
        shutil.rmtree(case.dir / "theirs")


@test("PyNative: operators as MindSpore's profiler counts them, phases as Python makes them")
def pynative(case):
    job, theirs = jobs.profiled(case, "--mode", "pynative")
    tables = jobs.record(case, job)
    jobs.check_operators(jobs.operators(tables), without(theirs, jobs.UNSEEN))
    jobs.check_phases(tables, *ALL)
    assert "optimizer step" in tables["summary"]["rows"][0]["step_rule"], tables["summary"]
    assert any("other threads" in note for note in tables["model"]["notes"]), tables["model"]


@test("PyNative, inner: what Python called and what was launched for it; memory; RecordFunction")
def inner(case):
    job, theirs = jobs.profiled(case, "--mode", "pynative", "--annotate")
    tables = jobs.record(case, job, "--detail", "inner", "--profile-memory")
    ours = jobs.operators(tables)
    dispatched = {n: c for n, c in ours.items() if n.startswith("Pyboost")}
    jobs.check_operators(without(ours, dispatched), theirs)
    # The forward pass has two layers and their loss. Gradients are not called from Python. 2.7 has no symbols for them.
    if "MindSpore 2.7." in tables["summary"]["rows"][0]["framework"]:
        assert not dispatched, dispatched
    else:
        assert dispatched["PyboostReLU"] == dispatched["PyboostMatMul"] == 2, dispatched
    assert jobs.names(tables, "userdefined")["my step.2"]["calls"] == jobs.STEPS, tables
    memory = tables["memory"]["rows"]
    allocated, freed = (sum(row[f"{what}_bytes"] for row in memory)
                        for what in ("alloc", "free"))
    assert sum(row["alloc_cnt"] for row in memory) > 100 * jobs.STEPS, memory
    assert abs(allocated - freed) < allocated / 20, memory


@test("PyNative, inner: each launch of a kernel is recorded once, in every table and in the events")
def launched_once(case):
    job = jobs.train(case, "--mode", "pynative")
    tool = jobs.capture(case, job, "--detail", "inner", "--no-prune")
    tables = jobs.tables_of(tool, "operator", "classic", "aggregate", "op_type", "op_detail", "overview")
    ours = {name: round(cnt * jobs.STEPS) for name, cnt in jobs.operators(tables).items()}
    assert ours["MatMul"] == 6 * jobs.STEPS and ours["GatherD"] == jobs.STEPS, ours
    for table, key, cnt in (("classic", "event", "calls"), ("aggregate", "name", "count"),
                            ("op_type", "op_type", "occurrences")):
        rows = jobs.names(tables, table, key)
        assert ours == {name: rows[name][cnt] for name in ours}, (table, ours, rows)
    assert "OperatorInner" not in jobs.names(tables, "overview", "event_type"), tables["overview"]
    seen = collections.Counter(event["name"] for event in tool.events() if event.get("kind") == "Operator")
    assert ours == seen, (ours, seen)
    # A graph that Python calls is launched elsewhere, and has nodes.
    full = jobs.names(tables, "op_detail", "op_full_name")
    assert all(full[f"Default/Adam-op{i}"]["occurrences"] == jobs.STEPS for i in range(8)), full.keys()
    assert full["MatMul"]["occurrences"] == ours["MatMul"], full


def scope_of(operator):
    """Returns the phase in an operator's full name, if there is one."""
    for prefix, phase in (("Gradients/", "Backward"), ("Default/", "Forward")):
        if operator.get("full_name", "").startswith(prefix):
            return phase
    return None


def check_scopes(events):
    """Gradients must lie in Backward, and the operators before them in Forward. The phases must hold all of a step's
    operators."""
    operators = [event for event in events if event.get("full_name")]
    updates = {"Adam", "ApplyMomentum"}
    for name in ("Forward", "Backward"):
        inside = [o for o in operators if o["phase"] == name]
        assert len(inside) > 20 * jobs.STEPS, inside
        assert {scope_of(o) for o in inside} <= {name, None}, inside
        pieces = sum(event["dur_ns"] for event in events if event.get("kind") == name)
        assert sum(o["dur_ns"] for o in inside) <= pieces, (name, pieces)
    assert not [o for o in operators if o["phase"] == "Other" and scope_of(o) == "Backward"]
    assert {o["phase"] for o in operators if o["name"] in updates} == {"Optimization"}, operators


def graph_elsewhere(case, optimizer, mode):
    job = jobs.train(case, "--mode", mode, "--optimizer", optimizer)
    tool = jobs.capture(case, job, "--no-prune")
    tables = jobs.tables_of(tool, "model", "step_trace", "operator")
    jobs.check_phases(tables, *ALL)
    for row in tables["step_trace"]["rows"]:
        parts = [row[f"{part}_ns"] for part in ("iteration_interval", "fp_and_bp", "tail")]
        assert all(parts) and abs(sum(parts) - row["total_ns"]) <= 2, row
    events = tool.events()
    check_scopes(events)
    gradients = {event["tid"] for event in events if scope_of(event) == "Backward"}
    assert len(gradients) == 1, gradients
    # 2.7 runs the graph of value_and_grad where Python calls it.
    assert (gradients != {job.pid}) == any("another thread ran" in note for note in
                                           tables["model"]["notes"]), (gradients, tables["model"])
    return tables


@test("value_and_grad: phases of a graph by full names, wherever it is executed")
def value_and_grad(case):
    graph_elsewhere(case, "adam", "gradients")


@test("jit: a step that is one graph, executed on another thread")
def jit(case):
    tables = graph_elsewhere(case, "momentum", "jit")
    assert jobs.operators(tables)["ApplyMomentum"] == 8, tables["operator"]


@test("Model.train: phases; SGD")
def model_train(case):
    tables = jobs.record(case, jobs.train(case, "--mode", "model", "--optimizer", "sgd"))
    assert jobs.operators(tables)["SGD"] == 8, tables["operator"]
    jobs.check_phases(tables, *ALL)


@test("Model.fit: an evaluation between two steps is none, and of none of their phases")
def fit(case):
    # Each evaluation has its own threads.
    job = jobs.train(case, "--mode", "fit")
    tool = case.tool("-p", job.pid, "--record", f"2:{2 + jobs.STEPS}").done(timeout_s=100)
    job.wait_steps(3)
    tables = jobs.tables_of(tool)
    model = {row["name"]: row["calls"] for row in tables["model"]["rows"]}
    phases = {name: model.get(name) for name in ("Forward", "Backward", "Optimization")}
    assert set(phases.values()) == {jobs.STEPS}, model
    # Eight steps and two evaluations of three batches each. Each epoch ends with a request that gets no batch.
    assert model["Dataloader"] in (18, 19), model
    graphs = [event for event in tool.events() if event.get("name") in ("train", "eval")]
    runs = {name: sum(event["name"] == name for event in graphs) for name in ("train", "eval")}
    assert runs == {"train": 8, "eval": 6}, runs


@test("phases alone; inference is all Forward")
def phases(case):
    job = jobs.train(case, "--mode", "pynative", "--infer", "--workers", 2)
    tables = jobs.record(case, job, "--detail", "phase")
    assert "operator" not in tables, tables.keys()
    jobs.check_phases(tables, "Dataloader", "Forward")


@test("evaluation: the ask that ends an epoch is no step")
def evaluate(case):
    job = jobs.start(case, "mindspore", workload="evaluate_of.py")
    evaluation.check(case, job.wait_steps(5, timeout_s=120))


@test("--timer-only: steps as with all probes, in each mode")
def timer_only(case):
    for mode in ("graph", "pynative"):
        job = jobs.train(case, "--mode", mode)
        tables = jobs.record(case, job, "--timer-only")
        assert tables["summary"]["rows"][0]["detail"] == "timer", tables["summary"]
        assert "batch_cost" in jobs.names(tables, "perf"), tables["perf"]
        assert tables["cost"]["rows"][0]["hits_per_step"] < 10, tables["cost"]
        job.stop()


@test("doctor: the framework, its version, what was found")
def doctor(case):
    job = jobs.train(case, "--mode", "graph")
    out = case.tool("doctor", "-p", job.pid).done().out
    assert f"MindSpore {jobs.VERSION}" in out, out
    assert "not measured" not in out and "not shown" not in out, out


def check_launches(tables, theirs):
    """All calls must have the same ratio to the profiler's, none within another, and missing ones must be counted."""
    ours = {row["name"]: row["calls"] for row in tables["operator"]["rows"]}
    steps = ours["MatMul"] / theirs["MatMul"]
    off = {name: (ours.get(name), cnt * steps) for name, cnt in theirs.items()
           if abs(ours.get(name, 0) / cnt - steps) > 3}
    assert steps > 20 and not off, (steps, off)
    assert "OperatorInner" not in jobs.names(tables, "overview", "event_type"), tables["overview"]
    cost = tables["cost"]["rows"][0]
    assert cost["events_lost"] < sum(ours.values()) / 4, (cost, ours)
    assert not cost["events_lost"] or cost["lost_where"].startswith("unended"), cost


@test("--no-steps: each launch ends, or is counted as one whose end has no probe yet")
def no_steps(case):
    job, theirs = jobs.profiled(case, "--mode", "graph")
    theirs = without(theirs, jobs.UNSEEN)
    tool = case.tool("-p", job.pid, "--no-steps", "--duration", "2s", "--no-trace").done(timeout_s=60)
    job.wait_steps(3)
    check_launches(tool.report(), theirs)
    job.stop()
    tool = case.tool("run", "--no-steps", "--no-trace", "--", os.environ["PYTHON"],
                     WORKLOADS / "ms_train.py", "--mode", "graph", "--steps", 60).done(timeout_s=120)
    check_launches(tool.report(), theirs)
