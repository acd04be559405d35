# SPDX-License-Identifier: BSD-2-Clause
"""How long each phase lasts, by the job's own clock."""
from lib import phase_times
from lib.runner import test


@test("phases last as long as the job says")
def phases(case):
    phase_times.check(case, case.job("phases_of.py", "mxnet").wait_steps(10))


@test("Optimization is Module.update, as long as the job says")
def module(case):
    phase_times.check(case, case.job("phases_of.py", "mxnet_module").wait_steps(10),
                      only=("optimizer",))
