# SPDX-License-Identifier: BSD-2-Clause
"""Methods of Tensor, whose return ends the operators that they call."""
import job
from lib.runner import test
from lib.tool import row

STEPS, ADDS = 400, 40
BREAKPOINT = 0xcc


def byte_at(pid, address):
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        memory.seek(address)
        return memory.read(1)[0]


def recorded(tables, name):
    """Returns the calls in the recording. Functions left out are only estimated."""
    return sum(r["calls"] for r in tables["operator"]["rows"]
               if r["name"] == name and not r["estimated"])


def record(case, *how, options=()):
    """The tables of a window, and whether the method had a probe in it."""
    adds = job.start(case, "paddle_adds.py", *how).wait_steps(10)
    address = int(adds.output().split("address ")[1].split()[0])
    tool = case.tool("-p", adds.pid, "--record", f"2:{2 + STEPS}", *options).wait_recording()
    is_probed = byte_at(adds.pid, address) == BREAKPOINT
    tool.done()
    adds.stop()
    return tool.report(), is_probed


@test("a method's probe goes with the last operator that it calls")
def goes(case):
    tables, is_probed = record(case)
    assert not recorded(tables, "add dygraph"), "add is worth its probe"
    assert not is_probed
    tables, is_probed = record(case, options=("--no-prune",))
    assert recorded(tables, "add dygraph") == STEPS * ADDS, tables["operator"]
    assert is_probed


@test("a method's probe stays for one operator, and each of its calls counts as hits")
def stays(case):
    # It takes far longer than all of these hits.
    tables, is_probed = record(case, "--scale", "large", options=("--max-overhead", "0.1"))
    assert not recorded(tables, "add dygraph"), "add is worth its probe"
    assert recorded(tables, "scale dygraph") == STEPS, tables["operator"]
    assert is_probed
    hits = row(tables, "cost")["hits_per_step"]
    assert hits > 2 * (ADDS + 1), hits


@test("a method's probe goes with an operator that is not worth the hits of those that are gone")
def goes_at_last(case):
    tables, is_probed = record(case, "--scale", "small")
    assert not recorded(tables, "add dygraph") + recorded(tables, "scale dygraph"), tables["operator"]
    assert not is_probed
