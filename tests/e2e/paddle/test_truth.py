# SPDX-License-Identifier: BSD-2-Clause
"""Compares tables with paddle.profiler's, for the same model in the same process."""
import job
from lib.process import Snapshot
from lib.runner import test
from lib.tool import check_step_times

STEPS = 8
PHASES = ("Forward", "Backward", "Optimization")


def names(tables, table, key="name"):
    return {row[key]: row for row in tables[table]["rows"]}


INNER = (" kernel launch", " compute", " infer_meta", " node_creation")
INFERS = "PhiKernelInstruction::infermeta"  # of each instruction of a program
INNER_OF_PROGRAMS = (INFERS, "infer_shape", "compute")


def is_inner(name):
    return name.endswith(INNER) or name in INNER_OF_PROGRAMS


def operators(tables, inner=False):
    """Calls a step by name."""
    calls = {}
    for row in tables.get("operator", {"rows": []})["rows"]:
        assert not row["estimated"], row
        if is_inner(row["name"]) == inner:
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
    tool = case.tool("-p", running.pid, "--record", f"2:{2 + STEPS}", "--no-prune", *options).done()
    running.wait_steps(3)
    before.check_text()  # each epoch has its own threads and mappings
    tables = tool.report("--op-detail")
    summary = tables["summary"]["rows"][0]
    assert summary["framework"] == f"PaddlePaddle {job.VERSION}", summary
    assert summary["steps"] == STEPS, summary
    assert tables["cost"]["rows"][0]["events_lost"] == 0, tables["cost"]
    return tables


def check_operators(tables, truth):
    theirs = truth.calls("Operator")
    assert len(theirs) > 9, theirs
    different = differences(operators(tables), theirs)
    assert not different, f"(proftrace, paddle.profiler) by name: {different}"


@test("dygraph: operators, phases and memory, Adam")
def adam(case):
    running, path = job.train(case)
    tables = record(running, case, "--profile-memory")
    assert "DataLoader" in tables["summary"]["rows"][0]["step_rule"]
    check_phases(tables, "Dataloader", *PHASES)
    truth = job.profile(running, path)
    check_operators(tables, truth)
    assert truth.calls("Operator")["adam_ dygraph"] == 8, truth.kinds
    ours = {name: row["alloc_bytes"] / STEPS for name, row in names(tables, "memory").items()}
    theirs = truth.allocated()
    assert len(theirs) > 10, theirs
    different = differences({name: ours.get(name) for name in theirs}, theirs)
    assert not different, f"(proftrace, paddle.profiler) bytes by name: {different}"


@test("dygraph: operators and phases, Momentum, 2 loader processes")
def momentum(case):
    running, path = job.train(case, "--optimizer", "Momentum", "--workers", 2)
    tables = record(running, case)
    check_phases(tables, "Dataloader", *PHASES)
    truth = job.profile(running, path)
    check_operators(tables, truth)
    assert truth.calls("Operator")["momentum_ dygraph"] == 8, truth.kinds


def check_inner(case, parts, *mode):
    running, path = job.train(case, *mode)
    tables = record(running, case, "--detail", "inner")
    truth = job.profile(running, path)
    check_operators(tables, truth)
    theirs = {name: cnt for kind in ("OperatorInner", "DygraphKernelLaunch", "StaticKernelLaunch", "UserDefined")
              if kind in truth.kinds for name, cnt in truth.calls(kind).items()
              if not name.startswith("Local_")  # the node once more
              and (kind != "UserDefined" or name == INFERS)}
    for part, least in parts.items():
        assert sum(cnt for name, cnt in theirs.items() if name.endswith(part)) >= least, theirs
    ours = operators(tables, inner=True)
    # Calls outside operators are counted, but have no row in the operators' table.
    assert all(cnt <= theirs.get(name, 0) for name, cnt in ours.items()), differences(ours, theirs)
    parts = names(tables, "overview", "event_type")["OperatorInner"]["calls"] / STEPS
    assert parts == sum(theirs.values()), f"{parts} {theirs}"


KERNEL = " kernel launch" if job.HAS_PIR else " compute"
PARTS_OF_PROGRAMS = {INFERS: 9, KERNEL: 9} if job.HAS_PIR else {"infer_shape": 9, "compute": 9}


@test("dygraph: what is inside operators")
def inner(case):
    check_inner(case, {"infer_meta": 10, "node_creation": 10, KERNEL: 10})


@test("to_static: what is inside the program's operators, and others")
def inner_to_static(case):
    check_inner(case, {"infer_meta": 10, **PARTS_OF_PROGRAMS}, "--mode", "to_static")


@test("static: what is inside the program's operators")
def inner_static(case):
    check_inner(case, PARTS_OF_PROGRAMS, "--mode", "static")


@test("dygraph: steps and phases alone")
def phases(case):
    running, _ = job.train(case)
    tables = record(running, case, "--detail", "phase")
    check_phases(tables, "Dataloader", *PHASES)
    assert tables["cost"]["rows"][0]["hits_per_step"] < 30, tables["cost"]


@test("--timer-only: steps and throughput as the job's own")
def timer_only(case):
    for mode in ("dygraph", "to_static", "static"):
        running, _ = job.train(case, "--mode", mode)
        before = len(running.steps())
        tool = case.tool("-p", running.pid, "--record", f"2:{2 + STEPS}", "--timer-only").done()
        running.wait_steps(3)
        tables = tool.report()
        summary = tables["summary"]["rows"][0]
        assert (summary["steps"], summary["detail"]) == (STEPS, "timer"), summary
        # In dynamic graphs a step begins after the optimizer, which shows as an operator for each parameter.
        dynamic = mode != "static"
        shown = {e["name"] for e in tool.events() if e.get("kind") == "Operator"}
        assert shown == ({"adam_ dygraph"} if dynamic else set()), shown
        hits = tables["cost"]["rows"][0]["hits_per_step"]
        assert hits < (2 * 8 + 6 if dynamic else 6), tables["cost"]
        check_step_times(tables, running.steps()[before:])
        running.stop()


@test("dygraph: inference, whose steps are the period of its operators")
def inference(case):
    running, path = job.train(case, "--infer")
    tables = record(running, case)
    assert "operator period" in tables["summary"]["rows"][0]["step_rule"]
    check_operators(tables, job.profile(running, path))


@test("paddle.inference: a step is a run of the predictor, and not the block that its network repeats")
def predictor(case):
    running = job.start(case, "paddle_predict.py").wait_steps(10)
    tool = case.tool("-p", running.pid, "--record", f"2:{2 + STEPS}", "--record-shapes").done()
    missing = [line for line in tool.out.splitlines() if line.startswith("missing: --record-shapes")]
    assert len(missing) == 1, tool.out
    tables = tool.report()
    rule = tables["summary"]["rows"][0]["step_rule"]
    assert rule.startswith("compiled graph: "), rule
    calls = operators(tables)
    # The predictor chooses whose: pd_op or onednn_op, fused or not.
    for what in ("conv2d", "pool2d"):
        assert sum(cnt for name, cnt in calls.items() if what in name) == 8, calls


@test("to_static: inference, whose steps are of the thread that runs the program")
def inference_to_static(case):
    running, path = job.train(case, "--infer", "--mode", "to_static")
    tables = record(running, case)
    rule = tables["summary"]["rows"][0]["step_rule"]
    assert f"the calls of thread {running.pid} " in rule, rule
    check_operators(tables, job.profile(running, path))


@test("to_static: operators within the program and around it")
def to_static(case):
    running, path = job.train(case, "--mode", "to_static")
    tables = record(running, case)
    check_phases(tables, "Dataloader", *PHASES)
    check_operators(tables, job.profile(running, path))


@test("static: operators of the Executor's threads")
def static(case):
    running, path = job.train(case, "--mode", "static")
    tables = record(running, case)
    assert "compiled graph" in tables["summary"]["rows"][0]["step_rule"]
    overview = names(tables, "overview", "event_type")
    assert overview["Script"]["calls"] == STEPS, overview
    check_phases(tables, *PHASES)
    check_operators(tables, job.profile(running, path))
