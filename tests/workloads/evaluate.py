"""Evaluates a small network, epoch after epoch of four batches, until it is told to stop.

An ordinary PyTorch program that knows nothing of proftrace: a data loader, no backward pass, no
optimizer. --handler begins each epoch where the end of the last one is handled. Writes
`step NUMBER NS` for each batch to the log.
"""
import argparse
import os
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--log", default=os.devnull)
    parser.add_argument("--workers", type=int, default=0, help="data loader processes")
    parser.add_argument("--handler", action="store_true")
    return parser.parse_args()


def epochs(loader):
    while True:
        yield from loader


def epochs_in_handler(loader):
    batches = iter(loader)
    while True:
        try:
            yield next(batches)
        except StopIteration:
            batches = iter(loader)
            yield next(batches)
            yield from batches
            batches = iter(loader)


def main():
    args = parse_args()
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 10)).eval()
    data = TensorDataset(torch.randn(64, 64))
    loader = DataLoader(data, batch_size=16, num_workers=args.workers,
                        persistent_workers=args.workers > 0)
    batches = (epochs_in_handler if args.handler else epochs)(loader)
    with open(args.log, "a") as log:
        for number, (batch,) in enumerate(batches):
            with torch.no_grad():
                model(batch)
            time.sleep(0.008)
            print("step", number, time.monotonic_ns(), file=log, flush=True)


if __name__ == "__main__":
    main()
