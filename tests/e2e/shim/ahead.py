#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""ahead.py PROFTRACE RECORDING DUMP TRUTH: a GPU that is many steps behind its host. Each kernel that the steps launched
is owned, wherever it ran: by kernel, by operator and by phase the tables have what the simulation's own log has."""
import bisect
import collections
import sys

from compare import demangled, fail, rows, truth_of
from tables import report


def gpu(table, name):
    found = [row for row in table["rows"] if row["name"] == name and "inside" not in row.get("section", "")]
    return found[0]["gpu_total_ns"] if found else 0


def distance(launched, steps):
    """Returns the greatest number of steps between a launch and its work's begin."""
    begins = sorted(int(row["start_ns"]) for row in launched)
    times = sorted(int(row["submit_ns"]) for row in launched)
    most = max(i + 1 - bisect.bisect_right(begins, ns) for i, ns in enumerate(times))
    return most * steps / len(launched)


def main():
    proftrace, recording, dump_path, truth_path = sys.argv[1:]
    begin, end = next((int(r[1]), int(r[2])) for r in rows(dump_path) if r[0] == "window")
    truth, calls = truth_of(truth_path, begin, end)
    work = [r for r in truth if begin <= int(r["submit_ns"]) < end]
    launched = [r for r in work if r["kind"] == "kernel"]
    names = demangled({row["name"] for row in launched})
    by_name = collections.Counter()
    for row in launched:
        by_name[names[row["name"]]] += int(row["end_ns"]) - int(row["start_ns"])
    total = sum(by_name.values())

    tables = report(proftrace, recording, "--table", "model,operator,kernel", "--raw-times")
    got = {row["name"]: row["gpu_total_ns"] for row in tables["kernel"]["rows"]}
    if got != by_name:
        fail("kernels differ", *(set(got.items()) ^ set(by_name.items())))
    calls_told = sum(row["calls"] for row in tables["kernel"]["rows"])
    if calls_told != len(launched):
        fail(f"{calls_told} kernels, not {len(launched)}")

    model = tables["model"]
    steps = next(row["calls"] for row in model["rows"] if row["name"] == "ProfileStep")
    phases = [gpu(model, name) for name in ("Forward", "Backward", "Optimization")]
    if sum(phases) != total or gpu(model, "Others") or gpu(model, "ProfileStep") != total:
        fail(f"kernels of the steps took {total} ns, the phases have {phases}, "
             f"Others {gpu(model, 'Others')}, ProfileStep {gpu(model, 'ProfileStep')}")
    linear = sum(ns for name, ns in by_name.items() if name.startswith("sim_lt_matmul"))
    if not linear or gpu(tables["operator"], "aten::linear") != linear:
        fail(f"aten::linear has {gpu(tables['operator'], 'aten::linear')} ns, not {linear}")
    owned = sum(row["gpu_total_ns"] for row in tables["operator"]["rows"] if "inside" not in row["section"])
    all_ns = sum(int(r["end_ns"]) - int(r["start_ns"]) for r in work)
    if owned != all_ns:
        fail(f"operators have {owned} ns of {all_ns}")
    behind = distance(launched, steps)
    if behind < 8:
        fail(f"the GPU is {behind:.0f} steps behind at most: the job shows nothing")
    print(f"ahead: {len(launched)} kernels of {steps} steps, up to {behind:.0f} behind, each with its operator and phase")


main()
