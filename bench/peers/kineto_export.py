# SPDX-License-Identifier: BSD-2-Clause
"""kineto_export.py STEPS FILE: CPU seconds of torch.profiler's export_chrome_trace of so many steps of loop.py, and how
many events it wrote."""
import gzip
import os
import sys
import time

from loop import step
from torch.profiler import ProfilerActivity, profile

STEPS, PATH = int(sys.argv[1]), sys.argv[2]

for _ in range(10):
    step()
with profile(activities=[ProfilerActivity.CPU]) as prof:
    for _ in range(STEPS):
        step()
begin = time.process_time()
prof.export_chrome_trace(PATH)
took = time.process_time() - begin
with (gzip.open if PATH.endswith(".gz") else open)(PATH, "rt") as file:
    count = sum(line.count('"ph": "X"') for line in file)
os.unlink(PATH)
print(f"{took:.3f} {count}")
