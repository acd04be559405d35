# SPDX-License-Identifier: BSD-2-Clause
"""Evaluation in epochs of four batches (tests/workloads/evaluate_of.py)."""
STEPS = 40


def check(case, job):
    """Each batch is a step. The request that ends an epoch is not."""
    tables = case.tool("-p", job.pid, "--record", f"2:{2 + STEPS}").done().report()
    rule = tables["summary"]["rows"][0]["step_rule"]
    assert "asked for a batch" in rule, rule
    model = {row["name"]: row for row in tables["model"]["rows"]}
    assert model["ProfileStep"]["calls"] == STEPS, model
    # Ten epochs, of five asks each; a batch sleeps for 8 ms.
    assert model["Dataloader"]["calls"] in (50, 51), model
    assert model["ProfileStep"]["cpu_min_ns"] > 8e6, model
