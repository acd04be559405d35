# SPDX-License-Identifier: BSD-2-Clause
"""Jobs in PaddlePaddle, and paddle.profiler's data about them."""
import json
import os
import pathlib
import signal
import subprocess

from lib.process import wait_for

ROOT = pathlib.Path(__file__).resolve().parents[3]
PYTHON = subprocess.run([ROOT / "scripts/paddle-python"], stdout=subprocess.PIPE, text=True,
                        check=True, env=dict(os.environ, PYTHON="")).stdout.strip()
# Each version has its own environment: scripts/paddle-python.
VERSION = os.environ.get("PADDLE_VERSION") or "3.3.1"
# Before 3.0 programs run without PIR, whose operators have names of their own.
# Before CPython 3.11 nothing tells what no_grad makes of one function from what it makes of others.
FRAMES_HAVE_FUNCTIONS = "python3.10" not in os.path.realpath(PYTHON)
HAS_PIR = int(VERSION.split(".")[0]) >= 3


def start(case, workload, *args):
    return case.job(workload, *args, python=PYTHON)


def train(case, *args):
    """Starts a job. Returns it when it trains, with the file for paddle.profiler's data."""
    truth = case.dir / "truth.json"
    return start(case, "paddle_train.py", "--profile", truth, *args).wait_steps(10), truth


class Truth:
    """paddle.profiler's data."""

    def __init__(self, path):
        seen = json.loads(path.read_text())
        self.steps, self.kinds, self.memory = seen["steps"], seen["kinds"], seen["memory"]

    def calls(self, kind):
        """A step, by name."""
        return {name: cnt / self.steps for name, cnt in self.kinds[kind].items()}

    def allocated(self):
        """Bytes a step, by operator."""
        return {name: sums["Allocate"] / self.steps for name, sums in self.memory.items()
                if sums.get("Allocate")}


def profile(job, truth):
    job.signal(signal.SIGUSR1)
    wait_for(truth.exists, 90, "paddle.profiler")
    return Truth(truth)
