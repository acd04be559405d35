# SPDX-License-Identifier: BSD-2-Clause
"""Tests which steps a job has that updates its network after several passes, or with several optimizers."""
import sense
from lib.job import PYTHON, WORKLOADS
from lib.runner import test
from lib.tool import report

PASSES = 8


@test("steps of a job that `run` starts are its updates, not the passes that are accumulated")
def accumulated(case):
    # proftrace attaches before the job's imports. Slow imports must not look like a missing update.
    tool = case.tool("run", "--record", "1:4", "--no-trace", "--", PYTHON, WORKLOADS / "updates.py",
                     "--passes", PASSES, "--pass-s", 0.05, "--prepare-s", 4, "--steps", 20).done()
    tables = report(next(tool.dir.glob("*.ptrec")))
    assert "after an optimizer step" in sense.rows(tables, "summary")[0]["step_rule"], tables["summary"]
    model = sense.by_name(tables, "model")
    assert model["Optimization"]["calls"] == 3, model
    assert model["Backward"]["calls"] == 3 * PASSES, model


@test("steps of a job with two optimizers and no data loader are its passes, not each optimizer's")
def two_optimizers(case):
    job = case.job("updates.py", "--passes", 1, "--optimizers", 2, "--no-loader").wait_steps(3)
    tables = report(case.tool("-p", job.pid, "--record", "2:10", "--no-trace").done().recordings()[0])
    assert "the first of them begins" in sense.rows(tables, "summary")[0]["step_rule"], tables["summary"]
    model = sense.by_name(tables, "model")
    assert (model["Backward"]["calls"], model["Optimization"]["calls"]) == (8, 16), model
    assert model["Optimization"]["cpu_min_ns"] > 0 and model["Others"]["cpu_ratio_percent"] < 50, model
