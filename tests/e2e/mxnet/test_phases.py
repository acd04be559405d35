# SPDX-License-Identifier: BSD-2-Clause
"""How long each phase lasts, by the job's own clock."""
from lib import phase_times
from lib.runner import test


@test("phases last as long as the job says")
def phases(case):
    # What updates parameters are operators: --detail phase does not see them.
    job = case.job("phases_of.py", "mxnet", fresh=True).wait_steps(10)
    # The Python before the first of them is 1 to 1.3 % of a step, and is not seen.
    phase_times.check(case, job, detail="operator", small=0.02)
