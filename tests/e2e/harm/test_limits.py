# SPDX-License-Identifier: BSD-2-Clause
"""Descriptors: their usual limit is enough, and watching for long does not use them up."""
import pathlib

from lib import process
from lib.runner import test
from lib.tool import row


@test("descriptors do not grow with the workers that come and go")
def workers(case):
    job, _ = case.training("--workers", 2, "--samples", 96, "--sleep-ms", 1)
    tool = case.tool("-p", job.pid, "--detail", "inner", "--no-trace").wait_recording()
    job.wait_steps(300)  # 50 epochs
    held = len(process.descriptors(tool.pid))
    # 23 links for each process, of which up to 5 live, those of two epochs, and up to 15 have ended; 100 came and
    # went. Some 60 are others.
    assert held < 23 * 20 + 100, f"{held} descriptors"
    tool.interrupt().done()
    job.wait_steps(7)
    assert not process.changed_text(job.pid)


@test("the usual limit of descriptors is enough for probes attached one by one")
def one_by_one(case):
    job, before = case.training()
    tool = case.tool("-p", job.pid, "--attach-method", "perf", "--detail", "phase",
                     "--record", "0:2", "--no-trace",
                     wrap=["bash", "-c", 'ulimit -S -n 48; exec "$0" "$@"'])
    assert row(tool.done(120).report(), "summary")["steps"] == 2
    before.check(0)


def under(limit):
    return ["bash", "-c", f'ulimit {limit}; exec "$0" "$@"']


@test("too few descriptors: says how many are open and the limit, for programs and for probes")
def descriptors(case):
    job, before = case.training()
    for limit in (32, 60):
        tool = case.tool("-p", job.pid, "--record", "0:2", "--no-trace", wrap=under(f"-n {limit}"))
        assert tool.wait() > 0 and any("too many open files" in str(a) and f"the limit is {limit}" in str(a)
                                      for a in tool.messages()[-1].arguments), tool.err
        assert not tool.said(("capture.bpf-refused", "capture.libraries-unreadable")), tool.err
    before.check(0)


GOLDEN = pathlib.Path(__file__).resolve().parents[2] / "golden/simgpu.ptrec"


@test("a limit of file sizes is an error with words, and not a signal")
def small_files(case):
    tool = case.tool("export", "-o", "trace.json", GOLDEN, wrap=under("-f 1"))
    tool.fails("exporters.output-file-too-large", "trace.json")
    assert not list(tool.dir.glob("trace.json*"))


@test("a program that run starts has the signals as they were")
def signals(case):
    tool = case.tool("run", "--duration", "1s", "--no-trace", "--", "sh", "-c",
                     "grep SigIgn /proc/self/status >ignored; sleep 3").done()
    ignored = int((tool.dir / "ignored").read_text().split()[1], 16)
    assert not ignored & 1 << 24, f"{ignored:x}"  # SIGXFSZ is 25


@test("too little address space for the target's libraries: says so, and not that there is no framework")
def address_space(case):
    job, before = case.training()
    tool = case.tool("-p", job.pid, "--record", "0:2", wrap=under("-v 300000"))
    tool.fails("target.library-not-inspected", job.pid, "ulimit -v")
    assert not tool.said("capture.framework-missing"), tool.err
    before.check(0)
