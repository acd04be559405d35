# SPDX-License-Identifier: BSD-2-Clause
"""A small ResNet on random images: convolutions, batch norm, a DataLoader, SGD or Adam."""
import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from networks import endless, resnet
from stepper import serve


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=0, help="data loader processes")
    parser.add_argument("--optimizer", choices=["sgd", "adam"], default="sgd")
    args = parser.parse_args()

    torch.manual_seed(0)
    # One epoch is longer than a test, so that every step runs the same operators.
    samples = TensorDataset(torch.randn(1, 3, 32, 32).expand(1 << 16, 3, 32, 32),
                            torch.randint(0, 10, (1 << 16,)))
    loader = DataLoader(samples, batch_size=16, num_workers=args.workers,
                        persistent_workers=args.workers > 0)
    model = resnet().train()
    if args.optimizer == "adam":
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    else:
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)
    loss_of = nn.CrossEntropyLoss()
    batches = endless(loader)

    def step():
        images, labels = next(batches)
        optimizer.zero_grad()
        loss = loss_of(model(images), labels)
        loss.backward()
        optimizer.step()
        return loss.item()

    serve(step)


if __name__ == "__main__":
    main()
