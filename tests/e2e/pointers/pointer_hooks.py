# SPDX-License-Identifier: BSD-2-Clause
"""Jobs whose functions are seen through pointers, and the places of their memory that point to the library."""
import pathlib
import re
import signal

from gpu import LONG_S, PYTHON, GpuJob
from lib import astray, process
from lib.astray import seen

JOB = pathlib.Path(__file__).with_name("job.py")

PERIOD = 40  # steps


def start(case, part="alike", period=PERIOD, python=PYTHON, **settings):
    # The device's work is not compared here, because there is much of it.
    return GpuJob(case, JOB, part, period, python=python, SIMGPU_TRUTH_API="0", **settings)


def losses(job):
    return re.findall(r"^step \d+ (\S+)$", job.out(), re.MULTILINE)


def wait_steps(job, more=20):
    want = job.made.look() + more
    process.wait_for(lambda: job.made.look() >= want or job.popen.poll() is not None, LONG_S,
                     "more steps")
    assert job.popen.poll() is None, f"the job ended with {job.popen.poll()}: {job.err()}"


def record(case, job, *options, window="2:10"):
    return case.tool("-v", "-p", job.pid, "--record", window, "--no-trace", "--no-progress", *options)


def record_on(case, job):
    """A window that stays open, in which functions are seen through pointers, however long steps are."""
    tool = record(case, job, "--max-overhead", "0.01%", window="0:1000000000").wait_recording(LONG_S)
    seen(tool)
    assert astray.led_astray(job.pid), "no pointer leads to the library: the test looks in the wrong places"
    wait_steps(job)
    return tool


def end(job):
    """The job must have done all its work."""
    job.popen.send_signal(signal.SIGTERM)
    assert job.popen.wait(LONG_S) == 0, job.err()
    said = [line for line in job.err().splitlines() if not line.startswith("USDT:")]  # torch.profiler
    assert not said, said
    check_losses(job)


def check_losses(job):
    """The losses must be those of the job alone, in each period and to the last bit."""
    all_ = losses(job)
    assert len(all_) > 2 * PERIOD and len(set(all_[:PERIOD])) > PERIOD / 2, len(all_)
    for i, loss in enumerate(all_):
        assert loss == all_[i % PERIOD], f"the loss of step {i} is another than before proftrace came"


class Data(astray.Data):
    """The same for a job that goes on."""

    def __init__(self, job):
        wait_steps(job, PERIOD)
        super().__init__(job.pid)
        self.job = job

    def check(self):
        super().check()
        wait_steps(self.job)
