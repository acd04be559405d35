# SPDX-License-Identifier: BSD-2-Clause
"""Jobs of the other frameworks beside the monitor."""
import os
import subprocess

from lib.job import ROOT
from lib.process import Snapshot
from lib.runner import test
from monitored import Monitor
from test_monitor import counts_alike


def python_of(script):
    return subprocess.run([ROOT / "scripts" / script], stdout=subprocess.PIPE, text=True, check=True,
                          env=dict(os.environ, PYTHON="", BASE_PYTHON="")).stdout.strip()


def watched(title, script, workload):
    @test(f"{title}: steps are counted, windows have phases and operators, and the job is left unharmed")
    def run(case):
        job = case.job(workload, fresh=True, python=python_of(script)).wait_steps(5, timeout_s=180)
        snapshot = Snapshot(job.pid)
        monitor = Monitor(case, "none", "--allow", f"pid:{job.pid}")
        rank = monitor.wait_windows(job, 3)
        assert rank["framework"] == title and rank["phases"] and rank["operators"], rank
        (before_cnt, before_made), = counts_alike(monitor, job)
        job.wait_steps(20)
        (cnt, made), = counts_alike(monitor, job)
        assert cnt - before_cnt == made - before_made, (before_cnt, before_made, cnt, made)
        assert monitor.end() == 0, monitor.tool.err
        job.wait_steps(5)
        snapshot.check_text()
    return run


watched("PaddlePaddle", "paddle-python", "paddle_train.py")
watched("MXNet", "mxnet-python", "mx_train.py")
watched("MindSpore", "mindspore-python", "ms_train.py")
