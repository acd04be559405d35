# SPDX-License-Identifier: BSD-2-Clause
"""A process that begins to use CUDA when proftrace has looked at it already."""
import signal

from gpu import BUILD, LONG_S, SIM, GpuJob, end, notes
from lib import process
from lib.runner import test
from lib.tool import report, row

STEPS = "--step-probe", "exe:step", "--no-trace", "--no-progress"
NOT_YET = "the process has begun to use CUDA only now"


def job_of(case):
    return GpuJob(case, BUILD / "begins", SIM / "lib/libcuda.so.1")


def record(case, job, schedule, *args):
    return case.tool("-p", job.pid, *STEPS, "--cupti", SIM / "lib/libcupti.so.13", "--schedule", schedule, *args)


def sets(recording):
    return sum(r["calls"] for r in report(recording).get("manipulation", {"rows": []})["rows"])


def record_between(case, *args):
    """Two windows, between which it begins."""
    job = job_of(case)
    tool = record(case, job, "closed=300,record=20,repeat=2", *args).wait_recording(LONG_S)
    process.wait_for(lambda: row(report(tool.recordings()[0]), "summary")["steps"] == 20, LONG_S,
                     "the first window")
    job.popen.send_signal(signal.SIGUSR1)
    tool.done(LONG_S)
    end(job)
    return tool, sorted(tool.recordings(), key=lambda path: len(path.name))


@test("between two windows, with --inject: the second one has device times")
def between(case):
    tool, (first, second) = record_between(case, "--inject")
    assert sets(first) == 0 and sets(second) == 20, (sets(first), sets(second))
    assert NOT_YET not in tool.out and "only now" not in tool.out, tool.out


@test("between two windows: proftrace has given up the right to load its library, and the second one says so")
def between_without(case):
    _, (first, second) = record_between(case)
    assert not sets(first) and not sets(second)
    said = [" ".join(report(recording)["cost"]["notes"]) for recording in (first, second)]
    assert NOT_YET not in said[0] and NOT_YET in said[1], said


@test("in the window: nothing of the device is in it, and that is said")
def within(case):
    job = job_of(case)
    tool = record(case, job, "record=300,repeat=1").wait_recording(LONG_S)
    job.popen.send_signal(signal.SIGUSR1)
    tool.done(LONG_S)
    assert NOT_YET in notes(tool), notes(tool)
    assert not sets(tool.recordings()[0])
    end(job)


@test("a process that makes no calls of CUDA: the library does not wait for one between windows")
def no_calls(case):
    job = job_of(case)
    job.popen.send_signal(signal.SIGUSR1)
    process.wait_for(lambda: any(r[0] == "memset" for r in job.truth()), LONG_S, "the device")
    job.popen.send_signal(signal.SIGUSR2)
    tool = record(case, job, "closed=18,record=5,repeat=3").done(LONG_S)
    assert len(tool.recordings()) == 3
    assert not tool.said("capture.window-late"), tool.err
    end(job)
