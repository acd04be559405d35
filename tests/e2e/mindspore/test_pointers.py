# SPDX-License-Identifier: BSD-2-Clause
"""--inject: operators that the library in the process sees through pointers."""
import jobs
import test_raise
from lib.astray import Data, kill_in_windows, seen
from lib.runner import test

LONG_S = 60
ALL = ("Dataloader", "Forward", "Backward", "Optimization")
# A step of ms_raise.py with 20 rounds, as probes see it. Errors come from Cholesky, and before kernels start. See
# settle() for Add.
RAISING = {"Add": 47, "Cholesky": 20, "MatMul": 3, "Mul": 24, "Ones": 21, "SGD": 2} | dict.fromkeys(
    ("BiasAdd", "ReduceMean", "SubExt", "Tile", "RealDiv", "Square", "AssignAdd", "BiasAddGrad"), 1)
if not jobs.VERSION.startswith("2.7."):
    RAISING["Pow"] = 1
ANY_STEP = "--max-overhead", "0.01%"  # allows steps of any length, as in pointers/pointer_hooks.py


def record(case, job, *options):
    data = Data(job.pid)
    tool = case.tool("-v", "-p", job.pid, "--inject", "--no-prune", "--record", f"2:{2 + jobs.STEPS}", "--no-trace",
                     *options)
    tool.done(LONG_S)
    data.check()
    job.wait_steps(3)
    return tool


def full_names(tables):
    return {row["op_full_name"]: row["occurrences"] for row in tables["op_detail"]["rows"]}


def same(case, mode):
    """The library must see the same operators and full names as probes do."""
    job = jobs.train(case, "--mode", mode)
    by_probes = jobs.tables_of(jobs.capture(case, job, "--no-prune"), "op_detail", "operator")
    tool = record(case, job)
    seen(tool)
    tables = jobs.tables_of(tool, "op_detail", "operator", "model")
    cost, = tables["cost"]["rows"]
    ours = jobs.operators(tables)
    assert cost["noted_calls_per_step"] == sum(ours.values()) > 20, (cost, ours)
    jobs.check_operators(ours, jobs.operators(by_probes))
    jobs.check_operators(full_names(tables), full_names(by_probes))
    jobs.check_phases(tables, *ALL)
    assert not any("full names" in note for note in tables["operator"]["notes"]), tables["operator"]["notes"]


@test("graph mode: the library sees the operators, full names and phases that probes see")
def graph(case):
    same(case, "graph")


@test("two graphs, of gradients and of the optimizer: the same")
def gradients(case):
    same(case, "gradients")


@test("PyNative: the same")
def pynative(case):
    same(case, "pynative")


@test("errors of each kind while the library sees the operators")
def errors(case):
    tables = test_raise.raising(case, 100, 20, "--inject", *ANY_STEP)
    assert tables["cost"]["rows"][0]["noted_calls_per_step"] > 0, tables["cost"]
    # A call that raises must end where the exception leaves it, and so must not contain the next call.
    assert "OperatorInner" not in jobs.names(tables, "overview", "event_type"), tables["overview"]
    # Graphs that fail are freed, and other kernels get their addresses. Each kernel must have its own name.
    found = {name: row["calls"] for name, row in jobs.names(tables, "operator").items()}
    steps = found["ReduceMean"]
    assert steps > 10 and found.keys() == RAISING.keys(), found
    assert all(abs(found[name] - cnt * steps) <= cnt for name, cnt in RAISING.items()), found


@test("proftrace killed while the library sees the operators, and attached anew")
def killed(case):
    kill_in_windows(case, jobs.train(case, "--mode", "graph"))


@test("the job ends within a window")
def ended(case):
    job = jobs.start(case, "--mode", "graph", "--steps", 3000).wait_steps(5, timeout_s=120)
    tool = case.tool("-v", "-p", job.pid, "--inject", *ANY_STEP, "--record", "0:1000000000", "--no-trace")
    seen(tool.wait_recording(LONG_S))
    assert job.wait(100) == 0, job.err.read_text()
    tool.done()
    tables = tool.report()
    calls = {name: row["calls"] for name, row in jobs.names(tables, "operator").items()}
    assert calls["Conv2D"] > 10, calls
    assert jobs.names(tables, "model").keys() >= {"Forward", "Backward", "Optimization"}, tables["model"]


@test("a job that compiles other graphs within the window: operators, full names and phases of each")
def renewed(case):
    job = jobs.train(case, "--mode", "graph", "--renew", "200")
    tool = case.tool("-v", "-p", job.pid, "--inject", *ANY_STEP, "--record", "2:602", "--no-trace").done(100)
    seen(tool)
    job.wait_steps(3)
    tables = tool.report("--table", "operator,op_detail,model,cost")
    calls = {name: row["calls"] for name, row in jobs.names(tables, "operator").items()}
    assert calls["Conv2D"] == calls["MaxPoolGrad"] == 600 and calls["MatMul"] == 6 * 600, calls
    # Each call must have its full name, which gives its phase, even if its graph was compiled late.
    assert sum(full_names(tables).values()) == sum(calls.values()), (full_names(tables), calls)
    phases = {name: row["calls"] for name, row in jobs.names(tables, "model").items()}
    assert all(phases[name] == 600 for name in ("Forward", "Backward", "Optimization")), phases


@test("where no step ends while it is compared, probes see all that they saw before")
def refuted(case):
    job = jobs.train(case, "--mode", "graph", "--pause-s", "14")
    tool = case.tool("-v", "-p", job.pid, "--inject", "--no-prune", "--record", f"2:{2 + jobs.STEPS}", "--no-trace")
    tool.done(120)
    assert "functions are seen through" not in tool.err, tool.err
    tables = tool.report()
    cost, = tables["cost"]["rows"]
    assert cost["events_lost"] == 0 and not cost.get("noted_calls_per_step"), cost
    jobs.check_phases(tables, *ALL)
