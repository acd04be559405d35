# SPDX-License-Identifier: BSD-2-Clause
"""streams.py STEPS: a training job whose streams wait for each other. Each wait makes an event."""
import sys

import torch
from torch import nn


def main():
    net = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10)).cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    asides = [torch.cuda.Stream() for _ in range(8)]
    batch = torch.randn(32, 64).cuda()
    for _ in range(int(sys.argv[1])):
        optimizer.zero_grad()
        for aside in asides:
            aside.wait_stream(torch.cuda.current_stream())
            torch.cuda.current_stream().wait_stream(aside)
        net(batch).sum().backward()
        optimizer.step()


main()
