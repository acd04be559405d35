# SPDX-License-Identifier: BSD-2-Clause
"""Runs proftrace with one fault, and checks what must hold then."""
import os
import pathlib
import random
import subprocess
import sys

from lib.job import ROOT
from lib.tool import PROFTRACE

HERE = pathlib.Path(__file__).resolve().parent
GOLDEN = ROOT / "tests/golden"
ALL = bool(os.environ.get("FAULT_ALL"))
# A part of all: from this place on, each EVERYth.
FROM, EVERY = int(os.environ.get("FAULT_FROM", 1)), int(os.environ.get("FAULT_EVERY", 1))
SEED = int(os.environ.get("FAULT_SEED", random.randrange(1 << 32)))
SANITIZER = "Sanitizer"


def library(case):
    path = case.dir / "faults.so"
    if not path.exists():
        subprocess.run(["gcc", "-O1", "-Wall", "-shared", "-fPIC", "-o", path, HERE / "faults.c"], check=True)
    return path


class Faulty:
    """Runs a command with a fault at a place; counts the places."""

    def __init__(self, case, *command, timeout_s=60):
        self.case, self.command, self.timeout_s = case, [*map(str, command)], timeout_s
        self.hit_file = case.dir / "hit"

    def run(self, fault, *more):
        self.hit_file.unlink(missing_ok=True)
        env = {**os.environ, "LD_PRELOAD": str(library(self.case)), "FAULT": fault, "FAULT_HIT": str(self.hit_file)}
        done = subprocess.run([PROFTRACE, *self.command, *map(str, more)], capture_output=True, env=env,
                              cwd=self.case.dir, timeout=self.timeout_s, errors="replace", text=True)
        calls, hit = map(int, self.hit_file.read_text().split())
        assert done.returncode >= 0, f"{fault}: {self.command} ended by signal {-done.returncode}: {done.stderr}"
        assert SANITIZER not in done.stderr, f"{fault}: {done.stderr}"
        return done, calls, bool(hit)

    @staticmethod
    def told(kind, places):
        for n in places:
            if n % 100 == 0:
                print(f"        {kind}:{n}", file=sys.stderr)
            yield n

    def places(self, kind, most):
        """Returns how many calls there are, and a sample of their numbers, or all."""
        done, calls, _ = self.run(f"{kind}:0")
        assert done.returncode == 0 and calls, (kind, done.stderr)
        top = min(calls, 2000)
        if ALL:
            print(f"        {kind}: {top} of {calls} calls, from {FROM} on each {EVERY}.", file=sys.stderr)
            return self.told(kind, range(FROM, top + 1, EVERY))
        chosen = sorted(random.Random(SEED).sample(range(1, top + 1), min(most, top)))
        print(f"        {kind}: {len(chosen)} of {calls} calls, FAULT_SEED={SEED}", file=sys.stderr)
        return chosen
