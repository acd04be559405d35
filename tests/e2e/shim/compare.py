#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""compare.py DUMP TRUTH [TOLERANCE_NS [LOST]]: what a recording says of the device against the
simulation's own log. Every activity whose call was open in the window and that had not ended before,
and no other: equal in kind, device, stream, name, bytes and correlation, in time within TOLERANCE_NS
(default 0), and owned by one call of the right function on the right thread. At most LOST activities or calls may be missing.
What was launched before the window and runs in it may be there, without a call: CUPTI tells of it if it recorded then."""
import collections
import subprocess
import sys

DEVICE = ("kernel", "memcpy", "memset")
MINUTE = 60_000_000_000


def rows(path):
    with open(path) as lines:
        return [line.rstrip("\n").split("\t") for line in lines]


def demangled(names):
    names = sorted(names)
    out = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True, check=True)
    return dict(zip(names, out.stdout.split("\n")))


def fail(text, *examples):
    print(f"compare: {text}", file=sys.stderr)
    for example in examples[:5]:
        print(f"    {example}", file=sys.stderr)
    sys.exit(1)


def truth_of(path, begin, end):
    """Device rows and, by correlation id, API calls that may belong to the window. The log may be
    much longer than that."""
    device, calls = [], {}
    with open(path) as lines:
        columns = next(lines).rstrip("\n").split("\t")
        kind, submit, start, stop = (columns.index(c) for c in ("kind", "submit_ns", "start_ns", "end_ns"))
        for line in lines:
            row = line.rstrip("\n").split("\t")
            # If a call is open at the window's end, its work is submitted after that end.
            if row[kind] in DEVICE and int(row[stop]) > begin and int(row[submit]) < end + MINUTE:
                device.append(dict(zip(columns, row)))
            elif row[kind] in ("runtime", "driver") and int(row[stop]) > begin and int(row[start]) < end:
                value = dict(zip(columns, row))
                # A runtime call and the driver's within it share one id: the outer one owns it.
                if value["kind"] == "runtime" or int(value["correlation"]) not in calls:
                    calls[int(value["correlation"])] = value
    return device, calls


def key(row, names):
    """Returns a kernel's name. Names of copies and sets come from data that the log lacks."""
    name = names.get(row["name"], row["name"]) if row["kind"] == "kernel" else ""
    size = 0 if row["kind"] == "kernel" else int(row["bytes"])
    return row["kind"], int(row["dev"]), int(row["stream"]), int(row["correlation"]), size, name


def plain(api):
    """Returns the function's name as in the table of calls: without version and stream variant."""
    for part in ("_ptsz", "_ptds"):
        api = api.replace(part, "")
    base, _, version = api.rpartition("_v")
    return base if base and version.isdigit() else api


EDGE_NS = 20000  # a call's entry or exit, with the library's work around it, takes less time


def inside(row, calls, begin, end):
    """It belongs to the window."""
    call = calls.get(int(row["correlation"]))
    return call and int(call["end_ns"]) > begin and int(call["start_ns"]) < end and int(row["end_ns"]) > begin


def is_left_over(row, calls, begin, end):
    """Launched before the window, it runs in it."""
    return (not inside(row, calls, begin, end) and int(row["submit_ns"]) < begin
            and int(row["start_ns"]) < end and int(row["end_ns"]) > begin)


def may_be_outside(row, calls, begin, end):
    """An edge within a call's own entry or exit is anyone's guess."""
    call = calls[int(row["correlation"])]
    return int(call["end_ns"]) < begin + EDGE_NS or int(call["start_ns"]) > end - EDGE_NS


def main():
    dump = rows(sys.argv[1])
    tolerance = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    may_miss = int(sys.argv[4]) if len(sys.argv) > 4 else 0
    begin, end = next((int(r[1]), int(r[2])) for r in dump if r[0] == "window")
    truth, calls = truth_of(sys.argv[2], begin, end)
    names = demangled({row["name"] for row in truth if row["kind"] == "kernel"})

    expected, unsure = collections.defaultdict(list), collections.Counter()
    for row in (r for r in truth if inside(r, calls, begin, end)):
        expected[key(row, names)].append((int(row["start_ns"]), int(row["end_ns"])))
        unsure[key(row, names)] += may_be_outside(row, calls, begin, end)
    left_over = set()
    for row in (r for r in truth if is_left_over(r, calls, begin, end)):
        expected[key(row, names)].append((int(row["start_ns"]), int(row["end_ns"])))
        unsure[key(row, names)] += 1
        left_over.add(key(row, names))
    seen = collections.defaultdict(list)
    for kind, dev, stream, start, stop, correlation, size, name in (r for r in dump if r[0] in DEVICE):
        seen[(kind, int(dev), int(stream), int(correlation), int(size), name if kind == "kernel" else "")].append(
            (int(start), int(stop))
        )
    # The clock has been corrected since. By the old clock, this activity seemed to reach into the window.
    for k in [k for k in seen if tolerance and k not in expected]:
        if all(stop <= begin + tolerance for _, stop in seen[k]):
            del seen[k]
    extra = [k for k in seen if len(seen[k]) > len(expected.get(k, []))]
    if extra:
        fail(f"{len(extra)} activities that never were", *extra)
    lacks = {k: max(len(v) - len(seen.get(k, [])) - unsure[k], 0) for k, v in expected.items()}
    missing = sum(lacks.values())
    if missing > may_miss:
        fail(f"{missing} activities are missing", *[k for k in lacks if lacks[k]])
    worst = 0
    for k, times in expected.items():
        if len(seen.get(k, [])) != len(times):
            continue
        for told, true in zip(sorted(seen[k]), sorted(times)):
            worst = max(worst, abs(told[0] - true[0]), abs(told[1] - true[1]))
    if worst > tolerance:
        fail(f"times are off by up to {worst} ns")

    told_calls = collections.defaultdict(list)
    for row in (r for r in dump if r[0] in ("runtime", "driver")):
        told_calls[int(row[5])].append(row)
    for k in (k for k in seen if k not in left_over):
        owners = told_calls.get(k[3], [])
        call = calls[k[3]]
        # At an edge of the window the call may lie outside. Otherwise it was lost.
        if not owners and may_be_outside(dict(correlation=k[3]), calls, begin, end):
            continue
        if not owners and missing < may_miss:
            missing += 1
            continue
        if len(owners) != 1:
            fail(f"activity {k} has {len(owners)} calls")
        _, _, tid, start, stop, _, flags, name = owners[0]
        if name != plain(call["name"]) or tid != call["tid"]:
            fail(f"activity {k} is owned by {name} of {tid}, not {call['name']} of {call['tid']}")
        within = int(call["start_ns"]) <= int(start) <= int(stop) <= int(call["end_ns"])
        if flags == "0" and not within:
            fail(f"call {name} {start} to {stop}, not within {call['start_ns']} to {call['end_ns']}")
    counts = collections.Counter(k[0] for k in seen for _ in seen[k])
    print(f"compare: {dict(counts)} as in the truth, {missing} missing, at most {worst} ns off, each with its call"
          f" but {sum(len(seen[k]) for k in left_over if k in seen)} launched before")


if __name__ == "__main__":
    main()
