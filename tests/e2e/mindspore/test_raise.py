# SPDX-License-Identifier: BSD-2-Clause
"""Errors raised and caught under every probe."""
import jobs
from lib.job import Harmed
from lib.runner import test

KINDS = ("backward", "check", "deeper", "graph", "kernel", "operator")


def raising(case, steps, rounds, *options):
    """Errors keep happening while the tool attaches, records and detaches."""
    job = jobs.start(case, "--steps", steps, "--rounds", rounds, workload="ms_raise.py")
    job.wait_steps(2, timeout_s=120)
    tool = case.tool("-p", job.pid, "--duration", "200s", *options)
    if job.wait(300) != 0:
        raise Harmed(f"the job ended with {job.poll()}: {job.err.read_text()}")
    tool.done()
    caught = dict(word.split("=") for word in job.output().split())
    assert all(int(caught[kind]) == steps * rounds for kind in KINDS), caught
    assert int(caught["data"]) == (steps + 7) // 8, caught
    tables = tool.report()
    recorded = tables["summary"]["rows"][0]["steps"]
    assert recorded > 5, recorded
    return tables


@test("thousands of errors of each kind under the default probes")
def default(case):
    tables = raising(case, 30, 20)
    # A launch that raises must end where the error is caught. It must not go on until a launch succeeds.
    assert "OperatorInner" not in jobs.names(tables, "overview", "event_type"), tables["overview"]


@test("errors of each kind under the inner probes and those of memory")
def inner(case):
    raising(case, 60, 3, "--detail", "inner", "--profile-memory")
