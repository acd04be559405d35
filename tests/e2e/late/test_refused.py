# SPDX-License-Identifier: BSD-2-Clause
"""If the library or CUPTI is refused, the recording must go on and say why."""
import ctypes
import json
import os
import pathlib
import shutil
import signal
import subprocess

from gpu import LONG_S, PYTHON, SIM, GpuJob, check_recorded, doctor, notes, record
from lib import process
from lib.runner import test
from lib.tool import row

PTRACE_SEIZE, PTRACE_INTERRUPT, PTRACE_DETACH = 0x4206, 0x4207, 17


def check_without(case, job, why, *options):
    """Everything but device times, and the reason in the report and on the terminal."""
    tool = record(case, job, "--duration", "300ms", *options).done()
    assert any(m.is_of("device.no-device-times", [why]) for m in tool.messages()), f"no '{why}' in: {tool.err}"
    assert why in notes(tool), notes(tool)
    # The recording goes on without the library, so it must not suggest to leave the library out.
    assert "--no-inject" not in tool.err + notes(tool), tool.err + notes(tool)
    assert row(tool.report(), "summary")
    job.wait_parked()
    job.wait_progress()
    return tool


@test("another tool uses CUPTI: the recording goes on without")
def subscriber(case):
    job = GpuJob(case, SIMGPU_CUPTI_FAIL="cuptiSubscribe:39")
    check_without(case, job, "another tool uses CUPTI in it")
    job.end()


@test("profiling is for administrators: the recording goes on without")
def privileges(case):
    job = GpuJob(case, SIMGPU_CUPTI_FAIL="cuptiActivityEnable:35")
    check_without(case, job, "the driver allows profiling to administrators alone")
    job.end()


@test("CUPTI refuses its callbacks, or its version: which function did is said")
def functions(case):
    for refused in "cuptiEnableCallback:1", "cuptiGetVersion:999":
        job = GpuJob(case, SIMGPU_CUPTI_FAIL=refused)
        check_without(case, job, "{} gave CUPTI error {}".format(*refused.split(":")))
        job.end()


@test("CUPTI cannot connect to the driver: both versions, and whether it is the newer one, are said")
def connection(case):
    for version, driver, cause in (130300, "13.2", "the libcupti is newer"), (130200, "13.2", "cause unknown"):
        job = GpuJob(case, SIMGPU_CUPTI_FAIL="cuptiSubscribe:15", SIMGPU_CUPTI_VERSION=str(version))
        check_without(case, job, f"cuptiSubscribe gave CUPTI error 15: its libcupti, of CUDA 13.{version // 100 % 100}, "
                                 f"cannot connect to its driver, of CUDA {driver} ({cause}); start the process with a "
                                 "libcupti that its driver supports")
        job.end()


@test("a CUPTI of before CUDA 11: the recording goes on without")
def old(case):
    job = GpuJob(case, SIMGPU_CUPTI_VERSION="12")
    check_without(case, job, "its libcupti is older than CUDA 11")
    job.end()


@test("a process without libcupti: nothing is loaded")
def no_cupti(case):
    for name in ("libcuda.so.1", "libcudart.so.13"):
        shutil.copy(SIM / "lib" / name, case.dir)
    job = GpuJob(case, LD_LIBRARY_PATH=str(case.dir))
    before = process.Snapshot(job.pid)
    check_without(case, job, "no libcupti of CUDA 13 was found for process")
    assert "not by CUPTI: no libcupti of CUDA 13" in doctor(job.pid)
    before.check()
    record(case, job, "--cupti", "/nonexistent", "--duration", "1s").fails("device.cupti-file-missing", "/nonexistent", job.pid)
    check_recorded(case, job, "--duration", "300ms", "--cupti", SIM / "lib/libcupti.so.13")
    job.end()


@test("a --cupti that is no libcupti: refused, and nothing is loaded")
def wrong_cupti(case):
    libc = next(m[4] for m in process.mappings(os.getpid()) if m[4].endswith("/libc.so.6"))
    job = GpuJob(case)
    before = process.Snapshot(job.pid)
    for path in libc, "/etc/passwd":
        tool = record(case, job, "--cupti", path, "--duration", "500ms")
        tool.fails("device.cupti-file-invalid", path)
        assert tool.popen.returncode == 1, tool.popen.returncode
        tool = case.tool("run", "--cupti", path, "--", "touch", case.dir / "ran")
        tool.fails("device.cupti-file-invalid", path)
        assert not (case.dir / "ran").exists()
    before.check()
    assert not job.has_library()
    check_recorded(case, job)
    job.end()


@test("an option that is refused, of another part: nothing is loaded before that")
def wrong_op(case):
    job = GpuJob(case)
    before = process.Snapshot(job.pid)
    record(case, job, "--op", "nolib:*", "--duration", "500ms").fails("capture.function-library-missing*", job.pid, "nolib")
    before.check()
    assert not job.has_library()
    job.end()


def shared(case, name, code):
    path = case.dir / name
    subprocess.run(["gcc", "-shared", "-fPIC", "-xc", "-", "-o", path], input=code, text=True, check=True)
    return path


@test("a library with little of CUPTI: not kept, the next recording has device times")
def part_of_cupti(case):
    path = shared(case, "libpart.so", "int cuptiSubscribe(void) { return 0; }")
    job = GpuJob(case)
    check_without(case, job, "its libcupti is older than CUDA 11", "--cupti", path)
    assert not any("libpart" in m[4] for m in process.mappings(job.pid))
    check_recorded(case, job, "--duration", "300ms", "--cupti", SIM / "lib/libcupti.so.13")
    job.end()


@test("a --cupti beside the one that the process has: a warning")
def unused_cupti(case):
    own = (SIM / "lib/libcupti.so.13").resolve()
    other = shutil.copy(own, case.dir / "libcupti.so.13")
    job = GpuJob(case)
    for path, says in (own, False), (own, False), (other, True):
        tool = check_recorded(case, job, "--duration", "300ms", "--cupti", path)
        assert tool.said("capture.cupti-option-unused", path, job.pid) == says, tool.err
    job.end()


MUSL = """
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>
int main(void)
{
	if (!dlopen("./libcuda.so.1", RTLD_NOW))
		return 1;
	printf("ready %d\\n", getpid());
	fflush(stdout);
	for (;;)
		pause();
}
"""


@test("a program on musl: nothing is loaded")
def musl(case):
    """CUDA has no library for musl. A file with CUDA's name makes the program look as if it had one."""
    def build(out, code, *options):
        subprocess.run(["musl-gcc", *options, "-xc", "-", "-o", case.dir / out], input=code, text=True, check=True)

    build("libcuda.so.1", "int cuInit(unsigned f) { return (int)f; }", "-shared", "-fPIC")
    build("uses_musl", MUSL)
    job = GpuJob(case, "sh", "-c", f"cd {case.dir} && exec ./uses_musl")
    before = process.Snapshot(job.pid)
    tool = record(case, job, "--cupti", SIM / "lib/libcupti.so.13", "--duration", "300ms").done()
    assert tool.said("inject.not-supported", "its C library is musl, not glibc"), tool.err
    assert "musl" in notes(tool), notes(tool)
    before.check()
    assert job.popen.poll() is None


@test("a process that another tool traces: nothing is loaded")
def traced(case):
    libc = ctypes.CDLL(None, use_errno=True)
    job = GpuJob(case)
    before = process.Snapshot(job.pid)
    assert libc.ptrace(PTRACE_SEIZE, job.pid, None, None) == 0
    check_without(case, job, f"process {job.pid} is traced by process")
    assert "not by CUPTI: process" in doctor(job.pid)
    device = json.loads(doctor(job.pid, "--format", "json"))["device"]
    assert not device["cupti"] and "is traced by process" in device["why_not"], device
    before.check()
    libc.ptrace(PTRACE_INTERRUPT, job.pid, None, None)
    os.waitpid(job.pid, 0)
    tool = record(case, job, "--duration", "300ms").done()
    assert tool.said("capture.target-held-by-tracer") and not tool.said("capture.target-stopped"), tool.err
    assert libc.ptrace(PTRACE_DETACH, job.pid, None, None) == 0
    check_recorded(case, job)
    job.end()


SECCOMP = """
import ctypes, os, struct, sys
libc = ctypes.CDLL(None)
program = b"".join(struct.pack("HBBI", *i) for i in (
    (0x20, 0, 0, 0),            # the system call's number
    (0x15, 0, 1, CALL),         # this one?
    (0x06, 0, 0, 0x00050001),   # EPERM
    (0x06, 0, 0, 0x7fff0000)))  # allowed
filter = ctypes.create_string_buffer(program)
libc.prctl(38, 1, 0, 0, 0)
fprog = struct.pack("HxxxxxxQ", 4, ctypes.addressof(filter))
assert libc.prctl(22, 2, ctypes.create_string_buffer(fprog)) == 0
os.execv(sys.argv[1], sys.argv[1:])
"""
MEMFD_CREATE, NONE = 319, 0xFFFFFFFF


def filtered(case, call):
    """A job that gets EPERM for the system call."""
    return GpuJob(case, wrap=("python3", "-c", SECCOMP.replace("CALL", str(call))))


@test("a seccomp filter that forbids what loading needs: nothing is loaded")
def seccomp(case):
    job = filtered(case, MEMFD_CREATE)
    assert "it has a seccomp filter" in doctor(job.pid)
    before = process.Snapshot(job.pid)
    check_without(case, job, f"process {job.pid}: its seccomp filter forbids memfd_create")
    before.check()
    job.end()


@test("two at once: the second goes on without, the first is left in peace")
def two(case):
    job = GpuJob(case)
    first = record(case, job, "--duration", "100s")
    process.wait_for(job.holds_cupti, 60, "the first one's window")
    second = record(case, job, "--duration", "300ms").done()
    assert "another proftrace uses the library in it" in notes(second), notes(second)
    first.interrupt().done()
    assert not notes(first), notes(first)
    job.wait_parked()
    check_recorded(case, job)
    job.end()


@test("a seccomp filter that lets the library in, as in containers: device times; the session has its own filter before")
def seccomp_allows(case):
    job = filtered(case, NONE)
    tool = record(case, job, "--duration", "2s")

    def has_filter():
        loaded = job.has_library()
        is_filtered = "Seccomp:\t2" in pathlib.Path(f"/proc/{tool.pid}/status").read_text()
        assert is_filtered or not loaded, "the library came first"
        return is_filtered

    process.wait_for(has_filter, LONG_S, "its filter")
    tool.done(LONG_S)
    assert not tool.said("device.no-device-times"), tool.err
    check_recorded(case, job)
    job.end()


@test("a seccomp filter that is put on after the attach: CUPTI is left alone, and the job lives")
def seccomp_later(case):
    job = GpuJob(case, pathlib.Path(__file__).with_name("filtered.py"), python=PYTHON)
    tool = case.tool("-p", job.pid, "--record", "300:310", "--no-trace", "--no-progress")
    process.wait_for(lambda: sum(r[0] == "tool" for r in job.truth()) == 2 and not job.holds_cupti(), LONG_S,
                     "the library to have tried CUPTI")
    job.popen.send_signal(signal.SIGUSR1)
    tool.done(LONG_S)
    assert "filtered" in job.out() and job.popen.poll() is None, job.err()
    why = "the process has had a seccomp filter put on"
    assert tool.said("device.no-device-times", why), tool.err
    assert f"no device times: {why}" in notes(tool), notes(tool)
    assert row(tool.report(), "summary")["steps"] == 10
    job.wait_progress()
    job.popen.send_signal(signal.SIGTERM)
    assert job.popen.wait(LONG_S) == 0, job.err()
