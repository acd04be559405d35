# SPDX-License-Identifier: BSD-2-Clause
"""Rings that are too small: losses must be counted, and every report must mention them."""
import re
import signal
import time

from lib.runner import test
from lib.tool import row


@test("ring too small: loss is counted, the tables say so")
def too_small(case):
    job, before = case.training("--sleep-ms", 0)
    tool = case.tool("-p", job.pid, "--detail", "inner", "--record-shapes", "--ring-size", 4096,
                     "--no-trace").wait_recording()
    # A reader that sleeps while the job runs on.
    tool.signal(signal.SIGSTOP)
    job.wait_steps(200)
    tool.signal(signal.SIGCONT)
    time.sleep(0.5)
    tool.interrupt().done()
    lost = re.search(r"^events lost: (\d+)", tool.out, re.M)
    assert lost, f"no loss line in: {tool.out[-2000:]}"
    assert int(lost[1]) > 100, lost[0]
    assert row(tool.report(), "cost")["events_lost"] == int(lost[1])
    # The steps' records were lost with the rest, but of the latest 64 not their times: none is as
    # long as all those that were lost.
    steps = tool.report("--table", "steps")["steps"]["rows"]
    assert len(steps) > 60 and max(step["of_median_percent"] for step in steps) < 3000, steps
    before.check()
    job.wait_steps(5)


@test("ring of the usual size: nothing is lost while the reader sleeps a little")
def usual(case):
    job, before = case.training("--sleep-ms", 0)
    tool = case.tool("-p", job.pid, "--detail", "inner", "--no-trace").wait_recording()
    tool.signal(signal.SIGSTOP)
    job.wait_steps(100)
    tool.signal(signal.SIGCONT)
    tool.interrupt().done()
    assert "events lost: 0" in tool.out, tool.out[-2000:]
    steps = row(tool.report(), "summary")["steps"]
    assert steps >= 98, steps  # the first and the last are cut by the window
    before.check()


@test("ring sizes that cannot be are refused")
def impossible(case):
    job, before = case.training()
    for size, key in (("0", "cli.option-value-small"), ("100", "cli.option-value-small"), ("lots", "cli.option-value-invalid"),
                      ("4611686018427387904", "cli.option-value-large")):
        case.tool("-p", job.pid, "--ring-size", size, "--record", "0:1").fails(key, "ring-size")
    before.check(0)
