# SPDX-License-Identifier: BSD-2-Clause
"""A tool in the job that subscribes to CUPTI, which takes one subscriber."""
import re
import signal

from gpu import BUILD, LONG_S, GpuJob, end, notes, record
from lib import process
from lib.runner import test


def subscribe(job):
    job.popen.send_signal(signal.SIGUSR1)
    process.wait_for(lambda: "subscribed" in job.out(), LONG_S, "the subscription")
    assert "subscribed 0" in job.out(), job.out()


def end_called(job):
    end(job)
    assert int(re.search(r"called (\d+)", job.out())[1]) > 50, job.out()


@test("another tool subscribes in the window: it is not refused, and device times end there")
def within(case):
    job = GpuJob(case, BUILD / "subscribes")
    tool = record(case, job, "--duration", "4s").wait_recording(LONG_S)
    process.wait_for(job.holds_cupti, LONG_S, "the library")
    subscribe(job)
    tool.done(LONG_S)
    assert "another tool began" in notes(tool), notes(tool)
    end_called(job)


@test("another tool subscribes after the window, and is left alone by the next one")
def after(case):
    job = GpuJob(case, BUILD / "subscribes")
    record(case, job).done(LONG_S)
    job.wait_parked()
    subscribe(job)
    tool = record(case, job).done(LONG_S)
    assert "no device times" in notes(tool), notes(tool)
    end_called(job)
