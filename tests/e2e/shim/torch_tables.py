#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""torch_tables.py PROFTRACE RECORDING STEPS PEAK_ALLOCATED PEAK_RESERVED: what the tables say of a PyTorch job on the
GPU: its NVTX ranges, its memory as its own allocator counts it, and that operators and phases share the device's time
without rest."""
import re
import sys

from compare import fail
from tables import report


def check_memory(tables, allocated, reserved):
    want = re.compile(rf"GPU0: Peak Allocated Memory: [\d.]+ \w+ \({allocated} bytes\), "
                      rf"Peak Reserved Memory: [\d.]+ \w+ \({reserved} bytes\)")
    if not any(want.fullmatch(note) for note in tables["memory"]["notes"]):
        fail(f"no note '{want.pattern}' in", *tables["memory"]["notes"])
    rows = [row for row in tables["memory"]["rows"] if row["section"] == "Place: GPU0, Allocated"]
    backward = [row for row in rows if "ConvolutionBackward0" in row["name"]]
    if not backward or not backward[0]["alloc_bytes"]:
        fail("the convolution's backward node allocates nothing", *rows)


def check_backward(operators):
    """Each node under the operator that it differentiates."""
    found, operator = set(), None
    for row in operators:
        operator = row["name"] if not row["depth"] else operator
        if row["name"].startswith("backward: "):
            found.add((operator, row["name"].rsplit(": ", 1)[-1]))
    want = {
        ("aten::conv2d", "ConvolutionBackward0"),
        ("aten::batch_norm", "CudnnBatchNormBackward0"),
        ("aten::relu", "ReluBackward0"),
        ("aten::flatten", "ViewBackward0"),
        ("aten::linear", "AddmmBackward0"),
        ("aten::linear", "TBackward0"),
        ("aten::cross_entropy_loss", "NllLossBackward0"),
        ("aten::cross_entropy_loss", "LogSoftmaxBackward0"),
    }
    if found != want:
        fail("backward nodes under the wrong operators", *(found ^ want))


def check_times(tables, steps):
    model = {row["name"]: row["gpu_total_ns"] for row in tables["model"]["rows"]}
    parts = sum(ns for name, ns in model.items() if name != "ProfileStep")
    kernels = sum(row["gpu_total_ns"] for row in tables["kernel"]["rows"])
    if parts != model["ProfileStep"] or kernels != parts:
        fail(f"kernels took {kernels} ns, the steps {model['ProfileStep']}, their parts {parts}")
    operators = tables["operator"]["rows"]
    # Each call must have its operator. The details of an operator must add up to its row.
    for i, row in enumerate(operators):
        details = []
        for detail in operators[i + 1 :]:
            if not detail["depth"]:
                break
            if detail["depth"] == 1 and not detail["name"].startswith("backward: "):
                details.append(detail["gpu_total_ns"])
        if not row["depth"] and row["gpu_total_ns"] and sum(details) != row["gpu_total_ns"]:
            fail(f"{row['name']}: {row['gpu_total_ns']} ns, but its details have {sum(details)}")
    check_backward(operators)
    backward = [r for r in operators if "ConvolutionBackward0" in r["name"] and not r["depth"]]
    if [r["calls"] for r in backward] != [steps] or not backward[0]["gpu_total_ns"]:
        fail("the convolution's backward node is not there, or launched nothing", *backward)


def main():
    proftrace, recording, steps, allocated, reserved = sys.argv[1:]
    options = ("--table", "model,operator,kernel,userdefined,memory", "--op-detail", "--raw-times")
    tables = report(proftrace, recording, *options)
    ranges = {row["name"]: row["calls"] for row in tables["userdefined"]["rows"]}
    for name in "forward", "loader:forward":  # a name in two domains is two rows
        if ranges.get(name) != int(steps):
            fail(f"{steps} ranges {name!r} were to be seen", ranges)
    check_memory(tables, allocated, reserved)
    check_times(tables, int(steps))
    print(f"torch_tables: {steps} ranges, {allocated} bytes at most, and the device's time shared without rest")


main()
