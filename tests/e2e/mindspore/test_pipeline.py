# SPDX-License-Identifier: BSD-2-Clause
"""Compares the data pipeline with MindSpore's own sampling of its queues, for the same job."""
import json

import jobs
from lib.job import Harmed
from lib.runner import test

OPERATIONS = ["BatchOp(ID:0)", "MapOp(ID:1)", "GeneratorOp(ID:2)"]
WINDOW = 30
BATCH = 8


def ended(job):
    if job.wait(120) != 0:
        raise Harmed(f"the job ended with {job.poll()}: {job.err.read_text()}")
    return {key: int(n) for key, n in (word.split("=") for word in job.output().split())}


def record(case, job):
    """The rows of the table, by operation."""
    tool = case.tool("-p", job.pid, "--record", f"2:{2 + WINDOW}", "--detail", "inner")
    tables = tool.done(timeout_s=100).report("--table", "summary,pipeline,cost")
    assert tables["summary"]["rows"][0]["steps"] == WINDOW, tables["summary"]
    assert tables["cost"]["rows"][0]["events_lost"] == 0, tables["cost"]
    rows = tables["pipeline"]["rows"]
    assert [row["name"] for row in rows] == OPERATIONS, rows
    return dict(zip(("batch", "map", "generator"), rows))


def own_numbers(case, ours):
    """Their names and capacities are ours; how full each queue was is given back, 0 to 1."""
    told = json.loads((case.dir / "theirs/pipeline_profiling_0.json").read_text())["op_info"]
    full = []
    for theirs, row in zip(sorted(told, key=lambda o: o["op_id"]), ours.values()):
        queue = theirs["metrics"]["output_queue"]
        assert f"{theirs['op_type']}(ID:{theirs['op_id']})" == row["name"], (theirs, row)
        assert queue["length"] == row["queue_capacity"], (theirs, row)
        full.append(sum(queue["size"]) / len(queue["size"]) / queue["length"])
    return full


def compare(case, slow, workers, steps):
    (case.dir / "theirs").mkdir()
    job = jobs.start(case, "--slow", slow, "--workers", workers, "--steps", steps, "--profile",
                     case.dir / "theirs", workload="ms_pipeline.py").wait_steps(20, timeout_s=120)
    ours = record(case, job)
    told = ended(job)
    for theirs, row in zip(own_numbers(case, ours), ours.values()):
        assert abs(theirs - row["queue_avg"] / row["queue_capacity"]) < 0.25, (theirs, ours)
    assert ours["batch"]["rows"] == WINDOW, ours
    # So many batches may be ready when the window opens, and none when it closes.
    spare = (ours["batch"]["queue_capacity"] + 2 * workers + 1) * BATCH
    assert abs(ours["map"]["calls"] - WINDOW * BATCH) <= spare, ours
    assert abs(ours["generator"]["calls"] - ours["map"]["calls"]) <= spare, ours
    return ours, told


@test("data pipeline: a slow function, two threads: what it takes, who waits for it")
def slow_function(case):
    ours, told = compare(case, "function", 2, 1200)
    assert 0.8 * told["row_ns"] < ours["map"]["own_avg_ns"] < 1.5 * told["row_ns"], (told, ours)
    window_ns = WINDOW * BATCH * told["row_ns"] / 2
    assert ours["map"]["queue_empty_percent"] > 50, ours
    assert ours["map"]["empty_wait_ns"] > window_ns / 2, ours
    assert ours["generator"]["queue_empty_percent"] < 10, ours
    assert ours["generator"]["full_wait_ns"] > window_ns / 2, ours
    assert ours["map"]["full_wait_ns"] < window_ns / 10, ours


@test("data pipeline: a slow program, one thread: every queue is full")
def slow_program(case):
    ours, _ = compare(case, "program", 1, 300)
    for row in ours.values():
        assert row["queue_max"] == row["queue_capacity"], row
        assert row["queue_empty_percent"] < 10, row
        assert row["full_wait_ns"] > 10 * row["empty_wait_ns"], row
        assert row["own_total_ns"] > 0, row


@test("data pipeline: a function that raises 1000 times, under its probes")
def raising(case):
    job = jobs.start(case, "--errors", "--steps", 600, workload="ms_pipeline.py")
    job.wait_steps(5, timeout_s=120)
    tool = case.tool("-p", job.pid, "--duration", "100s", "--detail", "inner")
    told = ended(job)
    assert told["raised"] >= 1000, told
    tool.done(timeout_s=100)
    assert [row["name"] for row in tool.report("--table", "pipeline")["pipeline"]["rows"]] == \
        OPERATIONS
