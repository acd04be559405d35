# SPDX-License-Identifier: BSD-2-Clause
"""A training whose data loader takes longer from SIGUSR1 on. Writes `step NUMBER NS` for each step to the log."""
import argparse
import signal
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset


class Numbers(IterableDataset):
    sleep_s = 0.002

    def __iter__(self):
        while True:
            time.sleep(Numbers.sleep_s)
            yield torch.randn(64), torch.randint(10, ())


def slow_down(*_):
    Numbers.sleep_s = 0.006


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--log", required=True)
    args = parser.parse_args()
    signal.signal(signal.SIGUSR1, slow_down)
    torch.set_num_threads(1)
    net = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))
    optimizer = torch.optim.SGD(net.parameters(), 0.01)
    begin = time.monotonic_ns()
    with open(args.log, "w", buffering=1) as log:
        for number, (x, y) in enumerate(DataLoader(Numbers(), batch_size=4)):
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(x), y).backward()
            optimizer.step()
            time.sleep(0.004)
            end = time.monotonic_ns()
            log.write(f"step {number} {end - begin}\n")
            begin = end


main()
