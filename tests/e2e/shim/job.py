"""job.py STEPS: an ordinary training job on the GPU."""
import sys

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def main():
    steps = int(sys.argv[1])
    data = TensorDataset(torch.randn(32 * steps, 3, 32, 32), torch.randint(0, 10, (32 * steps,)))
    net = nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.Flatten(),
        nn.Linear(16 * 32 * 32, 64), nn.ReLU(), nn.Linear(64, 10),
    ).cuda()
    optimizer = torch.optim.AdamW(net.parameters())
    for x, y in DataLoader(data, batch_size=32):
        optimizer.zero_grad()
        nn.functional.cross_entropy(net(x.cuda(non_blocking=True)), y.cuda()).backward()
        optimizer.step()


main()
