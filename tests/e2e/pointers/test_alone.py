# SPDX-License-Identifier: BSD-2-Clause
"""--inject: jobs without CUDA, where the library is only needed for pointers."""
import os
import re
import signal

from gpu import LONG_S
from lib import process
from lib.astray import seen
from lib.runner import test
from pointer_hooks import Data, check_losses, end, record, start, wait_steps
from steps import check_steps, forward_of


def start_alone(case, part="alike", **rest):
    return start(case, part, python=os.environ["PYTHON"], JOB_DEVICES="cpu", **rest)


def inject(case, job, **rest):
    """However long steps are."""
    return record(case, job, "--inject", "--max-overhead", "0.01%", **rest)


def inject_on(case, job):
    tool = inject(case, job, window="0:1000000000").wait_recording(LONG_S)
    seen(tool)
    wait_steps(job)
    return tool


@test("without CUDA: the same operators and nodes as by probes, in each step, and the job is as before")
def same(case):
    job = start_alone(case, period=0)
    data = Data(job)
    by_pointers = record(case, job, "--inject").done(LONG_S)
    seen(by_pointers)
    data.check()
    by_probes = record(case, job, "--no-prune").done(LONG_S)
    assert not by_probes.said("capture.library-loaded*"), by_probes.err
    check_steps(by_pointers, check_steps(by_probes))
    ours, theirs = forward_of(by_pointers), forward_of(by_probes)
    assert ours == theirs and len(ours) > 10, (ours - theirs, theirs - ours)
    hits = [t.report()["cost"]["rows"][0]["hits_per_step"] for t in (by_pointers, by_probes)]
    assert 4 * hits[0] < hits[1], hits
    job.popen.send_signal(signal.SIGTERM)
    assert job.popen.wait(LONG_S) == 0, job.err()


@test("without CUDA: no row of a device, and no word of CUPTI")
def nothing_of_cuda(case):
    job = start_alone(case)
    wait_steps(job)
    tool = inject(case, job).done(LONG_S)
    seen(tool)
    assert "CUPTI" not in tool.out + tool.err, tool.out + tool.err
    assert re.search(r"it stopped the target for [0-9.]+ [mu]s to load its library", tool.out), tool.out
    assert not any(e["type"] == "device" for e in tool.events())
    assert [r["device"] for r in tool.report()["device"]["rows"]] == ["CPU(Process)", "CPU(System)"]


@test("without CUDA: errors, threads and workers while the library sees them")
def parts(case):
    for part in "raises", "threads", "loader":
        job = start_alone(case, part)
        data = Data(job)
        tool = inject_on(case, job)
        tool.interrupt().done(LONG_S)
        data.check()
        end(job)


@test("without CUDA: proftrace killed in its window, and attached anew")
def killed(case):
    job = start_alone(case)
    data = Data(job)
    tool = inject_on(case, job)
    tool.signal(signal.SIGKILL)
    tool.wait()
    data.check()
    seen(inject(case, job).done(LONG_S))
    data.check()
    end(job)


@test("without CUDA: four times in turn, and the job ends within a window")
def turns(case):
    job = start_alone(case, "leave")
    data = Data(job)
    for _ in range(4):
        seen(inject(case, job).done(LONG_S))
        data.check()
    tool = inject_on(case, job)
    job.popen.send_signal(signal.SIGUSR1)
    assert job.popen.wait(LONG_S) == 5, (job.popen.poll(), job.err())
    check_losses(job)
    tool.done(LONG_S)


@test("without CUDA, where the library would see nothing it stays out, and says why")
def stays_out(case):
    job = start_alone(case)
    wait_steps(job)
    for option, why in (("--record-shapes", "neither shapes nor stacks"), ("--detail=phase", "at --detail operator alone"),
                        ("--max-overhead=90%", "less than --max-overhead")):
        tool = record(case, job, "--inject", option).done(LONG_S)
        assert tool.said("capture.library-stays-out", job.pid, why), tool.err
    assert not any("libproftrace" in m[4] for m in process.mappings(job.pid))
    end(job)


@test("without CUDA: a debugger finds no path of a descriptor in the loader's list, which it would open")
def loader_list(case):
    job = start_alone(case, "names")
    wait_steps(job)
    seen(inject(case, job).done(LONG_S))
    job.popen.send_signal(signal.SIGUSR1)
    process.wait_for(lambda: re.search("^names .*\n", job.out(), re.MULTILINE), LONG_S, "the names")
    names, = (line.split() for line in job.out().splitlines() if line.startswith("names "))
    assert "libproftrace" in names and not any(n.startswith("/proc/") for n in names), names
    end(job)
