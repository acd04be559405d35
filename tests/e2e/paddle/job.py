# SPDX-License-Identifier: BSD-2-Clause
"""Jobs in PaddlePaddle, and what paddle.profiler sees in them."""
import json
import os
import pathlib
import signal
import subprocess

from lib.process import wait_for

ROOT = pathlib.Path(__file__).resolve().parents[3]
PYTHON = subprocess.run([ROOT / "scripts/paddle-python"], stdout=subprocess.PIPE, text=True,
                        check=True, env=dict(os.environ, PYTHON="")).stdout.strip()


def start(case, workload, *args):
    return case.job(workload, *args, python=PYTHON)


def train(case, *args):
    """A job that trains already, and the file where paddle.profiler's view goes."""
    truth = case.dir / "truth.json"
    return start(case, "paddle_train.py", "--profile", truth, *args).wait_steps(10), truth


def profile(job, truth, *kinds):
    """Calls a step by name, of some of paddle.profiler's kinds of events."""
    job.signal(signal.SIGUSR1)
    wait_for(truth.exists, 30, "paddle.profiler")
    seen = json.loads(truth.read_text())
    calls = {}
    for kind in kinds:
        for name, cnt in seen["kinds"].get(kind, {}).items():
            calls[name] = calls.get(name, 0) + cnt / seen["steps"]
    return calls
