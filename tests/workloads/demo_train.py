"""Trains a small convolutional network on made-up images until it is told to stop.

An ordinary PyTorch job that knows nothing of proftrace: a Dataset that does some work per sample, a
DataLoader (--workers 2 for worker processes), an optimizer (sgd or adam). Prints its process id
once it trains; progress goes to the log.
"""
import argparse
import os
import time

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

from networks import Block


class Shapes(Dataset):
    """Noisy images with a bright square in one of ten places: the place is the label."""

    def __init__(self, samples, size=32):
        self.samples = samples
        self.size = size

    def __len__(self):
        return self.samples

    def __getitem__(self, index):
        generator = torch.Generator().manual_seed(index)
        image = torch.randn(3, self.size, self.size, generator=generator)
        label = index % 10
        row, column = divmod(label, 5)
        image[:, row * 12 + 4 : row * 12 + 12, column * 6 : column * 6 + 6] += 0.7
        return image, label


class SmallResNet(nn.Module):
    def __init__(self, classes=10):
        super().__init__()
        self.stem = nn.Conv2d(3, 16, 3, 1, 1)
        self.blocks = nn.Sequential(self.block(16, 16, 1), self.block(16, 32, 2),
                                    self.block(32, 64, 2))
        self.head = nn.Linear(64, classes)

    @staticmethod
    def block(channels_in, channels_out, stride):
        return Block(channels_in, channels_out, stride,
                     nn.Conv2d(channels_in, channels_out, 1, stride, bias=False))

    def forward(self, x):
        x = self.blocks(F.relu(self.stem(x)))
        return self.head(x.mean(dim=(2, 3)))


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=0, help="data loader processes")
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--optimizer", choices=["sgd", "adam"], default="sgd")
    parser.add_argument("--threads", type=int, default=1, help="of torch's own pool")
    parser.add_argument("--epochs", type=int, default=0, help="0: until stopped")
    parser.add_argument("--log", default=os.devnull, help="file for the progress")
    return parser.parse_args()


def main():
    args = parse_args()
    torch.set_num_threads(args.threads)
    torch.manual_seed(0)
    loader = DataLoader(
        Shapes(4096),
        batch_size=args.batch_size,
        shuffle=True,
        num_workers=args.workers,
        persistent_workers=args.workers > 0,
    )
    model = SmallResNet()
    if args.optimizer == "adam":
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    else:
        optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)

    with open(args.log, "w", buffering=1) as log:
        epoch = step = 0
        while args.epochs == 0 or epoch < args.epochs:
            for images, labels in loader:
                start = time.perf_counter()
                optimizer.zero_grad()
                loss = F.cross_entropy(model(images), labels)
                loss.backward()
                optimizer.step()
                step += 1
                if step == 3:
                    print(os.getpid(), flush=True)
                if step % 20 == 0:
                    ms = (time.perf_counter() - start) * 1e3
                    log.write(f"epoch {epoch} step {step} loss {loss.item():.3f} {ms:.1f} ms\n")
            epoch += 1


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        pass
