# SPDX-License-Identifier: BSD-2-Clause
"""main.py [--seeds N] [--from N] [--jobs N] [--keep DIR] [SEED...]: random jobs, N at a time, each recomputed from
the truth. A job that differs is named with what differs, and the command that runs it again."""
import argparse
import concurrent.futures
import os
import pathlib
import shutil
import sys
import tempfile
import time

import session
from compare import compare
from generate import generate

SHOWN = 12  # of the lines that differ


def check(directory, job):
    """Returns the differences, a line each, and what was compared."""
    wrong, work, blind = [], 0, 0
    for rank in session.run(directory, job):
        lines, cnt, unknown = compare(rank.recording, rank.truth(), rank.dir / "notes", job.framework)
        wrong += [f"{rank.dir.name}: {line}" for line in lines]
        work += cnt
        blind += unknown
    return wrong, f"equal, {work} pieces of work" + (f", {blind} figures of more than CUPTI told" if blind else "")


def run_seed(keep, seed):
    """Whether all is equal."""
    job, start = generate(seed), time.monotonic()
    directory = pathlib.Path(tempfile.mkdtemp(prefix=f"seed{seed}.", dir=keep))
    try:
        wrong, end = check(directory, job)
    except Exception as error:  # any kind of error, because the message must name the seed
        wrong, end = [f"{type(error).__name__}: {error}"], ""
    end = f"{len(wrong)} DIFFER" if wrong else end
    text = "\n".join([f"{job}: {end} ({time.monotonic() - start:.1f} s)", *(f"    {line}" for line in wrong[:SHOWN])])
    if wrong:
        text += f"\n    again: tests/e2e/random_gpu/run --keep DIR {seed}"
    print(text, flush=True)
    if not wrong:
        shutil.rmtree(directory)
    return not wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, help="how many, PyTorch's included; otherwise 20 of a program in C")
    parser.add_argument("--from", type=int, default=1, dest="first")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", default=os.getcwd(), help="where directories of jobs that differ are left")
    parser.add_argument("seeds_again", type=int, nargs="*", metavar="SEED")
    options = parser.parse_args()
    os.makedirs(options.keep, exist_ok=True)
    seeds = options.seeds_again or list(range(options.first, options.first + (options.seeds or 22)))
    if not options.seeds and not options.seeds_again:
        seeds = [seed for seed in seeds if not generate(seed).framework]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        equal = list(pool.map(lambda seed: run_seed(options.keep, seed), seeds))
    failed = [seed for seed, is_equal in zip(seeds, equal) if not is_equal]
    print(f"{len(equal) - len(failed)} of {len(equal)} jobs equal")
    if failed:
        pathlib.Path("failed").write_text("".join(f"{seed}\n" for seed in failed))
        print("FAIL seeds", *failed)
    return 1 if failed else 0


sys.exit(main())
