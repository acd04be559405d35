# SPDX-License-Identifier: BSD-2-Clause
import pathlib

from lib import phase_times
from lib.runner import test

JOBS = pathlib.Path(__file__).resolve().parent / "jobs"
ALL = ("dataloader", "forward", "backward", "optimizer")
# Optimizers outside torch cannot be told from the code around them, so their time is in Others.
PROGRAMS = {"lightning_fit": ALL, "transformers_trainer": ALL, "accelerate_loop": ALL,
            "keras_fit": ALL[:3], "fastai_fit": ALL[:3]}
START_S = 60  # of the libraries' imports
SHORT = 150   # optimizer steps


def start(case, program, *args):
    return case.job(JOBS / f"{program}.py", *args, fresh=True)


def check_phases(case, program, seen):
    phase_times.check(case, start(case, program).wait_steps(10, START_S), only=seen)


def check_result(case, program):
    """Runs the program twice, once recorded from its first steps to its end. Both results must be equal."""
    alone = start(case, program, "--steps", SHORT)
    assert alone.wait(4 * START_S) == 0, alone.err.read_text()
    job = start(case, program, "--steps", SHORT).wait_steps(3, START_S)
    case.tool("-p", job.pid, "--duration", "200s", "--with-stack", "--profile-memory", "--no-report").done(200)
    assert job.wait(START_S) == 0, job.err.read_text()
    results = [j.output().split()[-1] for j in (alone, job)]
    assert results[0] == results[1], results


for name, seen in PROGRAMS.items():
    test(f"{name}: phases are those of its own clock")(
        lambda case, name=name, seen=seen: check_phases(case, name, seen))
    test(f"{name}: computes what it computes alone")(lambda case, name=name: check_result(case, name))
