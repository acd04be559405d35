# SPDX-License-Identifier: BSD-2-Clause
"""Processes that show more than there is, and change what they show."""
import os
import shutil
import subprocess

from common import compiled, running
from lib.runner import test
from lib.tool import PROFTRACE


def peak_kib(*command):
    """Ends in time, and with which status; the most memory it had, in KiB."""
    done = subprocess.run(["/usr/bin/env", "python3", "-c", """
import resource, subprocess, sys
done = subprocess.run(sys.argv[1:], capture_output=True, text=True, timeout=60)
print(done.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
print(done.stderr)
""", *map(str, command)], capture_output=True, text=True, timeout=90)
    assert done.returncode == 0, done.stderr
    first, _, said = done.stdout.partition("\n")
    status, peak = map(int, first.split())
    return status, peak, said


@test("a command line and environment of 4 GB: bounded, and said")
def large_texts(case):
    job = running(case, compiled(case, "mmapenv"), 4)
    _, alone, _ = peak_kib(PROFTRACE, "doctor")
    status, peak, said = peak_kib(PROFTRACE, "doctor", "-p", job.pid)
    assert "is longer than 1024 KiB" in said, said
    assert peak < alone + (64 << 10), (peak, alone)
    status, peak, said = peak_kib(PROFTRACE, "-p", job.pid, "--duration", "1s", "--no-trace", "-o",
                                  f"{case.dir}/r.ptrec")
    assert status == 0, said


@test("memory that it shares with our library, cut off by the process: told, and no signal")
def shared_memory(case):
    cut = 'sleep 1; : >"$PROFTRACE_SHIM"; sleep 2'
    done = subprocess.run([PROFTRACE, "run", "--no-steps", "--duration", "2s", "--no-trace", "-o", f"{case.dir}/r.ptrec",
                           "--", "sh", "-c", cut], capture_output=True, text=True, timeout=60)
    assert done.returncode in (0, 1), (done.returncode, done.stderr)
    assert "cut off the memory" in done.stderr, done.stderr


@test("a library that its owner cuts off while it is read: an error, or none, and no signal")
def cut_off(case):
    library = case.dir / "libtorn.so"
    shutil.copy(os.path.join(os.environ["TORCH_LIB"], "libtorch_python.so"), library)
    job = running(case, compiled(case, "trunc"), library, 300)
    for _ in range(12):
        done = subprocess.run([PROFTRACE, "doctor", "-p", str(job.pid)], capture_output=True,
                              text=True, timeout=60)
        assert done.returncode in (0, 1), (done.returncode, done.stderr)
