# SPDX-License-Identifier: BSD-2-Clause
"""Processes that claim more than they have, and change their claims."""
import os
import shutil
import subprocess

from common import AS_NOBODY, HERE, compiled, running, sleeping
from lib.job import ROOT
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


def recorded(case, pid, *options):
    status, peak, said = peak_kib(PROFTRACE, "-p", pid, "--duration", "1s", "--no-trace", "--no-report", *options, "-o",
                                  f"{case.dir}/r.ptrec")
    assert status == 0, said
    return peak, said


@test("floods of threads, forks, names, domains, counters, open ranges: memory is bounded, the window ends")
def floods(case):
    alone, _ = recorded(case, sleeping(case).pid)
    flood = case.dir / "flood"
    subprocess.run(["gcc", "-O1", f"-I{ROOT}", "-o", flood, HERE / "flood.c"], check=True)
    for kind in ("threads", "forks", "names", "domains", "counters", "open"):
        job = running(case, flood, kind)
        peak, said = recorded(case, job.pid)
        job.kill()
        assert peak < alone + (160 << 10), (kind, peak, alone)
        done = subprocess.run([PROFTRACE, "report", f"{case.dir}/r.ptrec"], capture_output=True, timeout=60)
        assert done.returncode == 0, (kind, done.stderr)


@test("--op on a library with a name of 60 MB: bounded")
def long_symbol(case):
    source, names = case.dir / "long.c", case.dir / "names"
    source.write_text("int sym_a(int a) { return a + 1; }\nint sym_b(int a) { return a + 2; }\n")
    names.write_text(f"sym_a sym_{'x' * (60 << 20)}\n")
    subprocess.run(["gcc", "-O1", "-fPIC", "-c", source, "-o", case.dir / "long.o"], check=True)
    subprocess.run(["objcopy", f"--redefine-syms={names}", case.dir / "long.o"], check=True)
    subprocess.run(["gcc", "-shared", case.dir / "long.o", "-o", case.dir / "liblong.so"], check=True)
    subprocess.run(["gcc", "-O1", "-o", case.dir / "names.bin", f"-I{ROOT}", HERE / "names.c"], check=True)
    alone, _ = recorded(case, sleeping(case).pid)
    job = running(case, case.dir / "names.bin", case.dir / "liblong.so", "x")
    peak, said = recorded(case, job.pid, "--op", "liblong.so:*sym*")
    assert "2 functions" in said, said
    assert peak < alone + (64 << 10), (peak, alone)


LIMIT_KIB = 512 << 10  # and 256 times the size of the file


@test("recordings of a few hundred KiB that expand to gigabytes: memory is limited, and it is told")
def expanding(case):
    make, golden = case.dir / "expand", ROOT / "tests/golden/pytorch.ptrec"
    subprocess.run(["gcc", "-O1", "-o", make, HERE / "expand.c", "-lzstd", "-lz"], check=True)
    _, alone, _ = peak_kib(PROFTRACE, "report", golden)
    # As root in the sandbox, and as a user who has no rights to give up.
    for who in ((), AS_NOBODY):
        for kind in ("highest", "sched", "meta", "spans", "instants"):
            recording = case.dir / f"{kind}.ptrec"
            subprocess.run([make, kind, "64", recording], check=True)
            recording.chmod(0o644)
            size = recording.stat().st_size
            assert size < 300 << 10, (kind, size)
            status, peak, said = peak_kib(*who, PROFTRACE, "report", recording)
            assert peak < alone + LIMIT_KIB + (size * 256 >> 10), (kind, peak, alone)
            assert kind == "highest" or status == 1 and "are the limit" in said, (kind, status, said)
    # Other readers do not read more either. A hole in the file is not searched.
    os.truncate(recording, 1 << 40)
    for words in (("report", "--html", case.dir / "p.html"), ("export", "-f", "chrome", "-o", case.dir / "t.json"),
                  ("diff", golden)):
        status, peak, said = peak_kib(PROFTRACE, *words, recording)
        assert peak < alone + LIMIT_KIB + (1 << 20), (words, peak, alone)
        assert status in (0, 1), (words, status, said)
