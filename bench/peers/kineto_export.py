# SPDX-License-Identifier: BSD-2-Clause
"""kineto_export.py EVENTS FILE: CPU seconds of torch.profiler's export_chrome_trace, and how many events it wrote."""
import gzip
import os
import sys
import time

import torch
from torch.profiler import ProfilerActivity, profile

EVENTS, PATH = int(sys.argv[1]), sys.argv[2]

torch.set_num_threads(1)
net = torch.nn.Sequential(*[torch.nn.Linear(16, 16) for _ in range(20)])
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)


def step():
    optimizer.zero_grad()
    net(torch.randn(4, 16)).sum().backward()
    optimizer.step()


def events_of(steps):
    with profile(activities=[ProfilerActivity.CPU]) as prof:
        for _ in range(steps):
            step()
    begin = time.process_time()
    prof.export_chrome_trace(PATH)
    took = time.process_time() - begin
    with (gzip.open if PATH.endswith(".gz") else open)(PATH, "rt") as file:
        count = sum(line.count('"ph": "X"') for line in file)
    os.unlink(PATH)
    return took, count


per_step = events_of(10)[1] / 10
seconds, written = events_of(round(EVENTS / per_step))
print(f"{seconds:.3f} {written}")
