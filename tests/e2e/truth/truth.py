# SPDX-License-Identifier: BSD-2-Clause
"""Compares proftrace with torch.profiler, with the workloads' own notes and with /proc.

truth.py [WORD...]: the checks whose line has one of the words. Where only counts are compared, two jobs
run side by side. Titles of what differs go to the file `failed`, a line each."""
import concurrent.futures
import functools
import importlib.metadata
import itertools
import pathlib
import sys

import averages
import durations
import operators
import phases
import reports
from checks import run
from job import Job

TORCH = [int(part) for part in importlib.metadata.version("torch").split(".")[:2]]
MEASURED = 3  # attempts for checks that compare times
COSTLY = 8  # attempts for checks whose difference is as small as the machine's own variation

# C++ calls these from Python without a wrapper of the operator's name: x[i] is one function for several operators.
INDEXING = ("aten::select", "aten::slice", "aten::index")
# The wrapper's own name, and the operators that it runs. None of them has the wrapper's name.
TOLIST = ("aten::tolist", "aten::resolve_conj", "aten::resolve_neg")

# (what, check of a job, attempts)
TRAINING = [
    ("inner", operators.inner, 1),
    ("operator", functools.partial(operators.python_level, not_wrapped=INDEXING), 1),
    ("nodes", operators.backward_nodes, 1),
    ("arrows", operators.arrows, 1),
]
AVERAGES = [
    ("key_averages rows", averages.rows, 1),
    ("key_averages sums", averages.sums, 1),
    ("key_averages times", averages.times, MEASURED),
]
CUSTOM = [
    ("inner", operators.inner, 1),
    ("operator", functools.partial(operators.python_level, python_kernels=("mylib::scale",)), 1),
    ("nodes", operators.backward_nodes, 1),
    ("ranges", operators.ranges, 1),
]
# Inside TorchScript nothing is called from Python.
SCRIPTED = [("inner", operators.inner, 1)]
REGIONS = [*SCRIPTED, ("regions", operators.regions, 1)]
INFERENCE = [
    *SCRIPTED,
    ("operator", functools.partial(operators.python_level, not_wrapped=TOLIST), 1),
]
PHASES = [("phases", phases.phases, MEASURED)]
# An optimizer that is not a torch.optim.Optimizer.
OWN_OPTIMIZER = [("phases", functools.partial(phases.phases, unseen=("optimizer", "zero_grad")),
                  MEASURED)]

DURATIONS = [
    ("durations", durations.durations, MEASURED),
    ("cost", durations.own_cost, COSTLY),
]

JOBS = [
    (("cnn.py",), [*TRAINING, *AVERAGES, *DURATIONS, ("cpu", phases.cpu, MEASURED)]),
    (("cnn.py", "--workers", "2", "--optimizer", "adam"), TRAINING),
    (("transformer.py",), [*TRAINING, *AVERAGES, *DURATIONS, ("reports", reports.reports, 1)]),
    (("custom_ops.py",), CUSTOM),
    (("inference.py",), INFERENCE),
    (("inference.py", "--compiled", "script"), REGIONS),
    (("inference.py", "--compiled", "trace"), REGIONS),
    # PyTorch 2.0 has no torch.compile for Python 3.11.
    *([(("inference.py", "--compiled", "dynamo"), REGIONS)] if TORCH >= [2, 1] else []),
    (("phases.py", "--mode", "plain"), PHASES),
    (("phases.py", "--mode", "plain", "--workers", "2"), PHASES),
    (("phases.py", "--mode", "plain", "--custom-optimizer"), OWN_OPTIMIZER),
    (("phases.py", "--mode", "accumulate"), PHASES),
    (("phases.py", "--mode", "gan"), PHASES),
    (("phases.py", "--mode", "autocast"), PHASES),
    (("phases.py", "--mode", "evaluate"), PHASES),
]


def chosen(words):
    """Returns (workload, its checks) for the chosen words."""
    for workload, checks in JOBS:
        titled = [(f"{what} {' '.join(workload)}", check, attempts)
                  for what, check, attempts in checks]
        checks = [c for c in titled if not words or any(word in c[0] for word in words)]
        if checks:
            yield workload, checks


def results_of(job):
    """[(title, whether it agrees)] of a job's checks."""
    workload, checks = job
    with Job(*workload) as running:
        return [(title, run(title, functools.partial(check, running), attempts))
                for title, check, attempts in checks]


def only_counts(job):
    return all(attempts == 1 for _, _, attempts in job[1])


def main(words):
    jobs = list(chosen(words))
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = sum(pool.map(results_of, filter(only_counts, jobs)), [])
    results += sum(map(results_of, itertools.filterfalse(only_counts, jobs)), [])
    wrong = [title for title, agrees in results if not agrees]
    pathlib.Path("failed").write_text("".join(f"{title}\n" for title in wrong))
    print(f"{len(results) - len(wrong)} of {len(results)} checks agree")
    return 0 if results and not wrong else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
