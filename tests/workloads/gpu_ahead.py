# SPDX-License-Identifier: BSD-2-Clause
"""A training whose host goes up to --ahead steps ahead of its device, and then waits for it."""
import argparse
import time

import torch
from torch import nn

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--log", required=True)
parser.add_argument("--ahead", type=int, default=16)
args = parser.parse_args()

net = nn.Sequential(*[nn.Linear(2048, 2048) for _ in range(6)]).cuda()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
x = torch.randn(4096, 2048, device="cuda")
with open(args.log, "w", buffering=1) as log:
    step, begin = 0, time.monotonic_ns()
    while True:
        optimizer.zero_grad()
        nn.functional.mse_loss(net(x), x).backward()
        optimizer.step()
        step += 1
        if step % args.ahead == 0:
            torch.cuda.synchronize()
        end = time.monotonic_ns()
        log.write(f"step {step} {end - begin}\n")
        begin = end
