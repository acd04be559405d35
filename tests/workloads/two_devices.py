# SPDX-License-Identifier: BSD-2-Clause
"""A model in two halves, on two devices of one process. The first half's backward pass takes 50 ms longer, on its own
thread. The other half's thread is idle meanwhile."""
import os
import signal
import sys
import time

import torch
from torch import nn

PAUSE_S = 0.05


class Slow(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        time.sleep(PAUSE_S)
        return grad


signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
torch.set_num_threads(1)
halves = [nn.Sequential(*[nn.Linear(256, 256) for _ in range(4)]).to(device) for device in ("cuda:0", "cuda:1")]
optimizer = torch.optim.SGD([p for half in halves for p in half.parameters()], 0.1)
print("ready", os.getpid(), flush=True)
step = 0
while True:
    x = torch.randn(32, 256, device="cuda:0")
    loss = halves[1](torch.relu(Slow.apply(halves[0](x))).to("cuda:1")).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("step", step, loss.item(), flush=True)
    step += 1
