# SPDX-License-Identifier: BSD-2-Clause
"""Arguments that are no tensors: numbers, bools, lists of them; None is what is none of these, or not
known. And the FLOPs that follow from them and from shapes."""
import ast
import collections

from checks import Mismatch

LONGEST = 8  # longer lists are not described
# depend on the data, so they differ in each step
SAMPLED = {("aten::select", 2), ("aten::as_strided", 3)}


def from_text(text):
    """Parses a value as "Concrete Inputs" writes it."""
    if text.lstrip("-") in ("inf", "nan"):
        return float(text)
    return ast.literal_eval(text) if text else None


def _kind(value):
    return [type(v) for v in value] if isinstance(value, list) else type(value)


def _has_float(value):
    return float in _kind(value) if isinstance(value, list) else isinstance(value, float)


def _agree(ours, theirs):
    """Compares only the type of floating point numbers, because they are in registers that no probe sees, or differ in
    each step (as an optimizer's correction)."""
    if _has_float(theirs):
        return ours is None or _kind(ours) == _kind(theirs)
    if isinstance(theirs, list) and len(theirs) > LONGEST:
        return ours is None
    return _kind(ours) == _kind(theirs) and ours == theirs


def inner(pairs):
    """Every argument of every call; how many were compared, and how many of these are numbers of
    floating point that are not there."""
    compared = unseen = 0
    for ours, theirs in pairs:
        if not theirs.values:
            continue
        for position, value in enumerate(theirs.values):
            mine = ours.values[position] if position < len(ours.values) else None
            if (ours.name, position) in SAMPLED and _kind(mine) == _kind(value):
                continue
            if not _agree(mine, value):
                raise Mismatch(f"values: {ours.name} {ours.shapes}: argument {position}: "
                               f"proftrace {mine}, torch.profiler {value}")
            compared += value is not None
            unseen += value is not None and mine is None
    return compared, unseen


def _as_passed(ours, theirs, shape):
    """Python passes a number for a list of it or for a tensor, or the numbers of a list one by one;
    a whole number for one of floating point."""
    if isinstance(theirs, list) and not isinstance(ours, list):
        return not theirs or ours in theirs
    if theirs is None:
        return shape == []
    return _has_float(theirs) or (_kind(ours) == _kind(theirs) and ours == theirs)


def python_level(pairs):
    """Python's arguments must be the operator's, except that a list may be passed one by one."""
    compared = 0
    for ours, theirs in pairs:
        for position, mine in enumerate(ours.values[:len(theirs.values)]):
            value = theirs.values[position]
            if mine is None:
                continue
            if not _as_passed(mine, value, theirs.shapes[position]):
                raise Mismatch(f"values: {ours.name} {ours.shapes}: argument {position}: "
                               f"proftrace {mine}, torch.profiler {value}")
            compared += 1
            if isinstance(value, list) and not isinstance(mine, list):
                break
    return compared


def _without_repeated(spans):
    """Removes calls that only call the same name. key_averages() counts both as one event."""
    around, inside = {}, collections.Counter()
    open_spans = []
    for at, span in enumerate(spans):
        while open_spans and spans[open_spans[-1]].end_ns <= span.begin_ns:
            open_spans.pop()
        if open_spans:
            around[at] = open_spans[-1]
            inside[open_spans[-1]] += 1
        open_spans.append(at)
    return [span for at, span in enumerate(spans)
            if at not in around or spans[around[at]].name != span.name or inside[around[at]] > 1]


def flops(job, pairs):
    """Returns FLOPs of the latest recording by name, and how many names have any."""
    want = collections.Counter()
    for span in _without_repeated([theirs for _, theirs in pairs]):
        want[span.name] += span.flops
    ours = {row["name"]: row.get("total_flops") or 0
            for row in job.table("key_averages", "--row-limit", "0")}
    wrong = [f"{name}: {ours.get(name)}, torch.profiler {count}" for name, count in want.items()
             if count != ours.get(name, 0)]
    if wrong:
        raise Mismatch(f"FLOPs: {'; '.join(wrong)}")
    return sum(count > 0 for count in want.values())
