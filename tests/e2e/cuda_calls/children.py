"""children.py fork|spawn: a program that leaves the GPU to a child; until the file `stop` exists."""
import multiprocessing
import os
import sys
import time

import torch


def train():
    net = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10)).cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    x = torch.randn(8, 64).cuda()
    step = 0
    while not os.path.exists("stop"):
        optimizer.zero_grad()
        net(x).sum().backward()
        optimizer.step()
        time.sleep(0.02)
        step += 1
        if step == 3:
            print("ready", os.getppid(), flush=True)


if __name__ == "__main__":
    child = multiprocessing.get_context(sys.argv[1]).Process(target=train)
    child.start()
    child.join()
    sys.exit(child.exitcode)
