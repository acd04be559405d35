# SPDX-License-Identifier: BSD-2-Clause
"""Tests how steps are numbered, and what that costs the job."""
import bisect
import re
import signal

import job
from lib.breakpoints import Breakpoints
from lib.process import changed_text, wait_for
from lib.runner import test
from lib.tool import distance, events


def probes(train):
    return sum("libpaddle" in path for path, *_ in changed_text(train.pid))


@test("windows far apart: backward passes tell of the steps between them, not each update")
def far_apart(case):
    for closed, *how in (1500,), (3000, "--no-loader"):
        train, _ = job.train(case, *how)
        tool = case.tool("-p", train.pid, "--schedule", f"closed={closed},record=4,repeat=2", "--detail", "phase",
                         "--verbose")
        wait_for(lambda: "backward passes tell of steps" in tool.err, 60, "so many steps")
        # Probes of the loader and the backward pass. Optimizers would have twenty more.
        wait_for(lambda: probes(train) <= 12, 10, "the end of the updates' probes")
        tool.done(timeout_s=120)
        assert len(tool.recordings()) == 2, tool.recordings()
        distances = {distance(train, r) for r in tool.recordings()}
        assert len(distances) == 1, (how, distances)
        rule = tool.report()["summary"]["rows"][0]["step_rule"]
        assert "each backward pass is taken for a step's" in rule, rule
        train.stop()


UPDATES = 8  # a step: one for each parameter


def told_by(case, train, breakpoints_taken):
    debugger = Breakpoints(train.pid, breakpoints_taken)
    case.finally_(debugger.close)
    tool = case.tool("-p", train.pid, "--record", "2:10", "--detail", "phase", "--verbose").done()
    tables = tool.report()
    debugger.close()
    assert "not shown" not in tool.err, tool.err
    tries = re.findall(r"step was seen (\d+) times in (\d+) steps .*, (\d+) operators outside", tool.err)
    print(tries)
    assert {r["name"]: r["calls"] for r in tables["model"]["rows"]}["Optimization"] == 8, tables["model"]
    print("hits a step:", tables["cost"]["rows"][0]["hits_per_step"])
    return tables["cost"]["rows"][0]["hits_per_step"]


@test("an optimizer's step is told by no_grad around it, whoever has the data breakpoints")
def optimizer(case):
    train, _ = job.train(case, "--no-loader")
    # Includes the backward pass, and another function without gradients inside.
    assert told_by(case, train, 0) <= 6
    if job.FRAMES_HAVE_FUNCTIONS:
        assert told_by(case, train, 2) <= 6


@test("where nothing is around it, it is told by its function, or by each update where no data breakpoint is left")
def bare_step(case):
    train, _ = job.train(case, "--no-loader", "--bare-step")
    assert told_by(case, train, 0) <= 4  # with the backward pass
    assert told_by(case, train, 2) >= UPDATES


@test("an optimizer that turns gradients off for each update: its step is told by its function")
def off_for_each(case):
    train, _ = job.train(case, "--no-loader", "--optimizer", "SGD")
    assert told_by(case, train, 0) <= 4


@test("an optimizer's step that raises ends there")
def raising(case):
    train, _ = job.train(case, "--no-loader", "--failing")
    tool = case.tool("-p", train.pid, "--record", "2:10", "--detail", "phase", "--verbose").done()
    assert ("around it is" in tool.err) == job.FRAMES_HAVE_FUNCTIONS, tool.err
    model = {r["name"]: r for r in tool.report()["model"]["rows"]}
    assert model["Optimization"]["calls"] == 12, model  # the optimizers of four steps that raised count too
    assert model["ProfileStep"]["calls"] == 8, model


@test("optimizers of two classes: each update tells")
def two_optimizers(case):
    train, _ = job.train(case, "--no-loader", "--two-optimizers")
    assert told_by(case, train, 0) >= UPDATES


@test("gradients are accumulated from some step on: what was counted by backward passes is doubted")
def accumulated(case):
    train, _ = job.train(case, "--no-loader")
    tool = case.tool("-p", train.pid, "--record", "4000:4004", "--detail", "phase", "--verbose")
    wait_for(lambda: "backward passes tell of steps" in tool.err, 60, "so many steps")
    train.signal(signal.SIGUSR2)
    tool.done(timeout_s=120)
    assert tool.said("capture.step-number-uncertain", "not all steps have one backward pass"), tool.err
    rule = tool.report()["summary"]["rows"][0]["step_rule"]
    assert rule.endswith("step numbers may be wrong"), rule


def ahead(recording, ends, updated):
    """Returns how far the number of the first step is ahead of the job's count of updates."""
    first = next(e for e in events(recording) if e["type"] == "step")
    return first["step"] - updated(bisect.bisect_left(ends, first["ts_ns"]))


def check_left_out(case, closed, repeat, *how):
    """The job leaves out one update in 16. Its windows are far apart."""
    train, _ = job.train(case, "--no-loader", "--skip-every", 16, *how)
    tool = case.tool("-p", train.pid, "--schedule", f"closed={closed},record=4,repeat={repeat}",
                     "--detail", "phase", "--verbose").done(timeout_s=120)
    assert "between windows" in tool.err and "tell of steps" not in tool.err, tool.err
    ends = train.step_ends()
    made = [ahead(r, ends, lambda begun: begun + 1 - (begun + 1) // 16) for r in tool.recordings()]
    assert len(made) == repeat and len(set(made)) == 1, made


@test("updates that are left out now and then are no steps, far from a window either")
def left_out(case):
    check_left_out(case, 3000, 2)


@test("a step of the optimizer that is under way when its probe comes is counted")
def under_way(case):
    check_left_out(case, 200, 3, "--clip-ms", 20)  # nearly always
    check_left_out(case, 200, 3, "--clip-ms", 20, "--bare-step")
