# SPDX-License-Identifier: BSD-2-Clause
"""A job must compute the same with proftrace as without, and be unchanged afterwards."""
import time

from lib import process
from lib.job import fast_step_ns
from lib.runner import test
from lib.tool import row

STEPS = 1500


def losses(job):
    assert job.wait(120) == 0, job.err.read_text()
    words = job.output().split()
    assert words[0] == "losses" and len(words) == STEPS + 1, job.output()[:100]
    return words


@test("the same losses, bit by bit, with and without proftrace")
def result(case):
    want = losses(case.job("mlp_train.py", "--steps", STEPS, "--sleep-ms", 0))
    job = case.job("mlp_train.py", "--steps", STEPS, "--sleep-ms", 8).wait_steps(5)
    for options in (["--detail", "phase"], ["--no-prune"],
                    ["--detail", "inner", "--record-shapes", "--profile-memory"]):
        tool = case.tool("-p", job.pid, "--record", "0:20", "--no-trace", *options).done()
        assert row(tool.report(), "summary")["steps"] == 20
    assert job.poll() is None, "the job ended before it was watched at each level"
    assert losses(job) == want, "the losses differ"


@test("after detach: no probe, same threads, descriptors and mappings, at each level")
def afterwards(case):
    job, before = case.training()
    for options in (["--detail", "phase"], [], ["--detail", "inner"],
                    ["--detail", "inner", "--record-shapes", "--profile-memory"],
                    ["--attach-method", "perf", "--detail", "phase"]):
        tool = case.tool("-p", job.pid, "--record", "0:2", "--no-trace", *options)
        process.wait_for(lambda: process.is_probed(job.pid) or tool.popen.poll() is not None, 60,
                         "the probes")
        tool.done()
        # Everything must be done when proftrace exits, so there is no waiting here.
        before.check(0)


@test("after detach: the same step time", alone=True)
def speed(case):
    job, before = case.training("--sleep-ms", 0)
    ratios = []
    for _ in range(3):
        untouched = fast_step_ns(job, 300)
        case.tool("-p", job.pid, "--record", "0:5", "--detail", "inner", "--no-trace").done()
        before.check(0)
        time.sleep(0.2)
        ratios.append(fast_step_ns(job, 300) / untouched)
    print("step time after detach / before:", *(f"{r:.3f}" for r in ratios), flush=True)
    # A generous limit, because machines vary. Anything left in the job was found above, byte by byte.
    assert sorted(ratios)[1] < 1.5, ratios
