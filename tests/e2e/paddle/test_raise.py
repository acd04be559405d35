# SPDX-License-Identifier: BSD-2-Clause
"""Errors raised and caught under every probe."""
import signal
import threading

import job
from lib.runner import test
from lib.tool import calls

LOCK = threading.Lock()
COUNT = 1000
KINDS = 13
EXPECTED = {}


def start(case):
    return job.start(case, "paddle_raise.py", "--count", COUNT).wait_steps(3)


def expected(case):
    """Returns the job's output without proftrace."""
    with LOCK:
        if not EXPECTED:
            alone = start(case)
            alone.signal(signal.SIGUSR1)
            assert alone.wait(100) == 0, alone.err.read_text()
            EXPECTED["out"] = alone.output()
            assert EXPECTED["out"].count(f"caught {COUNT}") == KINDS, EXPECTED["out"]
    return EXPECTED["out"]


def raise_under(case, *options):
    want = expected(case)
    running = start(case)
    tool = case.tool("-p", running.pid, "--no-trace", "--no-report", *options).wait_recording()
    running.signal(signal.SIGUSR1)
    status = running.wait(120)
    tool.done()
    assert status == 0, f"the job ended with {status}: {running.err.read_text()}"
    assert running.output() == want, f"printed {running.output()} instead of {want}"
    return tool.report()


@test("errors caught at --detail phase")
def phase(case):
    tables = raise_under(case, "--detail", "phase")
    assert tables["summary"]["rows"][0]["steps"] > COUNT // 100, tables["summary"]


def check_operators(tables):
    for name in ("conv2d dygraph", "add dygraph", "sgd_ dygraph", "pixel_unshuffle dygraph"):
        assert calls(tables, name) >= COUNT, f"{name}: the probes were not there"
    steps = tables["summary"]["rows"][0]["steps"]
    assert calls(tables, "relu dygraph") >= steps - 1, f"{steps} steps, in some of which the probes were not there"
    ranges = {row["name"]: row["calls"] for row in tables["userdefined"]["rows"]}
    assert ranges == {"raises": COUNT}, ranges
    # Without PIR the first run of a program builds the program, with other calls.
    matmul, missed = ("pd_op.matmul", 0) if job.HAS_PIR else ("matmul_v2", 1)
    assert calls(tables, matmul) >= COUNT // 10 - missed, "programs' probes were not there"


@test("errors caught at --detail operator")
def operator(case):
    check_operators(raise_under(case, "--no-prune"))


@test("errors caught at --detail inner with memory")
def inner(case):
    check_operators(raise_under(case, "--detail", "inner", "--profile-memory"))
