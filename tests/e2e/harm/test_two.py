# SPDX-License-Identifier: BSD-2-Clause
"""Two proftraces on one target do not see each other."""
from lib import process
from lib.runner import test
from lib.tool import calls, row


@test("two proftraces at once, each its own window and detail")
def both(case):
    job, before = case.training()
    tools = [case.tool("-p", job.pid, "--record", "0:20", "--detail", detail, "--no-prune",
                       "--no-trace") for detail in ("inner", "operator")]
    for tool in tools:
        tables = tool.done().report()
        assert row(tables, "summary")["steps"] == 20, tool.out
        assert "events lost: 0" in tool.out
        assert calls(tables, "aten::cross_entropy_loss") == 20, tool.out
    before.check(0)


@test("one of two proftraces ends, the other goes on")
def one_ends(case):
    job, before = case.training()
    long = case.tool("-p", job.pid, "--detail", "inner", "--no-trace").wait_recording()
    short = case.tool("-p", job.pid, "--record", "0:3", "--detail", "inner", "--no-trace").done()
    assert row(short.report(), "summary")["steps"] == 3
    assert process.is_probed(job.pid), "the other's probes went too"
    job.wait_steps(20)
    long.interrupt().done()
    tables = long.report()
    steps = row(tables, "summary")["steps"]
    assert steps > 20, steps
    assert abs(calls(tables, "aten::cross_entropy_loss") - steps) <= 1, long.out
    before.check(0)


@test("one of two proftraces is killed, the other goes on")
def one_killed(case):
    job, before = case.training()
    long = case.tool("-p", job.pid, "--detail", "inner", "--no-trace").wait_recording()
    other = case.tool("-p", job.pid, "--detail", "inner", "--no-trace").wait_recording()
    other.popen.kill()
    other.wait()
    job.wait_steps(20)
    long.interrupt().done()
    tables = long.report()
    steps = row(tables, "summary")["steps"]
    assert steps > 20 and abs(calls(tables, "aten::cross_entropy_loss") - steps) <= 1, long.out
    before.check()
