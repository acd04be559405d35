# SPDX-License-Identifier: BSD-2-Clause
"""hta_load.py DIRECTORY: the CPU seconds in which HolisticTraceAnalysis loads its traces, its processes included."""
import os
import sys
import warnings

warnings.simplefilter("ignore")
from hta.trace_analysis import TraceAnalysis  # noqa: E402

before = sum(os.times()[:4])
stdout = os.dup(1)
os.dup2(2, 1)  # what it tells of its progress
TraceAnalysis(trace_dir=sys.argv[1])
os.dup2(stdout, 1)
print(f"{sum(os.times()[:4]) - before:.3f}")
