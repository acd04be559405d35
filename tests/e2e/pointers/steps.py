# SPDX-License-Identifier: BSD-2-Clause
"""The content of each step of a recording, for comparison with another recording."""
import collections

SHOWN = "operator", "backward_node", "kernel", "memcpy", "memset", "runtime"
WHOLE = 8  # steps of a window
HOOK = "aten::clamp_min"  # in a hook: by the probe of a node's type, too, below the node before


def paths(tool):
    """Returns by step how often each operator, call and kernel was seen, and below what."""
    events, steps = {}, collections.defaultdict(collections.Counter)
    for e in tool.events():
        if e["type"] not in ("span", "device") or e.get("category") not in SHOWN:
            if e["type"] == "span":
                events[e["id"]] = (), e.get("parent_id")
            continue
        events[e["id"]] = ((e["name"],), e.get("parent_id") or e.get("launch_id"))
        steps[e.get("step")][e["id"]] = 1

    def path(i):
        own, parent = events.get(i, ((), None))
        if own == (HOOK,):
            return own
        return (path(parent) if parent else ()) + own

    return {step: collections.Counter(path(i) for i in ids) for step, ids in steps.items()
            if step is not None}


def nodes(tool):
    return [e for e in tool.events() if e.get("category") == "backward_node"]


def forward_of(tool):
    """Each backward node with the operator that made it, by the number of both, in each step."""
    made, found = {}, collections.Counter()
    for e in tool.events():
        if e.get("category") == "operator" and "sequence" in e:
            made[e["sequence"]] = e["name"]
    for e in nodes(tool):
        found[made.get(e.get("sequence")), e["name"]] += 1
    return found


def difference(a, b):
    return {" > ".join(p): (a[p], b[p]) for p in a.keys() | b.keys() if a[p] != b[p]}


def check_steps(tool, expected=None, of=paths):
    """All steps must be alike and as expected. Returns the content of each."""
    steps = of(tool)
    assert len(steps) == WHOLE, len(steps)
    for step, found in steps.items():
        expected = expected or found
        assert found == expected, (step, difference(found, expected))
    return expected
