# SPDX-License-Identifier: BSD-2-Clause
"""gluon's DataLoader, which is written in Python: each batch is compared with the job's own measurement of next()."""

import jobs
from lib.breakpoints import PLACES, Breakpoints, free_places
from lib.job import ENV, PYTHON, WORKLOADS
from lib.process import threads
from lib.runner import test

SHORT = ("--samples", 5 * 16)  # epochs of five batches
NAME = "DataLoader.__iter__"


def spans(rows, category):
    """Begins and ends, in order."""
    return sorted((r["ts_ns"], r["ts_ns"] + r["dur_ns"]) for r in rows
                  if r["type"] == "span" and r.get("category") == category)


def own_loads(job):
    """Returns the job's own loads in the same form."""
    words = (line.split() for line in job.log.read_text().splitlines())
    return [(int(w[1]), int(w[1]) + int(w[2])) for w in words if w[0] == "load"]


def is_in(inner, outer):
    return outer[0] <= inner[0] and inner[1] <= outer[1]


def record(case, *args):
    """Records a job that notes its loads. Returns the tables, the rows, and the job's loads in the window."""
    job = jobs.train(case, "--note-loads", *args)
    tool = case.tool("-p", job.pid, "--record", f"2:{2 + jobs.STEPS}").done()
    job.wait_steps(3)
    assert free_places(job.pid) == PLACES, "data breakpoints were left behind"
    tables, rows = tool.report(), tool.events()
    summary = tables["summary"]["rows"][0]
    assert summary["steps"] == jobs.STEPS and summary["step_rule"].startswith("DataLoader: ")
    assert tables["cost"]["rows"][0]["events_lost"] == 0, tables["cost"]
    steps = [(r["ts_ns"], r["ts_ns"] + r["dur_ns"]) for r in rows if r["type"] == "step"]
    window = min(steps)[0], max(steps)[1]
    # A step opens inside the job's first one.
    return tables, rows, [load for load in own_loads(job) if window[0] < load[1] <= window[1]]


def check(tables, rows, theirs, epoch_ends=1):
    """Each of the job's loads must be one Dataloader of the job's length, plus 20 us for each breakpoint."""
    check_calls(tables, rows, theirs, epoch_ends)
    own_s = sum(end - begin for begin, end in theirs) / jobs.STEPS / 1e9
    cost_s = jobs.names(tables, "perf")["reader_cost"]["avg"]
    print(f"reader_cost {cost_s * 1e6:.1f} us, the job's own {own_s * 1e6:.1f} us")
    # Within 3 % on a quiet machine. If other processes run, a switch to the job after the batch adds to the load.
    assert abs(cost_s - own_s) <= max(0.1 * own_s, 50e-6), (cost_s, own_s)


def check_calls(tables, rows, theirs, epoch_ends=1):
    ours = spans(rows, "dataloader")
    assert len(ours) == len(theirs) == jobs.STEPS and all(map(is_in, ours, theirs)), (ours, theirs)
    jobs.check_phases(tables, Forward=1, Backward=1, Optimization=1, Dataloader=1)
    begins = [r["ts_ns"] for r in rows if r["type"] == "step"]
    # The request at an epoch's end finds no batch. It opens the next epoch's first step.
    late = [begin for begin, (at, _) in zip(begins, ours) if at != begin]
    assert len(late) <= epoch_ends and begins[0] <= ours[0][0], (begins, ours)
    names = {r["name"] for r in rows if r.get("category") == "dataloader"}
    assert names == {NAME}, names


@test("data loader in the job's process")
def own_process(case):
    check(*record(case, "--decode-us", 150))


@test("data loader with 2 processes")
def processes(case):
    check(*record(case, "--workers", 2, "--decode-us", 400))


@test("data loader with 2 threads")
def pool(case):
    # After it has the batch, the job releases the interpreter's lock. That time is not the loader's.
    check_calls(*record(case, "--workers", 2, "--threads"))


@test("data loader at the end of an epoch")
def epochs(case):
    for workers, decode_us in ((0, 150), (2, 400)):
        tables, rows, theirs = record(case, "--workers", workers, "--decode-us", decode_us, *SHORT)
        assert len(theirs) > 5, theirs
        check(tables, rows, theirs, epoch_ends=2)


@test("data loader that validates between two batches")
def validation(case):
    _, rows, theirs = record(case, "--validate")
    ours = spans(rows, "dataloader")
    training = [span for span in ours if any(is_in(span, load) for load in theirs)]
    assert len(training) == len(theirs), (ours, theirs)
    # Two batches after each fifth step. The request that ends an epoch gets none.
    assert len(ours) - len(training) in (2, 4), (ours, theirs)
    others = spans(rows, "forward") + spans(rows, "backward")
    apart = all(a[1] <= b[0] or b[1] <= a[0] for a in ours for b in others)
    assert apart, (ours, others)


@test("data loader that is asked before the optimizer's step: that is of the step of its backward pass")
def early(case):
    job = jobs.train(case, "--ask-early")
    tool = case.tool("-p", job.pid, "--record", f"2:{2 + jobs.STEPS}").done()
    tables, rows = tool.report(), tool.events()
    rule = tables["summary"]["rows"][0]["step_rule"]
    assert rule.startswith("forward pass: ") and "before the optimizer step" in rule, rule
    jobs.check_phases(tables, Forward=1, Backward=1, Optimization=1, Dataloader=1)
    order = [category for _, category in
             sorted((r["ts_ns"], r["category"]) for r in rows if r["type"] == "span"
                    and r.get("category") in ("forward", "backward", "dataloader", "optimizer"))]
    assert order == ["forward", "backward", "dataloader", "optimizer"] * jobs.STEPS, order


@test("two passes with each batch: each is a step, and the step rule does not say that the loader opens them all")
def two_passes(case):
    job = jobs.train(case, "--passes", 2)
    tool = case.tool("-p", job.pid, "--record", f"2:{2 + jobs.STEPS}").done()
    tables = tool.report()
    rule = tables["summary"]["rows"][0]["step_rule"]
    assert "of several backward passes with one batch each is a step" in rule, rule
    jobs.check_phases(tables, Forward=1, Backward=1, Optimization=1, Dataloader=0.5)


@test("data loader: the job computes what it computes alone")
def same(case):
    args = ("--workers", 2, "--steps", 700, *SHORT)
    alone = jobs.start(case, *args)
    assert alone.wait(100) == 0, alone.err.read_text()
    job = jobs.start(case, "--note-loads", *args).wait_steps(1)
    tool = case.tool("-p", job.pid, "--duration", "60s", "--no-trace", "--no-report")
    status = job.wait(100)
    tool.done()
    assert status == 0, f"the job ended with {status}: {job.err.read_text()}"
    assert job.output() == alone.output(), (job.output(), alone.output())
    seen = spans(tool.events(), "dataloader")
    theirs = [load for load in own_loads(job) if seen[0][0] <= load[0]]
    assert len(seen) > 20 and 0 <= len(seen) - len(theirs) <= 1, (len(seen), len(theirs))


@test("data loader of a job that `run` starts: its class comes after the library")
def started(case):
    tool = case.tool("run", "--record", f"2:{2 + jobs.STEPS}", "--", PYTHON,
                     WORKLOADS / "mx_train.py", "--steps", 1500, env=dict(ENV)).done(120)
    jobs.check_phases(tool.report(), Forward=1, Backward=1, Optimization=1, Dataloader=1)


@test("data loader: a debugger has the data breakpoints")
def taken(case):
    job = jobs.train(case)
    debugger = Breakpoints(job.pid)
    case.finally_(debugger.close)
    assert len(debugger.fds) == PLACES, debugger.fds
    tool = case.tool("-p", job.pid, "--record", f"2:{2 + jobs.STEPS}").done()
    assert tool.said("capture.python-functions-missing", "another tool uses the processor's breakpoints"), tool.err
    tables = tool.report()
    jobs.check_phases(tables, Forward=1, Backward=1, Optimization=1)
    assert "data breakpoints cannot be had" in str(tables), tables.keys()


@test("data breakpoints are on the threads that Python knows, not on the engine's")
def watched(case):
    pool_and_main = 2 + 3 + 1  # three handle the pool's tasks
    for args, expected in (((), 1), (("--workers", 2, "--threads"), pool_and_main)):
        job = jobs.train(case, *args)
        tool = case.tool("-p", job.pid, "--duration", "60s").wait_recording()
        job.wait_steps(3)
        taken = [tid for tid in threads(job.pid) if free_places(tid) < PLACES]
        tool.interrupt()
        assert len(taken) == expected < len(threads(job.pid)), (taken, threads(job.pid))


@test("doctor tells of data breakpoints")
def doctor(case):
    out = case.tool("doctor", "-p", jobs.train(case).pid).done().out
    assert "4 data breakpoints" in out and "not found: Python" not in out, out
