# SPDX-License-Identifier: BSD-2-Clause
import collections
import gzip

from common import TRAININGS, export, golden, proftrace, report, same
from lib.runner import test


def stacks(path):
    rows = []
    for line in path.read_text().splitlines():
        stack, ns = line.rsplit(" ", 1)  # flamegraph.pl splits lines like this
        rows.append((stack.split(";"), int(ns)))
    return rows


@test("folded: below each thread the phases; their sums are those of the model table")
def phases(case):
    for name in TRAININGS:
        sums = collections.Counter()
        for stack, ns in stacks(export(case, name, "folded", f"{name}.folded")):
            if not ns:  # this line names what had no probe, and adds no time
                assert stack[0].startswith("(not recorded: "), stack
                continue
            sums[stack[1]] += ns
            assert stack[0].startswith("thread "), stack
        rows = {r["name"]: r for r in report(name, "model")["model"]["rows"]}
        for phase in ("Dataloader", "Optimization"):
            same(sums[phase], rows[phase]["cpu_total_ns"], f"{name}: {phase}")
        # nodes on another thread are not counted again for the call that waits for them
        backward = rows["Backward"]["cpu_total_ns"]
        assert 0.95 * backward <= sums["Backward"] <= backward, (name, sums, backward)


@test("folded: device time is that of the kernels and copies, below their launches")
def device(case):
    for name in ("gpu", "simgpu"):
        path = export(case, name, "folded", f"{name}.device", "--dialect", "device")
        tables = report(name, "kernel,manipulation")
        want = sum(r["gpu_total_ns"] for t in ("kernel", "manipulation")
                   for r in tables.get(t, {"rows": []})["rows"])
        rows = stacks(path)
        same(sum(ns for _, ns in rows), want, f"{name}: device time")
        assert all(len(stack) >= 4 for stack, _ in rows), rows
    same(export(case, "cpu", "folded", "none", "--dialect", "device").read_text(), "",
         "a recording without a device")


@test("folded: to standard output, compressed by name")
def outputs(case):
    plain = export(case, "cpu", "folded", "plain").read_bytes()
    same(proftrace("export", "-f", "folded", "-o", "-", golden("cpu")).stdout, plain, "stdout")
    packed = export(case, "cpu", "folded", "packed.folded.gz")
    same(gzip.decompress(packed.read_bytes()), plain, "gzip")
