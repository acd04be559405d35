# SPDX-License-Identifier: BSD-2-Clause
"""Calls operators from places of many kinds, and tells what Python itself says of the stack at each:
`told(NAME)` stands on the line that calls the operator. With --profiler the stacks are those that
torch.profiler has of one step. Prints one JSON object, then trains until SIGUSR1."""
import argparse
import asyncio
import functools
import json
import os
import signal
import sys
import threading
import time

import torch
from torch import nn

STACKS = []
ASKED = threading.Event()


def told(name):
    """Notes where it was called from, the innermost frame first."""
    frame, stack = sys._getframe(1), []
    while frame and noting:
        stack.append([frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name])
        frame = frame.f_back
    if noting:
        STACKS.append([name, stack])


noting = False


def deep(n, x):
    if n:
        return deep(n - 1, x)
    return told("aten::sin"), torch.sin(x)


def numbers(x):
    for _ in range(2):
        yield told("aten::cos"), torch.cos(x)


async def later(x):
    await asyncio.sleep(0)
    return told("aten::tan"), torch.tan(x)


async def gathered(x):
    await asyncio.gather(later(x), later(x))


class Größe:
    def __call__(self, x):
        return told("aten::exp"), torch.exp(x)


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return (told("aten::square"), torch.square(x))[1]

    @staticmethod
    def backward(ctx, grad):
        return grad


def on_a_thread(x):
    told("aten::erf"), torch.erf(x)


def caught(x):
    try:
        told("aten::mm"), torch.mm(x, x)
    except RuntimeError:
        pass


def odd_calls(x):
    deep(3, x)
    deep(100, x)
    list(numbers(x))
    asyncio.run(gathered(x))
    told("aten::mul"), list(map(functools.partial(torch.mul, x), [2]))
    Größe()(x)
    (lambda: (told("aten::log"), torch.log(x)))()
    told("aten::add"), torch.add(
        x,
        x)
    caught(x)
    Doubled.apply(x)
    told("aten::relu"), torch.ops.aten.relu(x)
    thread = threading.Thread(target=on_a_thread, args=(x,))
    thread.start()
    thread.join()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(16, 32), nn.Linear(32, 4)

    def forward(self, x):
        return self.last(torch.relu(self.first(x)))


class Training:
    def __init__(self):
        torch.manual_seed(0)
        self.net = Net()
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.01)
        self.x = torch.rand(8, 16)
        self.losses = []

    def step(self):
        self.optimizer.zero_grad()
        loss = self.net(self.x).sum()
        loss.backward()
        self.optimizer.step()
        self.losses.append(loss.item())


def profiled(step):
    """What torch.profiler has for stacks of one step."""
    from torch._C._profiler import _ExperimentalConfig
    from torch.profiler import ProfilerActivity, profile
    with profile(activities=[ProfilerActivity.CPU], with_stack=True,
                 experimental_config=_ExperimentalConfig(verbose=True)) as p:
        step()
    return [[e.name, e.stack] for e in p.events() if e.name.startswith("aten::")]


def main():
    global noting
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--log", default=os.devnull)
    parser.add_argument("--profiler", action="store_true")
    args = parser.parse_args()
    signal.signal(signal.SIGUSR1, lambda *_: ASKED.set())
    torch.set_num_threads(1)
    training, step = Training(), 0
    with open(args.log, "a", buffering=1) as log:
        while not ASKED.is_set():
            begin = time.perf_counter_ns()
            if args.profiler and step == 1:
                STACKS[:] = profiled(training.step)
            else:
                training.step()
            if not args.profiler:
                noting = step == 1
                odd_calls(training.x)
            if step == 1:
                print(json.dumps(STACKS), flush=True)
                noting = False
            log.write(f"step {step} {time.perf_counter_ns() - begin}\n")
            step += 1
            time.sleep(0.01)
    print("checksum", sum(training.losses), flush=True)


if __name__ == "__main__":
    main()
