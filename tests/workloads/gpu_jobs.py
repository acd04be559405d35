"""A training job on a GPU, of several kinds, the same from run to run, until SIGTERM. Each step's number,
loss and time in ns go to the file `steps`. At SIGUSR1 it profiles ten steps with torch.profiler, in
the end three; how many activities of a kind and name these had goes to `theirs.json`. At SIGUSR2 it aborts.

usage: gpu_jobs.py mlp|graph|cnn|loader|streams|compile|transformer|amp
"""
import collections
import itertools
import json
import os
import signal
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

asked = set()


def mlp():
    net = nn.Sequential(*[nn.Linear(64, 64) for _ in range(10)]).cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)
    x, y = torch.randn(32, 64, device="cuda"), torch.randn(32, 64, device="cuda")

    def step():
        optimizer.zero_grad(set_to_none=False)
        loss = F.mse_loss(net(x), y)
        loss.backward()
        optimizer.step()
        return loss

    return step, x


def graph():
    """The MLP's whole step as a CUDA graph."""
    step, x = mlp()
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    captured = torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured):
        loss = step()

    def replay():
        x.copy_(torch.randn(32, 64).pin_memory(), non_blocking=True)
        captured.replay()
        return loss

    return replay


def cnn(workers=0, pin=False, with_stream=False, compiled=False):
    net = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
                        nn.Flatten(), nn.Linear(16 * 256, 64), nn.GELU(), nn.LayerNorm(64),
                        nn.Linear(64, 10)).cuda()
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
    forward = torch.compile(net) if compiled else net
    data = TensorDataset(torch.randn(2048, 3, 32, 32), torch.randint(0, 10, (2048,)))
    epochs = (DataLoader(data, batch_size=32, num_workers=workers, pin_memory=pin) for _ in itertools.count())
    batches = itertools.chain.from_iterable(epochs)
    aside = torch.cuda.Stream()

    def step():
        images, labels = (t.cuda(non_blocking=True) for t in next(batches))
        optimizer.zero_grad()
        loss = F.cross_entropy(forward(images), labels)
        loss.backward()
        if with_stream:
            aside.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(aside), torch.cuda.nvtx.range("aside"):
                images.mul_(2)
            torch.cuda.current_stream().wait_stream(aside)
        optimizer.step()
        return loss

    return step


def transformer(amp=False):
    words, width = 1000, 128
    layer = nn.TransformerEncoderLayer(width, 8, 4 * width, batch_first=True, dropout=0.0)
    net = nn.Sequential(nn.Embedding(words, width), nn.TransformerEncoder(layer, 4),
                        nn.Linear(width, words)).cuda()
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-4)
    scaler = torch.amp.GradScaler("cuda", enabled=amp)

    def step():
        x = torch.randint(0, words, (8, 64), device="cuda")
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.float16, enabled=amp):
            loss = F.cross_entropy(net(x).view(-1, words), x.view(-1))
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        return loss

    return step


JOBS = {
    "mlp": lambda: mlp()[0],
    "graph": graph,
    "cnn": cnn,
    "loader": lambda: cnn(workers=2, pin=True),
    "streams": lambda: cnn(pin=True, with_stream=True),
    "compile": lambda: cnn(compiled=True),
    "transformer": transformer,
    "amp": lambda: transformer(amp=True),
}


def profiled(step, steps):
    """Counts torch.profiler's activities by kind and name, and writes them to theirs.json."""
    with torch.profiler.profile() as profiler:
        for _ in range(steps):
            step()
        torch.cuda.synchronize()
    found = collections.Counter(
        e.name for e in profiler.events()
        if e.device_type == torch.autograd.DeviceType.CUDA and not e.is_user_annotation)
    with open("theirs.json", "w") as file:
        json.dump({"steps": steps, "activities": found}, file)
    print("profiled", sum(found.values()), flush=True)


def main():
    for number in signal.SIGTERM, signal.SIGUSR1:
        signal.signal(number, lambda number, _: asked.add(number))
    signal.signal(signal.SIGUSR2, lambda *_: os.abort())
    torch.manual_seed(0)
    torch.use_deterministic_algorithms(True, warn_only=True)
    step = JOBS[sys.argv[1]]()
    with open("steps", "w", buffering=1) as log:
        for number in itertools.count():
            begin = time.monotonic_ns()
            log.write(f"{number} {step().item()!r} {time.monotonic_ns() - begin}\n")
            if number == 5:
                print("ready", os.getpid(), flush=True)
            if signal.SIGUSR1 in asked:
                asked.remove(signal.SIGUSR1)
                profiled(step, 10)
            if signal.SIGTERM in asked:
                break
            time.sleep(0.002)
    profiled(step, 3)
    print("end", number, flush=True)


main()
