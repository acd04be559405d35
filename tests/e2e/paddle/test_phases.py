# SPDX-License-Identifier: BSD-2-Clause
"""How long each phase lasts, by the job's own clock."""
import bisect
import json
import signal

import job
from lib import evaluation, phase_times
from lib.process import wait_for
from lib.runner import test


@test("phases last as long as the job says")
def phases(case):
    train = job.start(case, "phases_of.py", "paddle").wait_steps(10)
    phase_times.check(case, train, lock_is_forward=True)


@test("phases of a job that clips its gradients, by their norm and by value")
def clipped(case):
    for how in ("norm", "value"):
        train = job.start(case, "phases_of.py", "paddle", "--clip", how).wait_steps(10)
        phase_times.check(case, train, lock_is_forward=True)
        train.stop()


@test("evaluation: the ask that ends an epoch is no step")
def evaluate(case):
    evaluation.check(case, job.start(case, "evaluate_of.py", "paddle").wait_steps(10))


@test("the ask that ends an epoch ends where its exception is caught, not with the next epoch's")
def epoch_end(case):
    train, _ = job.train(case, "--workers", 2, "--epoch-ms", 300)
    tool = case.tool("-p", train.pid, "--record", "2:90", "--detail", "phase", "--no-trace").done()
    tables = tool.report()
    model = {row["name"]: row for row in tables["model"]["rows"]}
    assert tables["summary"]["rows"][0]["steps"] == 88, tables["summary"]
    assert model["Dataloader"]["calls"] > 88, "no epoch ended"
    assert model["Dataloader"]["cpu_max_ns"] < 300e6 < model["ProfileStep"]["cpu_max_ns"], model


def phase_of(operator):
    plain = operator.removeprefix("pd_op.").rstrip("_")
    return "Backward" if plain.endswith("_grad") else "Optimization" if plain == "adam" else None


def phases_of(begin, operators):
    """ns of each phase of a program's run: of the operators of one kind up to those of the next; updates while another
    thread computes a gradient are of its phase."""
    marks, gradients_end = [], 0
    for name, start, end in sorted(operators, key=lambda operator: operator[1]):
        phase = phase_of(name)
        if phase == "Backward":
            gradients_end = max(gradients_end, end)
        if phase == "Backward" or phase and start >= gradients_end:
            marks.append((phase, start, end))
    sums = {"Forward": marks[0][1] - begin, "Backward": 0, "Optimization": 0}
    changes = [i for i in range(len(marks)) if not i or marks[i][0] != marks[i - 1][0]]
    for first, behind in zip(changes, [*changes[1:], len(marks)]):
        end = max(end for _, _, end in marks[first:behind])
        if behind < len(marks):
            end = min(end, marks[behind][1])
        sums[marks[first][0]] += end - marks[first][1]
    return sums


@test("static: phases of a program by its operators, as long as paddle.profiler's events of the same steps")
def static(case):
    train, path = job.train(case, "--mode", "static", "--profile-on")
    train.signal(signal.SIGUSR1)
    tool = case.tool("-p", train.pid, "--record", "2:42", "--no-prune").done()
    train.signal(signal.SIGUSR1)
    wait_for(path.exists, 90, "paddle.profiler")
    events = sorted(json.loads(path.read_text()), key=lambda event: event[1])
    runs = [event for event in events if event[0] == "StandaloneExecutor::run"]
    ours, theirs = {}, {}
    shift = next(e for e in tool.events() if e["type"] == "recording")["wall_offset_ns"]
    steps = [e for e in tool.events() if e["type"] == "step"]
    for step in steps:
        _, begin, end = runs[bisect.bisect([b for _, b, _ in runs], step["ts_ns"] + shift + step["dur_ns"] // 2) - 1]
        operators = [e for e in events if e[0] != runs[0][0] and begin <= e[1] < end]
        for phase, ns in phases_of(begin, operators).items():
            theirs[phase] = theirs.get(phase, 0) + ns / len(steps)
    model = {row["name"]: row for row in tool.report()["model"]["rows"]}
    for phase, ns in theirs.items():
        ours[phase] = model[phase]["cpu_total_ns"] / len(steps)
    print({phase: (ours[phase] / 1e3, theirs[phase] / 1e3) for phase in theirs})
    assert len(steps) == 40 and [model[phase]["calls"] for phase in theirs] == 3 * [40], model
    for phase in ("Forward", "Backward"):
        assert abs(ours[phase] / theirs[phase] - 1) < 0.05, (ours, theirs)
    # A phase of some 0.2 ms, in up to three pieces.
    assert abs(ours["Optimization"] - theirs["Optimization"]) < 0.05 * theirs["Optimization"] + 20e3, (ours, theirs)
