# SPDX-License-Identifier: BSD-2-Clause
"""How long each phase lasts, by the job's own clock."""
from lib import phase_times
from lib.runner import test


def names(tool, prefix):
    return [row["name"] for row in tool.events() if row.get("name", "").startswith(prefix)]


@test("phases last as long as the job says")
def phases(case):
    phase_times.check(case, case.job("phases_of.py", "mxnet").wait_steps(10))


@test("Optimization is Module.update, as long as the job says")
def module(case):
    phase_times.check(case, case.job("phases_of.py", "mxnet_module").wait_steps(10),
                      only=("optimizer",))


@test("Optimization of short steps by a mark and its operators, without a data breakpoint, as long as the job says")
def mark(case):
    # The breakpoint exceeds any budget.
    job = case.job("phases_of.py", "mxnet_small").wait_steps(20)
    tool = phase_times.check(case, job, detail="operator", only=("forward", "backward", "optimizer"),
                             options=("--max-overhead", "0.01"))
    assert names(tool, "Trainer.step") == ["Trainer.step begins"] * phase_times.STEPS


@test("a data breakpoint stays where Python's optimizer computes otherwise than by operators of its own")
def python_optimizer(case):
    job = case.job("phases_of.py", "mxnet_small", "--optimizer", "adadelta").wait_steps(20)
    tool = phase_times.check(case, job, detail="operator", only=("optimizer",), options=("--max-overhead", "0.01"))
    assert names(tool, "Trainer.step") == ["Trainer.step"] * phase_times.STEPS
