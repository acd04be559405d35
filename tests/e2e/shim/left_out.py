#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""left_out.py PROFTRACE WHOLE HOT: of two recordings of a job on the GPU, one of all functions and one that left out what
it could: none of those left out had launched anything, copies and sets included."""
import sys

from compare import fail
from tables import report


def main():
    proftrace, whole, hot = sys.argv[1:]
    rows = report(proftrace, whole, "--table", "operator", "--op-detail")["operator"]["rows"]
    launching = {row["name"] for row in rows if not row["depth"] and row["gpu_total_ns"]}
    rows = report(proftrace, hot, "--table", "operator")["operator"]["rows"]
    left_out = {row["name"] for row in rows if row["estimated"]}
    if not left_out or not launching:
        fail(f"{len(left_out)} functions left out, {len(launching)} launch: nothing can be said")
    if left_out & launching:
        fail("left out, though they launch", *(left_out & launching))
    print(f"left_out: {len(left_out)} functions, none of the {len(launching)} that launch")


main()
