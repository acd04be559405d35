# SPDX-License-Identifier: BSD-2-Clause
"""proftrace, or the process, is killed at each of 30 points of a recording. The other one must be unharmed."""
import os
import pathlib
import random
import signal
import subprocess
import sys
import time

from common import ALL, GOLDEN, SEED, Faulty
from lib.job import ROOT
from lib.runner import test
from lib.tool import PROFTRACE

POINTS = 30
SPAN_S = 2.4
COUNTER = """
#include <stdio.h>
#include <time.h>
#include <unistd.h>
#include "include/proftrace.h"
int main(void)
{
	static const proftrace_range frame = {NULL, "step"};
	for (unsigned long n = 0;; n++) {
		proftrace_frame_begin(&frame);
		usleep(1000);
		proftrace_end(&frame);
		if (n % 16 == 0) {
			printf("%lu\\n", n);
			fflush(stdout);
		}
	}
}
"""


def points():
    chosen = range(POINTS) if ALL else sorted(random.Random(SEED).sample(range(POINTS), 5))
    print(f"        points {[*chosen]} of {POINTS}, FAULT_SEED={SEED}", file=sys.stderr)
    return [SPAN_S * (i + 1) / POINTS for i in chosen]


class Counting:
    """A process that writes its number of steps to a file."""

    def __init__(self, case, name):
        program = case.dir / "count"
        if not program.exists():
            (case.dir / "count.c").write_text(COUNTER)
            subprocess.run(["gcc", "-O1", f"-I{ROOT}", "-o", program, case.dir / "count.c"], check=True)
        self.log = case.dir / f"{name}.steps"
        with open(self.log, "w") as out:
            self.popen = subprocess.Popen([program], stdout=out)
        case.finally_(self.popen.wait)
        case.finally_(self.popen.kill)
        self.pid = self.popen.pid

    def goes_on(self):
        before, end = self.log.stat().st_size, time.monotonic() + 10
        while time.monotonic() < end:
            if self.log.stat().st_size > before:
                return self.popen.poll() is None
            time.sleep(0.02)
        return False


def command(pid, out):
    return [PROFTRACE, "-p", str(pid), "--duration", "1s", "-o", str(out / "r.ptrec"), "--html", str(out / "p.html"),
            "--trace", str(out / "t.json")]



@test("proftrace killed at points of a recording: the process goes on, no file without a name of its own is left")
def killed(case):
    job = Counting(case, "killed")
    for i, after_s in enumerate(points()):
        out = case.dir / f"out{i}"
        out.mkdir()
        tool = subprocess.Popen(command(job.pid, out), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(after_s)
        tool.kill()
        tool.wait()
        assert job.goes_on(), f"at {after_s} s"
        left = {p.name for p in out.iterdir()} - {"r.ptrec", "t.json", "p.html"}
        assert not left, (after_s, left)
        if (out / "r.ptrec").exists() and (out / "r.ptrec").stat().st_size:
            done = subprocess.run([PROFTRACE, "report", out / "r.ptrec"], capture_output=True, text=True)
            assert done.returncode == 0 or "no whole chunk" in done.stderr or "empty" in done.stderr, done.stderr
    # Files left by the killed ones must not stop the next recording.
    last = case.dir / "last"
    last.mkdir()
    done = subprocess.run(command(job.pid, last), capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    left = [p for p in pathlib.Path("/run/proftrace").iterdir() if p.name == str(job.pid)]
    assert not left and job.goes_on()

@test("killed between the name and the rename of a file that replaces another: the next one removes what it left")
def killed_at_rename(case):
    directory = case.dir / "out"
    directory.mkdir()
    path = directory / "t.json"
    words = ("export", "-f", "chrome", "-o", path)
    subprocess.run([PROFTRACE, *words, GOLDEN / "gpu.ptrec"], check=True, capture_output=True)
    before = path.read_bytes()
    faulty = Faulty(case, *words, GOLDEN / "pytorch.ptrec")
    left_at = []
    for n in faulty.places("die", 10):
        path.write_bytes(before)
        try:
            faulty.run(f"die:{n}")
        except AssertionError as error:
            assert "signal 9" in str(error), error
        assert path.read_bytes() == before, n
        left = [p for p in directory.iterdir() if p != path]
        left_at += [n] * len(left)
    assert left_at, "no kill left anything: the test is at the wrong point"
    done = subprocess.run([PROFTRACE, *words, GOLDEN / "pytorch.ptrec"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert [*directory.iterdir()] == [path] and path.read_bytes() != before


@test("the process killed at points of a recording: proftrace ends, and says so")
def target_killed(case):
    for i, after_s in enumerate(points()):
        job = Counting(case, f"target{i}")
        out = case.dir / f"target{i}"
        out.mkdir()
        tool = subprocess.Popen(command(job.pid, out), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        time.sleep(after_s)
        over = tool.poll() is not None
        os.kill(job.pid, signal.SIGKILL)
        job.popen.wait()
        _, said = tool.communicate(timeout=30)
        assert tool.returncode in (0, 1), (after_s, tool.returncode, said)
        assert over or tool.returncode == 0 or str(job.pid) in said, (after_s, said)
        left = {p.name for p in out.iterdir()} - {"r.ptrec", "t.json", "p.html"}
        assert not left, (after_s, left)
        if (out / "r.ptrec").exists():
            done = subprocess.run([PROFTRACE, "report", out / "r.ptrec"], capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
