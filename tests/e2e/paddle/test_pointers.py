# SPDX-License-Identifier: BSD-2-Clause
"""--inject: operators that the library in the process sees through pointers."""
import job
import test_raise
from lib.astray import Data, kill_in_windows, seen
from lib.runner import test
from test_truth import PHASES, STEPS, check_operators, check_phases, operators

LONG_S = 60


def record(case, running, *options):
    return case.tool("-v", "-p", running.pid, "--inject", "--record", f"2:{2 + STEPS}", "--no-trace", *options)


def unseen(tool):
    """Operators that have probes, as -v names them."""
    return [line for line in tool.err.splitlines() if "calls by probes" in line]


def same(case, *args):
    running, path = job.train(case, *args)
    data = Data(running.pid)
    tool = record(case, running, "--keep-all").done(LONG_S)
    seen(tool)
    assert not unseen(tool), unseen(tool)
    data.check()
    tables = tool.report()
    assert tables["cost"]["rows"][0]["events_lost"] == 0, tables["cost"]
    check_operators(tables, job.profile(running, path))
    cost, = tables["cost"]["rows"]
    # Updates of parameters make steps where nothing else tells of them, and have their probes.
    updates = sum(cnt for name, cnt in operators(tables).items() if name in ("adam_ dygraph", "momentum_ dygraph"))
    assert cost["noted_calls_per_step"] == sum(operators(tables).values()) - updates, cost
    running.wait_steps(3)
    return tables


@test("the library sees the operators and nodes that paddle.profiler counts, Adam")
def adam(case):
    check_phases(same(case), "Dataloader", *PHASES)


@test("the library sees the operators and nodes that paddle.profiler counts, Momentum, 2 loader processes")
def momentum(case):
    same(case, "--optimizer", "Momentum", "--workers", 2)


@test("errors caught while the library sees the operators")
def errors(case):
    tables = test_raise.raise_under(case, "--keep-all", "--inject", "-v")
    test_raise.check_operators(tables)
    assert tables["cost"]["rows"][0]["noted_calls_per_step"] > 0, tables["cost"]


@test("proftrace killed while the library sees the operators, and attached anew")
def killed(case):
    kill_in_windows(case, job.train(case)[0])


@test("the job ends while the library sees the operators")
def ends(case):
    running, _ = job.train(case, "--workers", 2)
    tool = case.tool("-v", "-p", running.pid, "--inject", "--record", "0:1000000000", "--no-trace")
    seen(tool.wait_recording(LONG_S))
    running.wait_steps(3)
    running.stop()
    tool.done(LONG_S)
    found = {row["name"] for row in tool.report()["operator"]["rows"]}
    assert "conv2d dygraph" in found and any(name.endswith("GradNodeFinal") for name in found), found
