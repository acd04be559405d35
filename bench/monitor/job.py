# SPDX-License-Identifier: BSD-2-Clause
"""A training job for the measurements of the monitor: train (loader with a worker), gpu (never synchronises) or rank
(of a DistributedDataParallel over gloo; start it with torch.distributed.run). It rests --rest ms in each step, so that
several of them share two processors. Each step appends its end (CLOCK_MONOTONIC) and the CPU time of its thread, both
in ns, to --steps: two little-endian 64-bit numbers."""
import argparse
import os
import struct
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, IterableDataset


class Numbers(IterableDataset):
    def __iter__(self):
        while True:
            yield torch.randn(128), torch.randint(10, ())


def network(width):
    return nn.Sequential(nn.Linear(128, width), nn.ReLU(), *[nn.Linear(width, width) for _ in range(4)],
                         nn.Linear(width, 10))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=("train", "gpu", "rank"))
    parser.add_argument("--steps", required=True, help="a rank puts its number in place of %%r")
    parser.add_argument("--rest", type=float, default=20, help="ms without work in each step")
    args = parser.parse_args()
    torch.set_num_threads(1)
    device = "cuda" if args.kind == "gpu" else "cpu"
    net = network(256).to(device)
    log = args.steps
    if args.kind == "rank":
        dist.init_process_group("gloo")
        net = DistributedDataParallel(net)
        log = log.replace("%r", os.environ["RANK"])
    optimizer = torch.optim.SGD(net.parameters(), 1e-3)
    loader = iter(DataLoader(Numbers(), batch_size=32, num_workers=args.kind == "train"))
    with open(log, "wb", buffering=4096) as out:
        while True:
            x, y = next(loader)
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(x.to(device)), y.to(device)).backward()
            optimizer.step()
            time.sleep(args.rest / 1e3)
            out.write(struct.pack("<QQ", time.monotonic_ns(), time.thread_time_ns()))


if __name__ == "__main__":
    main()
