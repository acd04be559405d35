#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""tables.py PROFTRACE RECORDING DUMP TRUTH: what the tables say of a device against the simulation's own log. Kernels
by name, merged and by device and stream, copies and sets by kind: as many calls, the same total, longest and
shortest time, the same bytes."""
import collections
import json
import subprocess
import sys

from compare import demangled, fail, inside, rows, truth_of


def report(proftrace, recording, *options):
    out = subprocess.run(
        [proftrace, "report", recording, "--format", "json", *options], capture_output=True, text=True, check=True
    )
    return json.loads(out.stdout)


def times(durations):
    return {
        "calls": len(durations),
        "gpu_total_ns": sum(durations),
        "gpu_max_ns": max(durations),
        "gpu_min_ns": min(durations),
    }


def expect(what, got, want):
    if got.keys() != want.keys():
        fail(f"{what}: rows differ", *(got.keys() ^ want.keys()))
    for key, values in want.items():
        for field, value in values.items():
            if got[key][field] != value:
                fail(f"{what}: {key}: {field} is {got[key][field]}, not {value}")


def check_reserved(tables, calls):
    """Memory taken from the driver: the count must be the program's number of requests."""
    sums = collections.Counter()
    for row in tables["memory"]["rows"]:
        if row["section"].endswith(", Reserved"):
            sums["cudaMalloc"] += row["alloc_cnt"]
            sums["cudaFree"] += row["free_cnt"]
    want = collections.Counter(c["name"] for c in calls.values() if c["name"] in ("cudaMalloc", "cudaFree"))
    if +sums != +want:
        fail(f"memory was taken and given back {dict(sums)}, not {dict(want)}")
    return want["cudaMalloc"]


def copy_kind(name):
    """Memcpy HtoD (Pageable -> Device): HtoD"""
    return name.split(" ")[1] if name.startswith("Memcpy") else "memset"


def main():
    proftrace, recording, dump_path, truth_path = sys.argv[1:]
    begin, end = next((int(r[1]), int(r[2])) for r in rows(dump_path) if r[0] == "window")
    truth, calls = truth_of(truth_path, begin, end)
    truth = [row for row in truth if inside(row, calls, begin, end)]
    names = demangled({row["name"] for row in truth if row["kind"] == "kernel"})

    merged, by_stream = collections.defaultdict(list), collections.defaultdict(list)
    copies, sizes = collections.defaultdict(list), collections.Counter()
    for row in truth:
        duration = int(row["end_ns"]) - int(row["start_ns"])
        if row["kind"] == "kernel":
            merged[names[row["name"]]].append(duration)
            by_stream[f"GPU{row['dev']} stream {row['stream']}", names[row["name"]]].append(duration)
        else:
            kind = "memset" if row["kind"] == "memset" else row["name"]
            copies[kind].append(duration)
            sizes[kind] += int(row["bytes"])

    tables = report(proftrace, recording, "--table", "kernel,manipulation,memory")
    allocations = check_reserved(tables, calls)
    kernels = {row["name"]: row for row in tables["kernel"]["rows"]}
    expect("kernels", kernels, {name: times(d) for name, d in merged.items()})
    for row in kernels.values():
        if row["occupancy_percent"] is None or not 0 < row["occupancy_percent"] <= 100:
            fail(f"occupancy of {row['name']}: {row['occupancy_percent']}")
    ratio = sum(row["gpu_ratio_percent"] for row in kernels.values())
    if abs(ratio - 100) > 0.01:
        fail(f"ratios of kernels add up to {ratio}")

    per_stream = report(proftrace, recording, "--table", "kernel", "--by-device")["kernel"]["rows"]
    expect(
        "kernels by stream",
        {(row["section"], row["name"]): row for row in per_stream},
        {key: times(d) for key, d in by_stream.items()},
    )

    got = collections.defaultdict(lambda: collections.Counter())
    for row in tables["manipulation"]["rows"]:
        for field in ("calls", "gpu_total_ns", "size_bytes"):
            got[copy_kind(row["name"])][field] += row[field]
    expect(
        "copies",
        got,
        {k: {"calls": len(d), "gpu_total_ns": sum(d), "size_bytes": sizes[k]} for k, d in copies.items()},
    )
    print(
        f"tables: {len(merged)} kernels on {len({s for s, _ in by_stream})} streams and {len(copies)} kinds of copies, "
        f"{allocations} allocations as in the truth"
    )


if __name__ == "__main__":
    main()
