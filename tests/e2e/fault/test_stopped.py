# SPDX-License-Identifier: BSD-2-Clause
"""proftrace is stopped while it records, with enough room in the ring and with a ring that is full at once. The process
must go on as fast as before, and the losses must be reported."""
import signal
import subprocess
import time

from common import ALL
from lib import process
from lib.runner import test
from lib.tool import PROFTRACE, report, row
from test_killed import Counting

STOPPED_S = 15 if ALL else 3


def steps_of(job):
    """Returns the last complete line of the job's log. The job writes a line every sixteenth step."""
    return int(job.log.read_text().rpartition("\n")[0].rpartition("\n")[2] or 0)


def steps_in(job, seconds):
    before = steps_of(job)
    time.sleep(seconds)
    return steps_of(job) - before


def record_stopped(case, name, *options):
    """Report of a window in most of which proftrace did not run, and steps that the job made while it was stopped."""
    job = Counting(case, name)
    path = case.dir / f"{name}.ptrec"
    tool = subprocess.Popen([PROFTRACE, "-p", str(job.pid), "--duration", f"{STOPPED_S + 4}s", "--no-trace",
                             "--no-report", "-o", path, *options], stderr=subprocess.PIPE, text=True)
    case.finally_(tool.wait)
    case.finally_(tool.kill)
    process.wait_for(lambda: path.exists() and path.stat().st_size > 0, 60, "a recording")
    usual = steps_in(job, 1)
    tool.send_signal(signal.SIGSTOP)
    made = steps_in(job, STOPPED_S)
    tool.send_signal(signal.SIGCONT)
    _, said = tool.communicate(timeout=60)
    assert tool.returncode == 0, said
    assert made > usual * STOPPED_S / 2 / process.PATIENCE, (usual, made)
    assert job.goes_on()
    return report(path), made


@test("proftrace stopped for some seconds: nothing is lost, the steps made meanwhile are there", alone=True)
def stopped(case):
    tables, made = record_stopped(case, "stopped")
    assert row(tables, "cost")["events_lost"] == 0, row(tables, "cost")
    assert row(tables, "summary")["steps"] >= made, (row(tables, "summary"), made)


@test("a ring that is not read and full at once: the process goes on, what was lost is told", alone=True)
def never_read(case):
    tables, made = record_stopped(case, "full", "--ring-size", "4096")
    assert row(tables, "cost")["events_lost"] > 0, (row(tables, "cost"), made)
