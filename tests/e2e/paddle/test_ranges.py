# SPDX-License-Identifier: BSD-2-Clause
"""paddle.profiler.RecordEvent, which calls nothing outside Python while no profiler runs."""
import job
from lib.breakpoints import PLACES, Breakpoints, free_places, slow_copies
from lib.process import Snapshot
from lib.runner import test

STEPS = 8
RANGES = {"load", "训练 step", "forward", "loss", "update"}


def ranges(tables):
    return {row["name"]: row for row in tables["userdefined"]["rows"]}


def record(running, case, *options):
    before = Snapshot(running.pid)
    tool = case.tool("-p", running.pid, "--record", f"2:{2 + STEPS}", *options).done()
    running.wait_steps(3)
    before.check_text()
    assert free_places(running.pid) == PLACES, "data breakpoints were left behind"
    return tool, tool.report()


@test("ranges while the job's profiler is off")
def off(case):
    running, path = job.train(case, "--annotate")
    _, tables = record(running, case)
    rows = ranges(tables)
    assert rows.keys() == RANGES, rows
    # The window opens within the range around the loader, and closes in one.
    assert {name: row["calls"] for name, row in rows.items()} == {
        name: STEPS + (name == "load") for name in RANGES}, rows
    cpu = {name: row["cpu_total_ns"] for name, row in rows.items()}
    assert cpu["loss"] < cpu["forward"] < cpu["训练 step"], cpu
    assert cpu["forward"] + cpu["update"] < cpu["训练 step"], cpu
    theirs = job.profile(running, path).calls("PythonUserDefined")
    assert theirs == dict.fromkeys(RANGES, 1), theirs


@test("ranges at --detail phase are steps by --step-range")
def steps(case):
    running, _ = job.train(case, "--annotate", "--workers", 1)
    _, tables = record(running, case, "--detail", "phase", "--step-range", "forward")
    assert "--step-range" in tables["summary"]["rows"][0]["step_rule"], tables["summary"]
    assert tables["summary"]["rows"][0]["steps"] == STEPS, tables["summary"]
    assert ranges(tables)["forward"]["calls"] == STEPS, tables["userdefined"]


def places_in_window(case, *options):
    """Returns how many places are free while a window is open on a job without ranges, and the messages about that."""
    running, _ = job.train(case)
    tool = case.tool("-p", running.pid, "--record", "2:1000000", "--no-trace", *options)
    tool.wait_recording()
    free = free_places(running.pid)
    tool.interrupt().done()
    return free, "ranges written in Python are not shown" in tool.out


# Frames of CPython 3.10 do not name their function, so one place is for the optimizer's step.
LEFT = PLACES if job.FRAMES_HAVE_FUNCTIONS else PLACES - 1


@test("no data breakpoint waits for ranges that no step has, where it slows down copies")
def uncalled(case):
    slow, seen = slow_copies(), places_in_window(case)
    # On a machine where copies take about twice as long, the tool's own measurement may give either result.
    possible = [(LEFT, True)] * (slow > 1.3) + [(LEFT - 2, False)] * (slow < 3)
    assert seen in possible, (slow, seen)


@test("--no-prune waits for ranges that no step has")
def uncalled_but_wanted(case):
    seen = places_in_window(case, "--no-prune")
    assert seen == (LEFT - 2, False), seen


@test("a debugger has all data breakpoints")
def taken(case):
    running, _ = job.train(case, "--annotate")
    debugger = Breakpoints(running.pid)
    case.finally_(debugger.close)
    assert len(debugger.fds) == PLACES, debugger.fds
    tool = case.tool("-p", running.pid, "--record", f"2:{2 + STEPS}").done()
    assert tool.said("capture.python-functions-missing", "another tool uses the processor's breakpoints"), tool.err
    tables = tool.report()
    assert tables["summary"]["rows"][0]["steps"] == STEPS, tables["summary"]
    assert "userdefined" not in tables or not tables["userdefined"]["rows"], tables["userdefined"]
    assert "data breakpoints cannot be had" in str(tables), tables.keys()


@test("doctor tells of data breakpoints")
def doctor(case):
    running, _ = job.train(case)
    assert "2 data breakpoints" in case.tool("doctor", "-p", running.pid).done().out
