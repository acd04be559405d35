"""Trains a small network with an illness of its choice, until it is told to stop.

An ordinary PyTorch program that knows nothing of proftrace. Writes `step NUMBER NS` for each step to
the log.
"""
import argparse
import os
import subprocess
import threading
import time

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

from networks import endless

ILLNESSES = ["none", "loader", "workers", "slow-step", "slow-operator", "outside", "lock", "child",
             "spike", "churn", "pageable", "page-locked", "unused", "used", "launches",
             "waits", "small-copies", "empties", "busy"]
LARGE_BYTES, SMALL_BYTES = 32 << 20, 4 << 20
SPIKE_FLOATS = 32 << 20
HELD_BYTES = 600 << 20  # of a device that has 1 GiB
SHORT_KERNELS = 400  # a step
WAITS, SMALL_COPIES, EMPTIES = 20, 600, 5
CHURN_FLOATS = 16 << 20  # larger than the largest block that glibc keeps


class Samples(Dataset):
    """Each takes so long to make; of that `busy_ns` on the processor."""

    def __init__(self, sleep_s=0.0, busy_ns=0):
        self.sleep_s, self.busy_ns = sleep_s, busy_ns

    def __len__(self):
        return 1 << 16

    def __getitem__(self, index):
        if self.sleep_s:
            time.sleep(self.sleep_s)
        busy(self.busy_ns)
        return torch.full((128,), float(index % 7)), index % 10


def busy(ns):
    end = time.thread_time_ns() + ns
    while time.thread_time_ns() < end:
        pass


def batches(illness):
    if illness == "loader":
        return endless(DataLoader(Samples(sleep_s=0.002), batch_size=8))
    if illness == "workers":
        # The job then has three Python processes below it: the worker, its server, and a tracker.
        return endless(DataLoader(Samples(busy_ns=5000000), batch_size=8, num_workers=1,
                                  multiprocessing_context="forkserver"))
    return endless(DataLoader(Samples(), batch_size=8))


def copies(illness):
    """Copies to a device in each step: much from one kind of memory, and a little from page-locked memory."""
    if illness not in ("pageable", "page-locked"):
        return lambda: None
    much = torch.zeros(LARGE_BYTES, dtype=torch.uint8, pin_memory=illness == "page-locked")
    little = torch.zeros(SMALL_BYTES, dtype=torch.uint8, pin_memory=True)

    def copy():
        much.cuda()
        little.cuda()
        torch.cuda.synchronize()

    return copy


def reserve(illness):
    """Reserves device memory as an earlier part of the job would, so that the allocator keeps it. Returns the tensors
    if they are used."""
    if illness not in ("unused", "used"):
        return None
    held = torch.empty(HELD_BYTES, dtype=torch.uint8, device="cuda")
    return held if illness == "used" else None


ON_DEVICE = ("unused", "used", "launches", "waits", "small-copies", "empties", "busy")
BUSY_NS = 20_000_000


def calls(illness):
    """Calls in each step beside the training: none, or one that is called too often."""
    if illness not in ON_DEVICE:
        return lambda: None
    little = torch.zeros(16, device="cuda")

    def launch():
        if illness == "launches":
            for _ in range(SHORT_KERNELS):
                little.add_(1)
            torch.cuda.synchronize()
        if illness == "waits":
            for _ in range(WAITS):
                little.add_(1)
                torch.cuda.synchronize()
        if illness == "small-copies":
            for number in range(SMALL_COPIES):
                torch.tensor(float(number)).to("cuda")
        if illness == "empties":
            for _ in range(EMPTIES):
                torch.empty(LARGE_BYTES, device="cuda")
                torch.cuda.empty_cache()

    return launch


def hold_interpreter():
    """Two more threads that run Python code all the time."""
    def spin():
        while True:
            pass

    for _ in range(2):
        threading.Thread(target=spin, daemon=True).start()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--log", default=os.devnull)
    parser.add_argument("--illness", choices=ILLNESSES, default="none")
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(128, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(),
                          nn.Linear(1024, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    data = batches(args.illness)
    copy = copies(args.illness)
    launch = calls(args.illness)
    device = "cuda" if args.illness in ON_DEVICE else "cpu"
    model.to(device)
    held = reserve(args.illness)  # noqa: F841 (kept until the end)
    if args.illness == "lock":
        hold_interpreter()
    big = torch.ones(1200, 1200)
    with open(args.log, "a", buffering=1) as log:
        number = 0
        while True:
            begin = time.perf_counter_ns()
            x, y = (t.to(device) for t in next(data))
            copy()
            launch()
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            if args.illness == "slow-step" and number % 6 == 0:
                time.sleep(0.08)
            if args.illness == "slow-operator" and number % 6 == 0:
                torch.mm(big, big)
            if args.illness == "spike":
                torch.empty(SPIKE_FLOATS)
            if args.illness == "churn":
                torch.ones(CHURN_FLOATS)
            if args.illness == "child":
                subprocess.run(["sleep", "0.03"], check=True)
            loss.backward()
            optimizer.step()
            if args.illness == "outside":
                time.sleep(0.02)
            if args.illness == "busy":
                busy(BUSY_NS)
            log.write(f"step {number} {time.perf_counter_ns() - begin}\n")
            number += 1


if __name__ == "__main__":
    main()
