# SPDX-License-Identifier: BSD-2-Clause
"""How long each phase lasts, by the job's own clock."""
import jobs
from lib import phase_times
from lib.runner import test


@test("phases last as long as the job says")
def phases(case):
    job = jobs.start(case, "mindspore", workload="phases_of.py").wait_steps(10, timeout_s=120)
    phase_times.check(case, job)
