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


def rows_of(job, api):
    """Returns which thread made this call of CUPTI, and its arguments."""
    return [(r[7], r[-1].split()[1]) for r in job.truth()
            if r[0] == "cupti" and r[-1].startswith(api + " ")]


@test("a tool that asks the loader for CUPTI's functions, unnoticed at first: what it enabled stays on")
def asks_the_loader(case):
    job = GpuJob(case, BUILD / "subscribes")
    tool = record(case, job, "--duration", "100s").wait_recording(LONG_S)
    process.wait_for(job.holds_cupti, LONG_S, "the library")
    # The library waits five seconds for it.
    tool.popen.send_signal(signal.SIGSTOP)
    job.popen.send_signal(signal.SIGUSR2)
    process.wait_for(lambda: "records" in job.out(), LONG_S, "the tool")
    assert "records 0" in job.out(), job.out()
    tool.popen.send_signal(signal.SIGCONT)
    process.wait_for(lambda: tool.said("capture.device-times-end"), LONG_S, "proftrace to notice")
    tool.interrupt().done(LONG_S)
    job.wait_progress()
    job.popen.send_signal(signal.SIGTERM)
    assert job.popen.wait(LONG_S) == 0, job.err()
    assert int(re.search(r"recorded (\d+)", job.out())[1]) > 10, job.out()
    library = rows_of(job, "cuptiSubscribe")[0][0]
    theirs = {kind for tid, kind in rows_of(job, "cuptiActivityEnable") if tid != library}
    ended = {kind for tid, kind in rows_of(job, "cuptiActivityDisable") if tid == library}
    assert len(theirs) == 2 and ended and not theirs & ended, (theirs, ended)


def records_alone(case, program):
    """A tool in the job records and has never subscribed; beside it proftrace, twice. The job, and how many
    of the device's sets the tool was told of, and how many there were."""
    job = GpuJob(case, BUILD / program)
    job.popen.send_signal(signal.SIGUSR2)
    process.wait_for(lambda: "records 0" in job.out(), LONG_S, "the tool")
    begun = sum(r[0] == "memset" for r in job.truth())
    for _ in range(2):
        tool = record(case, job).done(LONG_S)
        assert "another tool uses CUPTI in it" in notes(tool), notes(tool)
    job.popen.send_signal(signal.SIGTERM)
    assert job.popen.wait(LONG_S) == 0, job.err()
    sets = sum(r[0] == "memset" for r in job.truth()) - begun
    return job, int(re.search(r"recorded (\d+)", job.out())[1]), sets


def is_left_alone(job, recorded, sets):
    assert recorded >= sets > 100, (recorded, sets)
    assert len(rows_of(job, "cuptiActivityRegisterCallbacks")) == 1
    assert not [r for r in job.truth() if r[0] == "misuse"]


@test("a tool that records without a subscription, before us: CUPTI's functions are its own")
def without_subscription(case):
    is_left_alone(*records_alone(case, "subscribes"))


@test("such a tool, built without stubs for its calls: the same")
def without_subscription_or_stubs(case):
    is_left_alone(*records_alone(case, "subscribes-no-plt"))
