"""profiled.py STEPS: an ordinary training job on the GPU. Its own profiler runs all the time."""
import sys

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile


def main():
    net = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10)).cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]):
        for _ in range(int(sys.argv[1])):
            optimizer.zero_grad()
            net(torch.randn(32, 64).cuda()).sum().backward()
            optimizer.step()


main()
