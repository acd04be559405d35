# SPDX-License-Identifier: BSD-2-Clause
"""Errors raised and caught under every probe."""
import threading

import jobs
from lib.runner import test

STEPS, ERRORS = 800, 60  # in each step, a third of each kind: one is a backward pass without a graph
LOCK = threading.Lock()
ALONE = {}


def start(case):
    return jobs.start(case, "--raise", ERRORS, "--steps", STEPS)


def alone(case):
    """Returns the job's output without proftrace."""
    with LOCK:
        if not ALONE:
            job = start(case)
            assert job.wait(100) == 0, job.err.read_text()
            ALONE["out"] = job.output()
    return ALONE["out"]


def raise_under(case, *options):
    want = alone(case)
    job = start(case).wait_steps(1)
    tool = case.tool("-p", job.pid, "--duration", "60s", "--no-trace", "--no-report", *options)
    status = job.wait(100)
    tool.done()
    assert status == 0, f"the job ended with {status}: {job.err.read_text()}"
    assert job.output() == want, f"printed {job.output()} instead of {want}"
    return sum(e["type"] == "span" and e.get("category") == "backward" for e in tool.events())


@test("errors caught at the default detail")
def operator(case):
    seen = raise_under(case)
    assert seen > 1000, seen


@test("errors caught at --detail inner, with allocations")
def inner(case):
    seen = raise_under(case, "--detail", "inner", "--profile-memory")
    assert seen > 1000, seen
