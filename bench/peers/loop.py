# SPDX-License-Identifier: BSD-2-Clause
"""A training loop of small operators, for torch.profiler and for proftrace. loop.py: runs it until it is killed."""
import torch

torch.set_num_threads(1)
net = torch.nn.Sequential(*[torch.nn.Linear(16, 16) for _ in range(20)])
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)


def step():
    optimizer.zero_grad()
    net(torch.randn(4, 16)).sum().backward()
    optimizer.step()


if __name__ == "__main__":
    print("runs", flush=True)
    while True:
        step()
