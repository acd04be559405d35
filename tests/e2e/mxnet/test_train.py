# SPDX-License-Identifier: BSD-2-Clause
"""Each way to write a job: steps, phases and operators must be as mx.profiler counts them."""
import jobs
from lib.runner import test
from lib.tool import calls, check_step_times

RULE_FORWARD, RULE_LOADER = "forward pass: ", "DataLoader: "

# The operators of the network of symbols.
FORWARD = {"Convolution": 1, "BatchNorm": 1, "Activation": 2, "Pooling": 1, "Flatten": 1,
           "FullyConnected": 2, "SoftmaxOutput": 1}


def step_rule(tables):
    return tables["summary"]["rows"][0]["step_rule"]


@test("gluon: operators and phases, Adam")
def gluon(case):
    operators, _ = jobs.profile(case)
    tables = jobs.record(case, jobs.train(case))
    assert step_rule(tables).startswith(RULE_LOADER), tables["summary"]
    jobs.check_phases(tables, Forward=1, Backward=1, Optimization=1, Dataloader=1)
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
    jobs.check_phases(tables, Forward=1, Backward=1, Optimization=1, Dataloader=1)
    main = {n: c for n, c in jobs.operators(tables).items() if n in operators}
    assert main == operators, (main, operators)


@test("gluon, hybridized: the operators of a cached graph")
def hybrid(case):
    operators, api = jobs.profile(case, "--mode", "hybrid")
    tables = jobs.record(case, jobs.train(case, "--mode", "hybrid"))
    jobs.check_phases(tables, Forward=1, Backward=1, Optimization=1, Dataloader=1)
    jobs.check_operators(tables, operators)
    overview = jobs.names(tables, "overview", "event_type")
    assert overview["Script"]["calls"] == api["MXInvokeCachedOp"] * jobs.STEPS, overview


@test("gluon, hybridized and planned: what the engine runs of it")
def planned(case):
    # mx.profiler has one row for a planned graph. The same network has the same parts.
    operators, _ = jobs.profile(case, "--mode", "hybrid")
    tables = jobs.record(case, jobs.train(case, "--mode", "hybrid_static"))
    jobs.check_phases(tables, Forward=1, Backward=1, Optimization=1, Dataloader=1)
    jobs.check_late(tables, operators, lambda name: not name.endswith("_update"))


@test("gluon on two devices with a key-value store")
def store(case):
    operators, api = jobs.profile(case, "--mode", "kv")
    tables = jobs.record(case, jobs.train(case, "--mode", "kv"))
    jobs.check_phases(tables, Forward=1, Backward=2, Optimization=1, Dataloader=1)
    jobs.check_operators(tables, operators, ours_alone=("_copyto",))
    overview = jobs.names(tables, "overview", "event_type")
    assert overview["Communication"]["calls"] == api["MXKVStorePushPull"] * jobs.STEPS, overview


@test("symbols: Module")
def module(case):
    tables = jobs.record(case, jobs.train(case, "--mode", "module"))
    assert step_rule(tables).startswith(RULE_FORWARD), tables["summary"]
    jobs.check_phases(tables, Forward=1, Backward=1, Optimization=1)
    operators = dict(jobs.profile(case, "--mode", "module")[0])
    graphs = [name for name in operators if name.startswith("[")]
    assert len(graphs) == 2, operators
    # A row for each graph, whose list of operators is cut.
    for graph in graphs:
        del operators[graph]
    operators |= FORWARD | {"_backward_" + name: cnt for name, cnt in FORWARD.items()
                            if name != "Flatten"}
    operators |= {"_backward_copy": 1, "_zeros_without_dtype": 1}
    jobs.check_late(tables, operators, lambda name: name not in ("adam_update", "slice_axis"),
                    ours_alone=("_copyto",))


@test("symbols and an iterator of the library's own")
def iterator(case):
    tables = jobs.record(case, jobs.train(case, "--mode", "csv"))
    assert step_rule(tables).startswith(RULE_LOADER), tables["summary"]
    model = jobs.names(tables, "model")
    # At the end of an epoch the loader is asked twice.
    assert model["Dataloader"]["calls"] - jobs.STEPS in (0, 1), model
    assert model["Forward"]["calls"] == model["Backward"]["calls"] == jobs.STEPS, model
    assert "reader_cost" in jobs.names(tables, "perf"), tables["perf"]


@test("steps and phases alone")
def phases(case):
    tables = jobs.record(case, jobs.train(case), "--detail", "phase")
    jobs.check_phases(tables, Forward=1, Backward=1, Dataloader=1, Optimization=1)
    assert "operator" not in tables, tables["operator"]
    assert tables["cost"]["rows"][0]["hits_per_step"] < 8, tables["cost"]


@test("--timer-only: steps and throughput as the job's own")
def timer_only(case):
    for mode, rule in (("gluon", RULE_FORWARD), ("module", RULE_FORWARD), ("csv", RULE_LOADER)):
        job = jobs.train(case, "--mode", mode)
        before = len(job.steps())
        tables = jobs.record(case, job, "--timer-only")
        assert step_rule(tables).startswith(rule), tables["summary"]
        assert tables["summary"]["rows"][0]["detail"] == "timer", tables["summary"]
        assert "operator" not in tables, tables["operator"]
        assert tables["cost"]["rows"][0]["hits_per_step"] < 6, tables["cost"]
        check_step_times(tables, job.steps()[before:])
        job.stop()


@test("allocations and frees")
def memory(case):
    theirs = jobs.allocations(case)
    tables = jobs.record(case, jobs.train(case), "--profile-memory")
    rows = [row for row in tables["memory"]["rows"] if row["name"]]
    ours = sum(row["alloc_cnt"] + row["free_cnt"] for row in rows) / jobs.STEPS
    assert abs(ours - theirs) < 0.1 * theirs, (ours, theirs)
    # A step frees what it allocated. The engine frees some of it in the next step.
    grown = sum(row["increase_bytes"] for row in rows)
    allocated = sum(row["alloc_bytes"] for row in rows)
    assert abs(grown) < 0.2 * allocated, (grown, allocated)


@test("what the engine runs, at --detail inner")
def inner(case):
    operators, _ = jobs.profile(case)
    tables = jobs.record(case, jobs.train(case), "--detail", "inner")
    ours = jobs.operators(tables)
    prefix = "engine: "
    frontend = {n: c for n, c in ours.items() if not n.startswith(prefix)}
    assert frontend == operators, (frontend, operators)
    # Backward operators run in bulk while mx.profiler is off.
    for name, cnt in operators.items():
        if not name.startswith(("_backward", "_zeros")):
            assert abs(ours[prefix + name] - cnt) <= cnt / jobs.STEPS, (name, ours)
    assert {prefix + n for n in ("ImperativeBulk", "DeleteVariable")} <= ours.keys(), ours


@test("inference: the period of its operators, each with its batch")
def inference(case):
    tables = jobs.record(case, jobs.train(case, "--infer"))
    assert step_rule(tables).startswith(RULE_LOADER), tables["summary"]
    assert "ahead of Convolution" in step_rule(tables), tables["summary"]
    assert calls(tables, "Convolution") == jobs.STEPS, tables["operator"]
    jobs.check_phases(tables, Dataloader=1, Forward=1)


@test("doctor names the version and what it was known by")
def doctor(case):
    out = case.tool("doctor", "-p", jobs.train(case).pid).done().out
    assert "MXNet 1.9.1" in out and "libmxnet.so" in out, out
