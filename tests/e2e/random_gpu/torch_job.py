# SPDX-License-Identifier: BSD-2-Clause
"""torch_job.py DESCRIPTION NOTES: trains, or serves, as the description says, until SIGTERM, and notes itself when each
part of a step, and each operator that it calls, began and ended: CLOCK_MONOTONIC, thread, name."""
import collections
import contextlib
import itertools
import json
import os
import pathlib
import signal
import sys
import threading
import time

import torch
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset

NOTES, STOP = [], []
STOP_AHEAD = 150  # number of steps. A rank is less far ahead of another, because its device's queue is full before


@contextlib.contextmanager
def noted(kind, name):
    begin = time.monotonic_ns()
    yield
    NOTES.append((kind, threading.get_native_id(), name, begin, time.monotonic_ns()))


def operator(name, function, *arguments, **more):
    with noted("operator", name):
        return function(*arguments, **more)


class Network(nn.Module):
    """A network whose operators nothing else in a step calls."""

    def __init__(self, width, layers):
        super().__init__()
        self.weights = nn.ParameterList([nn.Parameter(torch.randn(width, width) / width) for _ in layers])
        self.layers, self.width = layers, width

    def forward(self, x):
        for layer, weight in zip(self.layers, self.weights):
            if layer == "linear":
                x = operator("aten::linear", functional.linear, x, weight)
            elif layer == "matmul":
                x = operator("aten::matmul", torch.matmul, x, weight)
            elif layer == "norm":
                x = operator("aten::layer_norm", functional.layer_norm, x, (self.width,), weight[0])
            elif layer == "gelu":
                x = operator("aten::gelu", functional.gelu, x)
            elif layer == "softmax":
                x = operator("aten::softmax", functional.softmax, x, -1)
        return x


def batches(d):
    """Yields batches for ever: from a loader, or always one batch on the device."""
    if not d["loader"]:
        x = torch.randn(d["batch"], d["width"], device="cuda")
        while True:
            yield x
    data = TensorDataset(torch.randn(d["batch"] * 8, d["width"]))
    while True:
        for x, in DataLoader(data, batch_size=d["batch"], pin_memory=False):
            yield x


def next_batch(d, source):
    with noted("phase", "Dataloader" if d["loader"] else "none"):
        x = next(source)
    return operator("aten::to", x.to, "cuda", non_blocking=d["non_blocking"]) if d["loader"] else x


def learn(d, net, optimizer, x):
    """A forward pass, a backward pass and an update. zero_grad comes where the description says."""
    def zero():
        with noted("phase", "none"):
            optimizer.zero_grad(set_to_none=d["set_to_none"])

    if d["zero"] == "first":
        zero()
    loss = operator("aten::mse_loss", functional.mse_loss, net(x), torch.zeros_like(x))
    if d["zero"] == "between":
        zero()
    one = torch.ones_like(loss)  # otherwise backward() makes this tensor before the pass begins
    with noted("phase", "Backward"):
        loss.backward(one)
    with noted("phase", "Optimization"):
        optimizer.step()
    if d["zero"] == "last":
        zero()
    return loss


def pace(d, number):
    if d["every"] and number % d["every"] == 0:
        torch.cuda.synchronize()
    if d["sleep_us"]:
        time.sleep(d["sleep_us"] / 1e6)


def wait_for(events, d, stream=None):
    """The host is so many steps ahead of the device, and no more."""
    done = torch.cuda.Event()
    done.record()
    events.append(done)
    if len(events) > d["depth"] >= 0:
        events.popleft().synchronize()


def train(d, source):
    nets = [Network(d["width"], d["layers"]).cuda() for _ in range(d["optimizers"])]
    if d["ranks"]:
        nets = [nn.parallel.DistributedDataParallel(net, find_unused_parameters=True) for net in nets]
    make = getattr(torch.optim, d["optimizer"])
    optimizers = [make(net.parameters(), lr=0.01) for net in nets]

    def step():
        x = next_batch(d, source)
        for net, optimizer in zip(nets, optimizers):
            learn(d, net, optimizer, x)
    return step


def captured(net, x):
    """Returns the network as a CUDA graph."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        net(x)
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        net(x)
    return graph


def serve(d, source):
    net = Network(d["width"], d["layers"]).cuda()
    place = torch.randn(d["batch"], d["width"], device="cuda")
    with torch.no_grad():
        graph = captured(net, place) if d["graph"] else None

    def step():
        with torch.no_grad():
            x = next_batch(d, source)
            if graph:
                operator("aten::copy_", place.copy_, x)
                graph.replay()
            else:
                net(x)
    return step


def write(path):
    with open(path, "w") as out:
        out.write("kind\ttid\tname\tbegin_ns\tend_ns\n")
        for note in NOTES:
            out.write("\t".join(map(str, note)) + "\n")


def join_ranks(rank, ranks, meeting):
    torch.cuda.set_device(rank)
    torch.distributed.init_process_group("nccl", init_method=f"file://{meeting}", rank=rank, world_size=ranks,
                                         device_id=torch.device("cuda", rank))


class End:
    """The step after which the job ends. It is the same for all ranks: rank 0 decides and tells the others."""

    def __init__(self, meeting):
        self.told = meeting and pathlib.Path(f"{meeting}.end")
        self.last = None

    def is_after(self, number):
        if not self.told:
            return STOP
        if STOP and not self.told.exists():
            new = self.told.with_suffix(".new")
            new.write_text(str(number + STOP_AHEAD))
            new.rename(self.told)
        if self.last is None and self.told.exists():
            self.last = int(self.told.read_text())
        return self.last is not None and number >= self.last


def read(path):
    """Reads the description. If there are several ranks, the first line has this one's number, and it joins the
    others."""
    lines = pathlib.Path(path).read_text().splitlines()
    d, meeting = json.loads(lines[-1]), None
    d["ranks"] = 0
    if len(lines) > 1:
        _, rank, ranks, meeting = lines[0].split()
        d["ranks"] = int(ranks)
        join_ranks(int(rank), int(ranks), meeting)
    return d, End(meeting)


def main():
    signal.signal(signal.SIGTERM, lambda *_: STOP.append(1))
    d, end = read(sys.argv[1])
    torch.manual_seed(d["seed"])
    source, events = batches(d), collections.deque()
    step = train(d, source) if d["train"] else serve(d, source)
    for number in itertools.count():
        with noted("step", number):
            step()
            pace(d, number)
            wait_for(events, d)
        if number == 2:
            print("ready", os.getpid(), flush=True)
        if end.is_after(number):
            break
    torch.cuda.synchronize()
    write(sys.argv[2])
    if d["ranks"]:
        torch.distributed.destroy_process_group()


main()
