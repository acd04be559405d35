# SPDX-License-Identifier: BSD-2-Clause
"""Each illness must be found by its rule, with evidence that fits, and come before all other findings."""
import os
import pathlib
import re
import subprocess

from lib.runner import test

SIMGPU = pathlib.Path(os.environ["PROFTRACE"]).resolve().parent / "simgpu/13/venv/bin/python"
# Findings that the machine may cause, not the job.
OF_THE_MACHINE = {"cpu_wait", "slow_steps"}


def findings(case, illness, *options, **kwargs):
    job = case.job("ill.py", "--illness", illness, **kwargs).wait_steps(5)
    tool = case.tool("-p", job.pid, "--record", "2:22", "--no-trace", *options).done()
    rows = tool.report("--table", "findings")["findings"]["rows"]
    job.wait_steps(3)
    return {row["rule"]: row for row in rows}, tool


# Without this variable glibc gives memory back in each step of some runs, depending on the sizes it has seen. Such a
# job would not be healthy.
KEEPS_MEMORY = ("env", "MALLOC_TRIM_THRESHOLD_=1073741824", "MALLOC_MMAP_THRESHOLD_=1073741824")


@test("a healthy job: nothing")
def healthy(case):
    rows, _ = findings(case, "none", wrap=KEEPS_MEMORY)
    # A thread that gets no processor does so in each phase: smaller findings follow from that.
    waiting = rows.get("cpu_wait", {"share_percent": 0})["share_percent"]
    assert not {rule for rule, row in rows.items()
                if rule not in OF_THE_MACHINE and row["share_percent"] > waiting}, rows


@test("a data loader without workers")
def loader(case):
    rows, tool = findings(case, "loader")
    assert not set(rows) - OF_THE_MACHINE - {"data_loader"}, rows
    found = rows["data_loader"]
    assert found["cost_ns"] > 16e6 and found["share_percent"] > 30, found
    assert "no worker process" in found["evidence"] and "num_workers" in found["next"], found
    assert "1. The step waits" in tool.out, tool.out


@test("a data loader whose one worker, of a fork server, has too much to do")
def workers(case):
    rows, _ = findings(case, "workers")
    found = rows["data_loader"]
    assert "1 worker process ran" in found["evidence"], found
    ran, ready = map(int, re.search(r"ran for (\d+) % of the time and stood ready for (\d+) %",
                                    found["evidence"]).groups())
    # If others use the machine, the worker may lack a processor for longer than it has one.
    assert ("the workers lack processors" if ready > ran else
            "the workers are the bottleneck") in found["next"], found


@test("a slow step now and then", alone=True)
def slow_step(case):
    rows, _ = findings(case, "slow-step")
    found = rows["slow_steps"]
    # The pause lies before backward(), so it belongs to the inferred forward pass.
    assert "of the surplus lies in Forward" in found["evidence"], found
    assert re.search(r"the thread is blocked for \d+ % of it in clock_nanosleep", found["evidence"]), found
    assert 8e6 < found["cost_ns"] < 40e6, found


@test("a slow step now and then, because of one operator", alone=True)
def slow_operator(case):
    rows, _ = findings(case, "slow-operator")
    found = rows["slow_steps"]
    share = re.search(r"(\d+) % in aten::mm itself", found["evidence"])
    assert share and int(share[1]) > 80, found


@test("time between the steps, asleep")
def outside(case):
    rows, _ = findings(case, "outside")
    found = rows["off_cpu"]
    assert found["cost_ns"] > 18e6 and "sleeps" in found["finding"], found
    assert "outside_phases" not in rows, rows


@test("threads that hold the interpreter's lock")
def lock(case):
    rows, _ = findings(case, "lock")
    found = rows["off_cpu"]
    assert "waits on a lock (futex)" in found["finding"] and "GIL" in found["next"], found
    assert "which was not seen to run an operator, ran for" in found["evidence"], found


@test("a step that waits for a child")
def child(case):
    rows, _ = findings(case, "child")
    found = rows["off_cpu"]
    assert "blocked in wait4" in found["finding"] and found["cost_ns"] > 20e6, found


@test("a spike of memory")
def spike(case):
    rows, tool = findings(case, "spike", "--profile-memory", "--no-prune")
    found = rows["memory_peak"]
    assert "134.2 MB of the peak by aten::empty" in found["evidence"], found
    assert "cost_ns" in found and found["cost_ns"] is None, found
    assert not set(findings(case, "none", "--profile-memory")[0]) & {"memory_peak", "memory_unused"}


@test("memory that each step takes from the kernel and gives back")
def churn(case):
    job = case.job("ill.py", "--illness", "churn").wait_steps(5)
    options = ("-p", job.pid, "--record", "2:22", "--no-trace")
    tool = case.tool(*options, "--syscalls").done()
    assert tool.report()["summary"]["rows"][0]["steps"] == 20
    calls = {r["name"]: r for r in tool.report("--table", "syscalls")["syscalls"]["rows"]
             if r["section"].startswith("Thread")}
    assert calls["munmap"]["calls"] >= 20 and calls["mmap"]["calls"] >= 20, calls
    assert calls["mmap"]["calls_per_step"] == calls["mmap"]["calls"] / 20, calls
    check_churn(tool, "the kernel's count")
    tool = case.tool(*options, "--page-faults", "--syscalls")
    if tool.wait():
        assert tool.said("capture.page-faults-not-probed"), tool.err
        job.wait_steps(3)
        return
    check_churn(tool, "memory without a file")
    assert not {"page_faults"} & set(findings(case, "none", "--page-faults", "--syscalls",
                                              wrap=KEEPS_MEMORY)[0])


def check_churn(tool, evidence):
    rows = {row["rule"]: row for row in tool.report("--table", "findings")["findings"]["rows"]}
    found = rows["page_faults"]
    assert evidence in found["evidence"] and "jemalloc" in found["next"], found
    assert 1e6 < found["cost_ns"] < 200e6, found


# Copies move no bytes there: on two processors that would take longer than the link.
LINK_GBS, PAGEABLE_GBS = 20, 4
COPIES = {"SIMGPU_PCIE_GBS": str(LINK_GBS), "SIMGPU_COPY_MAX_MB": "1"}


@test("large copies of pageable memory, on the simulated GPU")
def pageable(case):
    rows, _ = findings(case, "pageable", python=SIMGPU, **COPIES, SIMGPU_PAGEABLE_GBS=str(PAGEABLE_GBS))
    found = rows["copy_bandwidth"]
    # The latency takes a part of the small copy's time.
    assert "(HtoD) run at 4.0 GB/s, of page-locked at 19.9." in found["finding"], found
    assert "1.0 copies a step of 33.6 MB" in found["evidence"], found
    # 8.4 ms a step, of which the link would need a fifth
    assert 6.5e6 < found["cost_ns"] < 6.9e6 and "pin_memory" in found["next"], found


@test("pageable memory at the link's rate, and page-locked memory: no word of the copies")
def healthy_copies(case):
    for illness, gbs, kinds in (("pageable", LINK_GBS, {"Pageable": 20, "Pinned": 20}),
                                ("page-locked", PAGEABLE_GBS, {"Pinned": 40})):
        rows, tool = findings(case, illness, python=SIMGPU, **COPIES, SIMGPU_PAGEABLE_GBS=str(gbs))
        copied = {row["name"]: row["calls"]
                  for row in tool.report("--table", "manipulation")["manipulation"]["rows"]}
        assert copied == {f"Memcpy HtoD ({kind} -> Device)": cnt for kind, cnt in kinds.items()}, copied
        assert "copy_bandwidth" not in rows, rows


@test("short kernels that the host launches too slowly, and long ones, on the simulated GPU")
def launches(case):
    rows, _ = findings(case, "launches", python=SIMGPU, SIMGPU_KERNEL_NS="1000", SIMGPU_WAVE_NS="500")
    found = rows["launch_bound"]
    mean, gap, every = (float(n) * {"ns": 1, "us": 1000}[unit]
                        for n, unit in re.findall(r"([\d.]+) (ns|us)", found["evidence"]))
    late = int(re.search(r"before (\d+) % of them the device is idle", found["evidence"])[1])
    assert 1000 <= mean < 3000 and late > 80 and 0 < gap < every, found
    assert "most in aten::add_ " in found["evidence"], found
    assert found["cost_ns"] > 350 * gap and "CUDA graphs" in found["next"], found
    assert "device_idle" not in rows, rows
    rows, tool = findings(case, "launches", python=SIMGPU, SIMGPU_KERNEL_NS="400000")
    assert tool.report("--table", "kernel")["kernel"]["rows"][0]["calls"] == 20 * 400
    assert not set(rows) & {"launch_bound", "small_copies", "exposed_copies", "device_allocation"}, rows


@test("waits, small copies and memory from the driver in each step, on the simulated GPU", alone=True)
def often(case):
    # The kernels are so short that the device is idle even where the host does not wait.
    rows, _ = findings(case, "waits", python=SIMGPU, SIMGPU_KERNEL_NS="100000")
    found = rows["synchronization"]
    waited_ms = float(re.match(r"([\d.]+) ms of a step in calls", found["evidence"])[1])
    assert "waits for the device 2" in found["finding"] and waited_ms > 20 * 0.05, found
    # The found share is at most the device's idle time. The device is idle for a part of the step where the host does
    # not wait.
    assert found["share_percent"] > 3 and found["cost_ns"] <= waited_ms * 1.001e6, found
    rows, _ = findings(case, "small-copies", python=SIMGPU)
    found = rows["small_copies"]
    assert re.match("602 copies a step move 4096 bytes or less", found["finding"]), found
    assert "most in aten::to (602.0 a step)" in found["evidence"], found  # two of the batch
    rows, _ = findings(case, "empties", python=SIMGPU)
    found = rows["device_allocation"]
    # each is one call and one that gives back, at least
    assert float(re.search(r"([\d.]+) times a step", found["finding"])[1]) >= 10, found


@test("a host that does other things between the steps, on the simulated GPU")
def busy(case):
    rows, _ = findings(case, "busy", python=SIMGPU)
    assert 18e6 < rows["outside_phases"]["cost_ns"] and "launch_bound" not in rows, rows
    found = rows["device_idle"]
    assert found["cost_ns"] > 18e6 and "busy with other things than launching" in found["next"], found


@test("large copies that no kernel hides, on the simulated GPU")
def exposed(case):
    # The link is slow enough to take more than 15 % of a slow machine's step.
    rows, _ = findings(case, "page-locked", python=SIMGPU, **dict(COPIES, SIMGPU_PCIE_GBS="5"))
    found = rows["exposed_copies"]
    # 37.7 MB at 5 GB/s, and nothing beside them
    assert "37.7 MB a step" in found["evidence"] and 7.4e6 < found["cost_ns"] < 7.8e6, found


@test("a processor that others use")
def contended(case):
    core = str(min(os.sched_getaffinity(0)))
    job = case.job("ill.py", wrap=("taskset", "-c", core)).wait_steps(5)
    spin = subprocess.Popen(["taskset", "-c", core, "sh", "-c", "while :; do :; done"])
    case.finally_(spin.kill)
    tool = case.tool("-p", job.pid, "--record", "2:22", "--no-trace").done()
    rows = tool.report("--table", "findings")["findings"]["rows"]
    found = {row["rule"]: row for row in rows}["cpu_wait"]
    assert found["share_percent"] > 25 and "taskset" in found["next"], found


@test("memory that the allocator holds and nobody uses, on the simulated GPU")
def unused(case):
    for illness in ("unused", "used"):
        rows, tool = findings(case, illness, "--profile-memory", python=SIMGPU, SIMGPU_MEM_MB="1024")
        notes = tool.report("--table", "memory")["memory"]["notes"]
        assert any(n.startswith("GPU0: Peak Allocated Memory: ") for n in notes), notes
        if illness == "used":
            assert "memory_unused" not in rows, rows
            continue
        found = rows["memory_unused"]
        assert re.match(r"The allocator holds 6\d\d\.\d MB of GPU0, and at most \d\d\.\d MB of it",
                        found["finding"]), found
        assert found["cost_ns"] is None and "empty_cache" in found["next"], found
