# SPDX-License-Identifier: BSD-2-Clause
"""The job's own clock, in a program whose loop is a library's: hooks note each phase in the log.

`phase NAME BEGIN END` in ns of CLOCK_MONOTONIC, and `step NUMBER NS` at the end of each optimizer step.
Forward is what lies between a batch and the backward pass; an optimizer that is given a closure, which
makes both passes, optimizes after the last of them.
"""
import argparse
import time

import torch
import torch.utils.data.dataloader as loaders
from torch.optim.optimizer import (register_optimizer_step_post_hook,
                                   register_optimizer_step_pre_hook)

SEED = 0
clock = time.monotonic_ns


class Hooks:
    def __init__(self, log):
        self.log = open(log, "a", buffering=1)
        self.forward_from = self.stepped = self.backward_to = clock()
        self.begun = []  # optimizer steps, which may nest
        self.steps = 0

    def phase(self, name, begin, end):
        print("phase", name, begin, end, file=self.log)

    def load(self, begin, end):
        self.phase("dataloader", begin, end)
        self.forward_from = end

    def backward(self, begin, end):
        self.phase("forward", self.forward_from, begin)
        self.phase("backward", begin, end)
        self.forward_from = self.backward_to = end

    def optimizer(self, function):
        """Notes the step of an optimizer that is not in torch.optim."""
        def call(*args, **kwargs):
            self.optimizer_begins()
            function(*args, **kwargs)
            self.optimizer_ends()
        return call

    def optimizer_begins(self):
        self.begun.append(clock())

    def optimizer_ends(self):
        begin, end = self.begun.pop(), clock()
        self.phase("optimizer", max(begin, self.backward_to), end)
        print("step", self.steps, end - self.stepped, file=self.log)
        self.stepped = self.forward_from = end
        self.steps += 1


def timed(function, note):
    """Calls it, and notes when it began and ended, if it ended well."""
    def call(*args, **kwargs):
        begin = clock()
        result = function(*args, **kwargs)
        note(begin, clock())
        return result
    return call


def start(what):
    """Reads the command line, seeds, and hooks torch. Returns the hooks, for a library with its own loader or
    optimizer."""
    parser = argparse.ArgumentParser(description=what)
    parser.add_argument("--log", required=True)
    parser.add_argument("--steps", type=int, default=100000)
    args = parser.parse_args()
    torch.manual_seed(SEED)
    torch.set_num_threads(1)
    hooks = Hooks(args.log)
    loaders._BaseDataLoaderIter.__next__ = timed(loaders._BaseDataLoaderIter.__next__, hooks.load)
    torch.autograd.backward = timed(torch.autograd.backward, hooks.backward)
    register_optimizer_step_pre_hook(lambda *_: hooks.optimizer_begins())
    register_optimizer_step_post_hook(lambda *_: hooks.optimizer_ends())
    return args, hooks


def print_result(model):
    """Prints one number of the result."""
    print(sum(p.double().abs().sum().item() for p in model.parameters()))
