# SPDX-License-Identifier: BSD-2-Clause
"""Captures a CUDA graph anew in each step, as a server does for each shape, and launches it, until it dies.

usage: captures.py [SECONDS]: so long it rests within each capture
"""
import os
import sys
import time

import torch

LAUNCHES = 3  # of each graph


def main():
    net = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10)).cuda()
    x = torch.randn(8, 64).cuda()
    with torch.no_grad():
        net(x)
        print("ready", os.getpid(), flush=True)
        while True:
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                net(x)
                time.sleep(float(sys.argv[1]) if len(sys.argv) > 1 else 0)
            for _ in range(LAUNCHES):
                graph.replay()
            torch.cuda.synchronize()
            time.sleep(0.01)


main()
