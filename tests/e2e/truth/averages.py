# SPDX-License-Identifier: BSD-2-Clause
"""Compares --table key_averages with torch.profiler's own key_averages() of the same calls."""
import json

from checks import Mismatch
from durations import ABSOLUTE_US, COLD, RELATIVE
from events import NODE_PREFIX, nest

FIRST, STEPS = 2, 6
OPTIONS = ("inner", "--record-shapes", "--profile-memory")
RIGHT_NAMES = 2 / 3  # others' marks lie apart by what else the machine does between them
EXACT = (2, 4)  # before, torch.profiler's own averages are made of whole microseconds
IN_ALL = 0.1  # part by which the own times of all may differ
CALLERS = 5  # that a row by stack names
OUTSIDE = "[memory]"  # torch's row for memory outside of any event
SUMS = ("calls", "cpu_total_ns", "self_cpu_ns", "cpu_memory_bytes", "self_cpu_memory_bytes",
        "total_flops", "marks")


def _shapes(shapes):
    """Kineto writes an undefined tensor as [] or [0], depending on the version. Arguments at the end without a shape
    may be missing."""
    shapes = [[] if shape == [0] else shape for shape in shapes or []]
    while shapes and not shapes[-1]:
        shapes.pop()
    return str(shapes)


KEYS = {
    "name": lambda row: row["name"],
    "shape": lambda row: (row["name"], _shapes(row["input_shapes"])),
    "stack": lambda row: (row["name"], " < ".join(row["callers"][:CALLERS])),
}


def _merged(rows, key):
    """Sums by key, after removing the parts of the keys that are not compared."""
    merged = {}
    for row in rows:
        into = merged.setdefault(key(row), dict.fromkeys(SUMS, 0))
        for name in SUMS:
            into[name] += row.get(name) or 0
    return merged


def _ours(job, what, *options):
    rows = [row for row in job.table("key_averages", "--group-by", what, "--row-limit", "0", *options)
            if not row["estimated"]]
    for row in rows:
        if what == "shape":
            row["input_shapes"] = json.loads(row["input_shapes"] or "[]")
        if what == "stack":
            row["callers"] = row["callers"].split(" < ") if row["callers"] else []
    return _merged(rows, KEYS[what])


def _marked_twice(rows):
    """Events that torch marks a second time inside: what the engine calls for a node, by the node's
    name, and what aten::detach is. Name inside -> name."""
    names = {row["name"] for row in rows}
    twice = {name.removeprefix(NODE_PREFIX): name for name in names
             if name.startswith(NODE_PREFIX)}
    return {**twice, "detach": "aten::detach"}


def _theirs(rows, what):
    twice = _marked_twice(rows)
    rows = [row for row in rows if row["name"] not in twice and row["name"] != OUTSIDE]
    for row in rows:
        if what == "stack":
            row["callers"] = [name for name in row["callers"] if name not in twice]
    return _merged(rows, KEYS[what])


COUNTS = ("calls", "total_flops", "cpu_memory_bytes", "self_cpu_memory_bytes")


def _agree(what, ours, theirs, counts):
    """The same rows, with the same calls and bytes."""
    def _counts(row):
        return [row[name] for name in counts]

    if ours.keys() != theirs.keys():
        raise Mismatch(f"by {what}: rows of proftrace alone {sorted(ours.keys() - theirs.keys())}, "
                       f"of torch.profiler alone {sorted(theirs.keys() - ours.keys())}")
    wrong = [f"{key}: {_counts(row)}, torch.profiler {_counts(theirs[key])}"
             for key, row in ours.items() if _counts(row) != _counts(theirs[key])]
    if wrong:
        raise Mismatch(f"by {what}: calls, FLOPs, bytes and own bytes of {len(wrong)} of {len(ours)} rows "
                       f"differ: {'; '.join(wrong)}")


def rows(job):
    """By name, by shapes and by callers: adjacent steps, that do the same. Each tool knows the size
    of what is freed if it saw the allocation, so both begin with their window."""
    job.record(f"{FIRST}:{FIRST + STEPS}", *OPTIONS)
    cnt, exact = {}, job.torch >= EXACT
    for what, theirs in job.averages(STEPS).items():
        ours = _ours(job, what)
        _agree(what, ours, _theirs(theirs, what), COUNTS if exact else COUNTS[:2])
        cnt[what] = len(ours)
    return (", ".join(f"{n} rows by {what}" for what, n in cnt.items())
            + (": calls, FLOPs and memory agree" if exact else ": calls and FLOPs agree"))


def _with_inner(rows):
    """A node's own time is that of torch's two rows, the engine's and the function's in it."""
    merged = _theirs(rows, "name")
    for row in rows:
        if outer := _marked_twice(rows).get(row["name"]):
            merged[outer]["self_cpu_ns"] += row["self_cpu_ns"]
            merged[outer]["marks"] += row["marks"]
    return merged


def _trees(spans):
    """Spans with those directly inside, without those whose only caller has their name."""
    open_at, rows = [], []
    for span in nest(spans):
        del open_at[span.depth :]
        row = {"span": span, "inside": []}
        if open_at:
            open_at[-1]["inside"].append(row)
        open_at.append(row)
        rows.append(row)
    for row in rows:
        while len(row["inside"]) == 1 and row["inside"][0]["span"].name == row["span"].name:
            row["inside"][0]["lost"] = True
            row["inside"] = row["inside"][0]["inside"]
    return [row for row in rows if "lost" not in row]


def sums(job):
    """Total and own time of each name, as measured, are the sums of the spans of the trace, whose
    times are whole microseconds."""
    trace = job.record(f"{FIRST}:{FIRST + STEPS}", "inner")
    spans = [s for s in trace.of_main_thread("cpu_op", "user_annotation")
             if not s.name.startswith("ProfilerStep#") and s.name != "backward"]
    want = {}
    for row in _trees(spans):
        sum_ = want.setdefault(row["span"].name, {"total": 0, "own": 0, "ends": 0})
        inside = [inner["span"] for inner in row["inside"]]
        sum_["total"] += row["span"].duration_us
        sum_["own"] += row["span"].duration_us - sum(s.duration_us for s in inside)
        sum_["ends"] += 1 + len(inside)
    rows = {row["name"]: row for row in job.table("key_averages", "--row-limit", "0",
                                                  "--raw-times") if not row["estimated"]}
    if rows.keys() != want.keys():
        raise Mismatch(f"rows {sorted(rows.keys() ^ want.keys())} in one of table and trace")
    wrong = [f"{name}: {row['cpu_total_ns']} {row['self_cpu_ns']}, {want[name]}"
             for name, row in rows.items()
             if abs(row["cpu_total_ns"] / 1000 - want[name]["total"]) > row["calls"]
             or abs(row["self_cpu_ns"] / 1000 - want[name]["own"]) > want[name]["ends"]]
    if wrong:
        raise Mismatch("; ".join(wrong))
    return f"{len(rows)} names: total and own times are the sums of {len(spans)} spans"


def times(job):
    """
    Total and own time by name, of the same calls, with each tool's cost in the other's times: what
    durations.py allows, for each event and, for own times, each one directly in it. Sums cannot be
    freed of what else the machine does, so some names may differ; see durations.py for each call.
    The own times of all are compared with the probes in them, which torch.profiler does not leave
    out: of a step that is quick they are a larger part.
    """
    if job.torch < EXACT:
        return "not compared: torch.profiler's are sums of whole microseconds"
    truth = job.record_averaged(f"{FIRST}:{FIRST + STEPS}", *OPTIONS)["name"]
    ours, theirs = _ours(job, "name"), _with_inner(truth)
    cost_us = COLD * (job.probe_cost_us() + job.profiler_cost_us())
    wrong = []
    for name, row in ours.items():
        for of, marks in (("cpu_total_ns", row["calls"]), ("self_cpu_ns", theirs[name]["marks"])):
            theirs_us = theirs[name][of] / 1000
            allowed_us = max(RELATIVE * theirs_us, marks * ABSOLUTE_US) + marks * cost_us
            if abs(row[of] / 1000 - theirs_us) > allowed_us:
                wrong.append(f"{name} {of} {row[of]}, torch.profiler {theirs[name][of]}")
    in_all = [sum(row["self_cpu_ns"] for row in table.values()) / 1e6
              for table in (_ours(job, "name", "--raw-times"), theirs)]
    differ = len({text.rsplit(" ", 4)[0] for text in wrong})
    said = (f"{len(ours) - differ} of {len(ours)} names agree, in all {in_all[0]:.2f} ms against "
            f"{in_all[1]:.2f} ms")
    if (differ > (1 - RIGHT_NAMES) * len(ours)
            or abs(in_all[0] - in_all[1]) > IN_ALL * in_all[1]):
        raise Mismatch(f"{said}: {'; '.join(wrong)}")
    return said
