#!/usr/bin/env python3
"""What CUPTI tells of two small jobs, on one machine and on another.

usage: golden.py record PYTHON OBSERVER DIR   runs the jobs with PYTHON, the observer within
       golden.py distil DIR WHERE             prints the golden trace of a record made on WHERE
       golden.py compare RECORD RECORD        prints what differs; status 1 if anything does

A record is a directory, or a golden trace: all that one call of each function tells. That must be
alike for the functions that both sides called, whichever PyTorch did (marked ! where it is not; + is
what one side alone called). Two directories are also compared in the order of the calls; what differs
there may be the math libraries' work. Times and the names of kernels are the hardware's business.
"""
import collections
import difflib
import itertools
import os
import pathlib
import re
import shutil
import subprocess
import sys

import told

ROOT = pathlib.Path(__file__).resolve().parents[3]
JOBS = ROOT / "tests/e2e/simgpu/jobs"
NAMED = {"train": ["train.py", "3"], "graph": ["graph.py"]}
LINES = 60  # of a job's differences that are printed
# Functions that give a device work, move memory or wait, by the beginning of their names.
FOLLOWED = tuple(re.findall(r"\bF\((\w+),", (ROOT / "cupti_shim/cuda_functions.h").read_text()))


def record(python, observer, directory):
    directory = pathlib.Path(directory).resolve()
    directory.mkdir(parents=True, exist_ok=True)
    # Beside it lies the simulation's libcupti, which it must not find on hardware.
    own = shutil.copy(observer, directory)
    for name, command in NAMED.items():
        for old in directory.glob(f"{name}.*"):
            old.unlink()
        env = dict(os.environ, CUDA_INJECTION64_PATH=own, OBSERVER_OUT=str(directory / name))
        subprocess.run([python, JOBS / command[0], *command[1:]], env=env, check=True,
                       stdout=subprocess.DEVNULL, timeout=300)
    os.unlink(own)


def jobs_of(directory):
    return {name: told.Job(directory, name) for name in NAMED}


def distil(directory, where):
    print(f"# What CUPTI tells of {' and '.join(' '.join(job) for job in NAMED.values())}")
    print(f"# on {where}.")
    print("# Made by golden.py distil: of each function all that one call of it told.")
    for function, tells in sorted(told.facts(jobs_of(directory)).items()):
        for what in sorted(tells):
            print(f"{function}\t{what}")


def read(path):
    """The jobs of a record, none of a golden trace, and its facts."""
    if os.path.isdir(path):
        jobs = jobs_of(path)
        return jobs, told.facts(jobs)
    facts = collections.defaultdict(collections.Counter)
    for line in pathlib.Path(path).read_text().splitlines():
        if not line.startswith("#"):
            function, what = line.split("\t")
            facts[function][what] += 1
    return {}, facts


def is_of_interest(function, *tells):
    return function.split(" ")[1].startswith(FOLLOWED) or set().union(*tells) != {"nothing"}


def compare_facts(ours, theirs):
    """Prints what calls tell, how many do; returns whether it is alike where both sides called."""
    alike, rest = True, collections.Counter()
    for function in sorted(ours | theirs):
        a, b = ours.get(function, {}), theirs.get(function, {})
        if not is_of_interest(function, a, b):
            rest.update(functions=1, ours=sum(a.values()), theirs=sum(b.values()))
            continue
        mark = " " if set(a) == set(b) else "!" if a and b else "+"
        alike &= mark != "!"
        for what in sorted(set(a) | set(b)):
            print(f"{mark} {a.get(what, 0):6} {b.get(what, 0):6}  {function}, {what}")
    print(f"  {rest['ours']:6} {rest['theirs']:6}  {rest['functions']} other functions, nothing")
    return alike


def order(job, known):
    """A line per run of calls that tell the same, without calls that tell nothing, or only of
    kernels that the other side does not know: the math libraries'."""
    lines = []
    for call in job.calls:
        did = job.caused.get(call.id, [])
        if any(r.kind != "kernel" or r.graph != "0" or r.name in known for r in did):
            streams = sorted({r.stream for r in did} - {told.NO_STREAM}, key=int)
            lines.append(" ".join([f"{job.function(call)}, {job.tells(call)}", *streams]))
    return [f"{len(list(run))} x {line}" for line, run in itertools.groupby(lines)]


def kernels(job):
    return {r.name for did in job.caused.values() for r in did if r.kind == "kernel"}


def compare_order(name, ours, theirs):
    a, b = order(ours, kernels(theirs)), order(theirs, kernels(ours))
    print(f"{name} in order, without kernels of one side alone: {len(a)} and {len(b)} runs of calls")
    changes = list(difflib.unified_diff(a, b, lineterm="", n=1))[2:]
    for line in changes[:LINES]:
        print(f"    {line}")
    if len(changes) > LINES:
        print(f"    ... and {len(changes) - LINES} more")
    return a == b


def compare(ours, theirs):
    """Whether the two are alike."""
    (a, facts_a), (b, facts_b) = read(ours), read(theirs)
    print(f"what calls tell, of {ours} and of {theirs}")
    alike = [compare_facts(facts_a, facts_b)]
    return all(alike + [compare_order(name, a[name], b[name]) for name in NAMED if a and b])


def main(command, *args):
    if command == "record" and len(args) == 3:
        record(*args)
    elif command == "distil" and len(args) == 2:
        distil(*args)
    elif command == "compare" and len(args) == 2:
        sys.exit(0 if compare(*args) else 1)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(*(sys.argv[1:] or [""]))
