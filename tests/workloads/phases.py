# SPDX-License-Identifier: BSD-2-Clause
"""Trainings that note when each of their phases began and ended, to check proftrace's labels by."""
import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from notes import Notes
from stepper import serve

notes = Notes()
phase = notes.phase


def network(outputs):
    return nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1),
        nn.BatchNorm2d(16),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(2),
        nn.Flatten(),
        nn.Linear(128, outputs),
    )


def endless(loader):
    while True:
        yield from loader


class PlainDescent:
    """An optimizer of the user's own: not a torch.optim.Optimizer, so torch announces nothing."""

    def __init__(self, parameters):
        self.parameters = list(parameters)

    def step(self):
        with torch.no_grad():
            for parameter in self.parameters:
                parameter.add_(parameter.grad, alpha=-1e-3)

    def zero_grad(self):
        for parameter in self.parameters:
            parameter.grad = None


class Training:
    def __init__(self, workers, custom_optimizer):
        samples = TensorDataset(torch.randn(1, 3, 32, 32).expand(1 << 16, 3, 32, 32),
                                torch.randint(0, 10, (1 << 16,)))
        self.batches = endless(DataLoader(samples, batch_size=16, num_workers=workers,
                                          persistent_workers=workers > 0))
        self.model = network(10)
        self.loss_of = nn.CrossEntropyLoss()
        if custom_optimizer:
            self.optimizer = PlainDescent(self.model.parameters())
        else:
            self.optimizer = torch.optim.SGD(self.model.parameters(), lr=1e-3, momentum=0.9)
        self.critic = network(1)
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters())

    def load(self):
        with phase("dataloader"):
            return next(self.batches)

    def clear(self, optimizer):
        with phase("zero_grad"):
            optimizer.zero_grad()

    def backward(self, loss):
        with phase("backward"):
            loss.backward()

    def update(self, optimizer):
        with phase("optimizer"):
            optimizer.step()

    def plain(self, autocast=False):
        images, labels = self.load()
        self.clear(self.optimizer)
        with phase("forward"), torch.autocast("cpu", torch.bfloat16, enabled=autocast):
            loss = self.loss_of(self.model(images), labels)
        self.backward(loss)
        self.update(self.optimizer)
        return loss

    def autocast(self):
        return self.plain(autocast=True)

    def accumulate(self):
        self.clear(self.optimizer)
        for _ in range(3):
            images, labels = self.load()
            with phase("forward"):
                loss = self.loss_of(self.model(images), labels) / 3
            self.backward(loss)
        self.update(self.optimizer)
        return loss

    def gan(self):
        images, labels = self.load()
        self.clear(self.critic_optimizer)
        with phase("forward"):
            loss = self.critic(images).mean()
        self.backward(loss)
        self.update(self.critic_optimizer)
        self.clear(self.optimizer)
        with phase("forward"):
            loss = self.loss_of(self.model(images), labels)
        self.backward(loss)
        self.update(self.optimizer)
        return loss

    def evaluate(self):
        """With both images of a mirror. What comes after the forward pass, `other`, nothing tells from
        it."""
        images, _ = self.load()
        with torch.no_grad(), phase("forward"):
            return (self.model(images) + self.model(images.flip(3))).argmax(1)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mode", default="plain",
                        choices=["plain", "autocast", "accumulate", "gan", "evaluate"])
    parser.add_argument("--workers", type=int, default=0, help="data loader processes")
    parser.add_argument("--custom-optimizer", action="store_true")
    args = parser.parse_args()

    torch.manual_seed(0)
    training = Training(args.workers, args.custom_optimizer)
    run_mode = getattr(training, args.mode)

    def step():
        result = run_mode()
        with phase("other"):
            result.sum().item()

    serve(step, notes)


if __name__ == "__main__":
    main()
