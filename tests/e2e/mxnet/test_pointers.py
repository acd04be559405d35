# SPDX-License-Identifier: BSD-2-Clause
"""--inject: operators that the library in the process sees through pointers."""
import jobs
import test_raise
from lib.astray import Data, kill_in_windows, seen
from lib.runner import test

LONG_S = 60


def same(case, *args):
    operators, _ = jobs.profile(case, *args)
    job = jobs.train(case, *args)
    data = Data(job.pid)
    tool = case.tool("-v", "-p", job.pid, "--inject", "--no-prune", "--record", f"2:{2 + jobs.STEPS}", "--no-trace")
    seen(tool.done(LONG_S))
    assert "calls by probes" not in tool.err, tool.err
    data.check()
    job.wait_steps(3)
    tables = tool.report()
    cost, = tables["cost"]["rows"]
    assert cost["events_lost"] == 0 and cost["noted_calls_per_step"] > 10, cost
    jobs.check_phases(tables, Forward=1, Backward=1, Optimization=1, Dataloader=1)
    jobs.check_operators(tables, operators)


@test("the library sees the operators that mx.profiler counts: gluon, Adam")
def gluon(case):
    same(case)


@test("the library sees the operators that mx.profiler counts: a cached graph")
def hybrid(case):
    same(case, "--mode", "hybrid")


@test("the library sees what the engine runs of a planned graph")
def planned(case):
    # mx.profiler has one row for a planned graph. The same network has the same parts.
    operators, _ = jobs.profile(case, "--mode", "hybrid")
    job = jobs.train(case, "--mode", "hybrid_static")
    data = Data(job.pid)
    tool = case.tool("-v", "-p", job.pid, "--inject", "--no-prune", "--record", f"2:{2 + jobs.STEPS}", "--no-trace")
    functions, _ = seen(tool.done(LONG_S))
    assert functions > 1, tool.err
    data.check()
    jobs.check_late(tool.report(), operators, lambda name: not name.endswith("_update"))


@test("errors caught while the library sees the operators")
def errors(case):
    want = test_raise.alone(case)
    job = test_raise.start(case).wait_steps(1)
    tool = case.tool("-v", "-p", job.pid, "--inject", "--max-overhead", "0.01%", "--record", "0:1000000000", "--no-trace")
    status = job.wait(100)
    tool.done()
    assert status == 0, f"the job ended with {status}: {job.err.read_text()}"
    assert job.output() == want, f"printed {job.output()} instead of {want}"
    seen(tool)
    tables = tool.report()
    assert tables["cost"]["rows"][0]["noted_calls_per_step"] > 0, tables["cost"]
    seen_calls = {r["name"]: r["calls"] for r in tables["operator"]["rows"]}
    assert seen_calls["_ones"] > 1000 and seen_calls["_backward_Convolution"] > 10, seen_calls


@test("proftrace killed while the library sees the operators, and attached anew")
def killed(case):
    kill_in_windows(case, jobs.train(case))


@test("the job computes what it computes alone while the library sees the operators, and ends within a window")
def results(case):
    alone = jobs.start(case, "--steps", 2000)
    job = jobs.start(case, "--steps", 2000).wait_steps(1)
    tool = case.tool("-v", "-p", job.pid, "--inject", "--max-overhead", "0.01%", "--record", "0:1000000000", "--no-trace")
    seen(tool.wait_recording(LONG_S))
    for done in job, alone:
        assert done.wait(100) == 0, done.err.read_text()
    tool.done()
    assert job.output() == alone.output() and "weights" in job.output(), (job.output(), alone.output())
