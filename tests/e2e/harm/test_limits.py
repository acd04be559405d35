# SPDX-License-Identifier: BSD-2-Clause
"""Descriptors: their usual limit is enough, and watching for long does not use them up."""
from lib import process
from lib.runner import test
from lib.tool import row


@test("descriptors do not grow with the workers that come and go")
def workers(case):
    job, _ = case.training("--workers", 2, "--samples", 96, "--sleep-ms", 1)
    tool = case.tool("-p", job.pid, "--detail", "inner", "--no-trace").wait_recording()
    job.wait_steps(300)  # 50 epochs
    held = len(process.descriptors(tool.pid))
    # Some 14 links for each of 3 processes that live and at most 16 that have ended.
    assert held < 400, f"{held} descriptors"
    tool.interrupt().done()
    job.wait_steps(7)
    assert not process.changed_text(job.pid)


@test("the usual limit of descriptors is enough for probes attached one by one")
def one_by_one(case):
    job, before = case.training()
    tool = case.tool("-p", job.pid, "--attach-method", "perf", "--detail", "phase",
                     "--record", "0:2", "--no-trace",
                     wrap=["bash", "-c", 'ulimit -S -n 48; exec "$0" "$@"'])
    assert row(tool.done(120).report(), "summary")["steps"] == 2
    before.check(0)
