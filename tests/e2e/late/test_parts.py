# SPDX-License-Identifier: BSD-2-Clause
"""Jobs of all kinds on real PyTorch: each kernel, copy and set matches the truth log to the ns, on its
device and stream, below its launching call."""
import pathlib

from gpu import LONG_S, PYTHON, GpuJob, compare, end
from lib.runner import test
from lib.tool import report, row

JOB = pathlib.Path(__file__).with_name("parts.py")


def check(job, recording):
    assert row(report(recording), "cost")["events_lost"] == 0
    return compare(job, recording, pid=recording.stem.rsplit("_", 1)[-1])


def record_steps(case, job):
    tool = case.tool("-p", job.pid, "--record", "2:6", "--no-trace", "--no-progress").done(LONG_S)
    return tool.recordings()[0]


@test("four devices: with and without cuDNN, mixed precision, attention, AdamW, a CUDA graph, a copy")
def devices(case):
    job = GpuJob(case, JOB, "devices", python=PYTHON, SIMGPU_DEVICES="4")
    recording = record_steps(case, job)
    kernels, copies, _ = check(job, recording)
    assert kernels > 200 and copies > 8, (kernels, copies)
    rows = report(recording, "--table", "kernel,calls", "--by-device")
    sections = {r["section"].split()[0] for r in rows["kernel"]["rows"]}
    assert sections == {f"GPU{i}" for i in range(4)}, sections
    calls = {r["name"]: r["gpu_total_ns"] for r in rows["calls"]["rows"]}
    assert calls["cudaGraphLaunch"] > 0, calls
    end(job)


@test("a network that is compiled: Triton's kernels, launched by the driver's interface")
def compiled(case):
    job = GpuJob(case, PYTHON, "-B", JOB, "compiled", TORCHINDUCTOR_COMPILE_THREADS="1",
                 TORCHINDUCTOR_CACHE_DIR=str(case.dir / "inductor"))
    recording = record_steps(case, job)
    check(job, recording)
    rows = report(recording, "--table", "kernel")["kernel"]["rows"]
    assert any(r["name"].startswith("triton_") for r in rows), rows
    end(job)


@test("two ranks over NCCL, with its kernels' names of before 2.19")
def ranks(case):
    job = GpuJob(case, PYTHON, "-B", "-m", "torch.distributed.run", "--standalone",
                 "--nproc-per-node", "2", JOB, "ranks", SIMGPU_DEVICES="2", SIMGPU_NCCL_OLD="1")
    tool = case.tool("--job", job.pid, "--record", "2:6", "--no-trace", "--no-progress").done(LONG_S)
    files = tool.recordings()
    assert len(files) == 2, files
    for recording in files:
        check(job, recording)
        rows = report(recording, "--table", "distributed")["distributed"]["rows"]
        assert any(r["name"] == "Communication" and r["total_ns"] for r in rows), rows
    (job.dir / "stop").touch()
    assert job.popen.wait(LONG_S) == 0, job.err()
