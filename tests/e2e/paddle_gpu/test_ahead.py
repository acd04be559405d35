# SPDX-License-Identifier: BSD-2-Clause
"""Jobs that `proftrace run` starts, and hosts far ahead of their devices."""
import os
import re
import signal

from lib import process
from lib.device_truth import STEPS, Truth, check_activities, same
from lib.growing import Count
from lib.job import ENV, WORKLOADS
from lib.runner import test
from test_truth import (MIXED, PYTHON, busy_ns, check_launched, check_owners, check_tables, record, settings, start,
                        truth_of)


@test("static, proftrace run: activities, owners, phases, steps and tables are the truth's")
def run(case):
    log = case.dir / "log"
    log.touch()
    tool = case.tool("run", "--record", f"{STEPS.start}:{STEPS.stop}", "--no-prune", "--no-trace", "--no-progress",
                     "--", PYTHON, WORKLOADS / "paddle_train.py", "--device", "gpu", "--mode", "static", "--log", log,
                     env=dict(ENV, **settings(case)))
    tool.wait_recording()
    process.wait_for(lambda: tool.said("cli.recording-written"), 60, "a recording")
    made = Count(log, "step ")
    want = made.look() + 3
    process.wait_for(lambda: made.look() >= want, 60, "more steps")
    (path,) = case.dir.glob("truth.*")
    os.kill(int(path.suffix[1:]), signal.SIGTERM)
    tool.done()
    events = tool.events()
    truth = Truth(path)
    assert not truth.misuse, truth.misuse
    steps = {e["step"]: (e["ts_ns"], e["ts_ns"] + e["dur_ns"]) for e in events if e["type"] == "step"}
    same(sorted(steps), list(STEPS), "steps")
    rows = list(truth.of(steps))
    check_activities(events, rows)
    check_owners(events, "static")
    check_tables(tool.report("--table", "all", "--row-limit", "0"), rows,
                 sum(end - begin for begin, end in steps.values()), "static", MIXED)


def check_utilization(table, all_rows, steps):
    """The device is busy without a gap. Work that was launched before the window is not recorded."""
    begin, end = min(b for b, _ in steps.values()), max(e for _, e in steps.values())
    (gpu,) = (r["utilization_percent"] for r in table["rows"] if r["device"] == "GPU0")
    (note,) = (n for n in table["notes"] if "not known for the first" in n)
    known = begin + 1e6 * float(re.search(r"the first ([0-9.]+) ms", note)[1])
    if gpu is None:
        assert end - known < (end - begin) / 1000, table
        return
    inside = [dict(r, start_ns=max(known, r["start_ns"]), end_ns=min(end, r["end_ns"])) for r in all_rows
              if r["kind"] == "kernel" and r["start_ns"] < end and known < r["end_ns"]]
    percent = 100 * busy_ns(inside) / (end - known)
    assert abs(gpu - percent) < 0.2, f"GPU0 {gpu} %, the truth has {percent} %"


def check_ahead(case, mode, *args):
    job = start(case, "--mode", mode, "--ahead", *args, SIMGPU_KERNEL_NS="1000000").wait_steps(40)
    tool = record(case, job)
    events = tool.events()
    truth, steps, rows = truth_of(case, job, tool, events)
    lengths = [end - begin for begin, end in steps.values()]
    behind = min(r["start_ns"] - r["submit_ns"] for r in rows if r["kind"] == "kernel") / max(lengths)
    assert behind > 4, f"the device is {behind} steps behind"
    check_activities(events, rows)
    check_owners(events, mode)
    tables = tool.report("--table", "all", "--row-limit", "0")
    check_launched(tables, rows, mode)
    check_utilization(tables["device"], truth.rows, steps)


@test("static, a host many steps ahead of its device: activities, owners, phases and steps are the truth's")
def static(case):
    check_ahead(case, "static")


@test("dygraph, a host many steps ahead of its device: the same")
def dygraph(case):
    check_ahead(case, "dygraph", "--no-loader", "--sum")


@test("to_static, a host many steps ahead of its device: the same")
def to_static(case):
    check_ahead(case, "to_static", "--no-loader", "--sum")
