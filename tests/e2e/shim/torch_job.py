"""torch_job.py STOP DOMAIN: an ordinary training job on the GPU, until the file STOP exists; then it tells its greatest
memory. DOMAIN is the library of domain.c."""
import ctypes
import os
import sys

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def main():
    data = TensorDataset(torch.randn(32 * 64, 3, 32, 32), torch.randint(0, 10, (32 * 64,)))
    net = nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.Flatten(),
        nn.Linear(16 * 32 * 32, 64), nn.ReLU(), nn.Linear(64, 10),
    ).cuda()
    optimizer = torch.optim.AdamW(net.parameters())
    domain = ctypes.CDLL(os.path.abspath(sys.argv[2]))
    while not os.path.exists(sys.argv[1]):
        for x, y in DataLoader(data, batch_size=32):
            domain.domain_push(b"forward")
            optimizer.zero_grad()
            domain.domain_pop()
            with torch.cuda.nvtx.range("forward"):
                loss = nn.functional.cross_entropy(net(x.cuda(non_blocking=True)), y.cuda())
            loss.backward()
            optimizer.step()
            torch.cuda.empty_cache()  # so that each step takes memory from the driver again
    print("peak", torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved(), flush=True)


main()
