# SPDX-License-Identifier: BSD-2-Clause
"""Objects of mx.profiler, which work without a running profiler."""
import jobs
from lib.runner import test


@test("tasks, frames, events, counters and markers; steps by a frame")
def annotations(case):
    job = jobs.train(case, "--annotate")
    tables = jobs.record(case, job, "--step-range", "domain::frame")
    user = jobs.names(tables, "userdefined")
    assert {n: r["calls"] for n, r in user.items()} == dict.fromkeys(
        ("domain::frame", "domain::task", "event"), jobs.STEPS), user
    marks = jobs.names(tables, "counters")
    assert marks["domain::counter"]["calls"] == marks["domain::marker"]["calls"] == jobs.STEPS, marks
    # It counts by threes.
    assert marks["domain::counter"]["max"] - marks["domain::counter"]["min"] == 3 * (jobs.STEPS - 1), marks
    jobs.check_phases(tables, Forward=1, Backward=1, Optimization=1, Dataloader=1)


@test("the C API by --op, as often as mx.profiler counts it")
def c_api(case):
    _, api = jobs.profile(case)
    job = jobs.train(case)
    tool = case.tool("-p", job.pid, "--record", f"2:{2 + jobs.STEPS}", "--no-prune", "--no-trace", "--op",
                     "libmxnet.so:MX*").done()
    assert tool.said("capture.functions-shown-already"), tool.err
    seen = {row["name"]: row for row in tool.report()["operator"]["rows"] if row["name"].startswith("MX")}
    # Python's garbage collector does not free the same in each step.
    both = set(seen) & set(api) - {"MXNDArrayFree"}
    assert {"MXNDArrayGetContext", "MXNDArrayCreateEx", "MXNDArrayGetShapeEx"} <= both, (sorted(seen), api)
    calls = {name: (seen[name]["calls"] / jobs.STEPS, api[name]) for name in both}
    assert all(ours == theirs for ours, theirs in calls.values()), calls
    assert all(row["cpu_total_ns"] > 0 for row in seen.values()), seen
