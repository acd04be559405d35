# SPDX-License-Identifier: BSD-2-Clause
"""Objects of mx.profiler, which work without a running profiler."""
import jobs
from lib.runner import test


@test("tasks, frames, events, counters and markers; steps by a frame")
def annotations(case):
    job = jobs.train(case, "--annotate")
    tables = jobs.record(case, job, "--step-range", "frame")
    user = jobs.names(tables, "userdefined")
    assert {n: r["calls"] for n, r in user.items()} == dict.fromkeys(
        ("frame", "task", "event"), jobs.STEPS), user
    marks = jobs.names(tables, "counters")
    assert marks["counter"]["calls"] == marks["marker"]["calls"] == jobs.STEPS, marks
    # It counts by threes.
    assert marks["counter"]["max"] - marks["counter"]["min"] == 3 * (jobs.STEPS - 1), marks
    jobs.check_phases(tables, Forward=1, Backward=1, Optimization=1, Dataloader=1)
