# SPDX-License-Identifier: BSD-2-Clause
"""How long each phase lasts, by the job's own clock."""
import job
from lib import evaluation, phase_times
from lib.runner import test


@test("phases last as long as the job says")
def phases(case):
    phase_times.check(case, job.start(case, "phases_of.py", "paddle").wait_steps(10))


@test("phases of a job that clips its gradients, by their norm and by value")
def clipped(case):
    for how in ("norm", "value"):
        train = job.start(case, "phases_of.py", "paddle", "--clip", how).wait_steps(10)
        phase_times.check(case, train)
        train.stop()


@test("evaluation: the ask that ends an epoch is no step")
def evaluate(case):
    evaluation.check(case, job.start(case, "evaluate_of.py", "paddle").wait_steps(10))


@test("the ask that ends an epoch ends where its exception is caught, not with the next epoch's")
def epoch_end(case):
    train, _ = job.train(case, "--workers", 2, "--epoch-ms", 300)
    tool = case.tool("-p", train.pid, "--record", "2:90", "--detail", "phase", "--no-trace").done()
    tables = tool.report()
    model = {row["name"]: row for row in tables["model"]["rows"]}
    assert tables["summary"]["rows"][0]["steps"] == 88, tables["summary"]
    assert model["Dataloader"]["calls"] > 88, "no epoch ended"
    assert model["Dataloader"]["cpu_max_ns"] < 300e6 < model["ProfileStep"]["cpu_max_ns"], model
