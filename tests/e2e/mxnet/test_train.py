# SPDX-License-Identifier: BSD-2-Clause
"""Each way to write a job: steps, phases and operators as mx.profiler counts them."""
import jobs
from lib.runner import test
from lib.tool import calls

RULE_FORWARD, RULE_LOADER = "forward pass: ", "DataLoader: "


def step_rule(tables):
    return tables["summary"]["rows"][0]["step_rule"]


@test("gluon: operators and phases, Adam")
def gluon(case):
    operators, _ = jobs.profile(case)
    tables = jobs.record(case, jobs.train(case))
    assert step_rule(tables).startswith(RULE_FORWARD), tables["summary"]
    jobs.check_phases(tables, Forward=1, Backward=1, Optimization=1)
    assert operators["Convolution"] == operators["_backward_Convolution"] == 1, operators
    jobs.check_operators(tables, operators)


@test("gluon: SGD, 2 loader processes")
def workers(case):
    operators, _ = jobs.profile(case, "--optimizer", "sgd", "--workers", 2)
    assert any(name.endswith("sgd_update") for name in operators), operators
    job = jobs.train(case, "--optimizer", "sgd", "--workers", 2)
    tool = case.tool("-p", job.pid, "--record", f"2:{2 + jobs.STEPS}").done()
    job.wait_steps(3)
    tables = tool.report()
    jobs.check_phases(tables, Forward=1, Backward=1, Optimization=1)
    main = {n: c for n, c in jobs.operators(tables).items() if n in operators}
    assert main == operators, (main, operators)


@test("gluon, hybridized: the operators of a cached graph")
def hybrid(case):
    operators, api = jobs.profile(case, "--mode", "hybrid")
    tables = jobs.record(case, jobs.train(case, "--mode", "hybrid"))
    jobs.check_phases(tables, Forward=1, Backward=1, Optimization=1)
    jobs.check_operators(tables, operators)
    overview = jobs.names(tables, "overview", "event_type")
    assert overview["Script"]["calls"] == api["MXInvokeCachedOp"] * jobs.STEPS, overview


@test("gluon on two devices with a key-value store")
def store(case):
    operators, api = jobs.profile(case, "--mode", "kv")
    tables = jobs.record(case, jobs.train(case, "--mode", "kv"))
    jobs.check_phases(tables, Forward=1, Backward=2, Optimization=1)
    jobs.check_operators(tables, operators, ours_alone=("_copyto",))
    overview = jobs.names(tables, "overview", "event_type")
    assert overview["Communication"]["calls"] == api["MXKVStorePushPull"] * jobs.STEPS, overview


@test("symbols: Module")
def module(case):
    tables = jobs.record(case, jobs.train(case, "--mode", "module"))
    assert step_rule(tables).startswith(RULE_FORWARD), tables["summary"]
    jobs.check_phases(tables, Forward=1, Backward=1, Optimization=1)
    assert calls(tables, "adam_update") == 8 * jobs.STEPS, tables["operator"]


@test("symbols and an iterator of the library's own")
def iterator(case):
    tables = jobs.record(case, jobs.train(case, "--mode", "csv"))
    assert step_rule(tables).startswith(RULE_LOADER), tables["summary"]
    model = jobs.names(tables, "model")
    # At the end of an epoch it is asked twice.
    assert model["Dataloader"]["calls"] - jobs.STEPS in (0, 1), model
    assert model["Forward"]["calls"] == model["Backward"]["calls"] == jobs.STEPS, model
    assert "reader_cost" in jobs.names(tables, "perf"), tables["perf"]


@test("steps and phases alone")
def phases(case):
    tables = jobs.record(case, jobs.train(case), "--detail", "phase")
    jobs.check_phases(tables, Forward=1, Backward=1)
    assert "operator" not in tables, tables["operator"]
    assert tables["cost"]["rows"][0]["hits_per_step"] < 6, tables["cost"]


@test("inference: the period of its operators")
def inference(case):
    tables = jobs.record(case, jobs.train(case, "--infer"))
    assert step_rule(tables).startswith("operator period"), tables["summary"]
    assert calls(tables, "Convolution") == jobs.STEPS, tables["operator"]


@test("doctor names the version and what it was known by")
def doctor(case):
    out = case.tool("doctor", "-p", jobs.train(case).pid).done().out
    assert "MXNet 1.9.1" in out and "libmxnet.so" in out, out
