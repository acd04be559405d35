"""Trains until SIGUSR1; then raises and catches errors of every kind that an operator can end
with, trains between them, and prints a checksum of all that it computed: it must not depend on who
watches."""
import argparse
import os
import signal
import threading
import time

import torch
from torch import nn


class Raises(torch.autograd.Function):
    """Raises where it is told to."""

    @staticmethod
    def forward(ctx, x, in_forward):
        if in_forward:
            raise ValueError("forward")
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        raise ValueError("backward")


A, B = torch.randn(4, 3), torch.randn(4, 3)
LEAF = torch.ones(3, requires_grad=True)


@torch.jit.script
def scripted(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return torch.mm(a, b)


def twice():
    y = (LEAF * LEAF).sum()
    y.backward()
    y.backward()


KINDS = {
    "mm": (RuntimeError, lambda: torch.mm(A, B)),
    # A TypeError with 2.15, a RuntimeError up to 2.11 at least.
    "attribute": ((TypeError, RuntimeError), lambda: A.imag),
    "backward twice": (RuntimeError, twice),
    "function backward": (ValueError, lambda: Raises.apply(LEAF, False).sum().backward()),
    "function forward": (ValueError, lambda: Raises.apply(LEAF, True)),
    "script": (RuntimeError, lambda: scripted(A, B)),
    "boxed": (RuntimeError, lambda: torch.ops.aten.mm.default(A, B)),
}


class Training:
    def __init__(self):
        torch.manual_seed(0)
        self.model = nn.Sequential(nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 4))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01)
        self.losses = []

    def step(self):
        self.optimizer.zero_grad()
        loss = nn.functional.mse_loss(self.model(torch.randn(8, 32)), torch.zeros(8, 4))
        loss.backward()
        self.optimizer.step()
        self.losses.append(loss.item())

    def checksum(self):
        weights = sum(p.double().abs().sum().item() for p in self.model.parameters())
        return f"{sum(self.losses):.17g} {weights:.17g}"


def raise_all(cnt, pause_s, training):
    for name, (error, raiser) in KINDS.items():
        caught = 0
        LEAF.grad = None
        for i in range(cnt):
            try:
                raiser()
            except error:
                caught += 1
            if pause_s:
                time.sleep(pause_s)
            if i % 100 == 0:
                training.step()
        grad = "none" if LEAF.grad is None else f"{LEAF.grad.sum().item():.17g}"
        print(f"{name}: caught {caught}, gradient {grad}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--log", default=os.devnull)
    parser.add_argument("--count", type=int, default=10000, help="errors of each kind")
    parser.add_argument("--pause-s", type=float, default=0, help="behind each")
    args = parser.parse_args()
    asked = threading.Event()
    signal.signal(signal.SIGUSR1, lambda *_: asked.set())
    torch.set_num_threads(1)
    idle, step = Training(), 0
    with open(args.log, "a", buffering=1) as log:
        while not asked.is_set():
            begin = time.perf_counter_ns()
            idle.step()
            log.write(f"step {step} {time.perf_counter_ns() - begin}\n")
            step += 1
            time.sleep(0.005)
    training = Training()
    raise_all(args.count, args.pause_s, training)
    print("checksum", training.checksum(), flush=True)


if __name__ == "__main__":
    main()
