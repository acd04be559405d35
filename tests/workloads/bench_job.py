"""One training job that runs, and times, as many steps as it is told to; for the benchmarks.

An ordinary PyTorch program that knows nothing of proftrace: the models are a launch-bound MLP, a
small CNN fed by a DataLoader and a transformer. Commands come as lines on standard input, answers go
as one line of JSON each to standard output:

    run N    N steps
    prof N   N steps under torch.profiler.profile(activities=[CPU]), with CUDA on a GPU
    spin     steps until the next line comes
    quit

An answer has, per step, the time of day at its begin, its elapsed time and the CPU time of its
thread, all in nanoseconds: {"begin": [...], "wall": [...], "cpu": [...]}.
"""
import argparse
import json
import os
import select
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

from networks import LENGTH, WORDS, LanguageModel, endless, resnet


def mlp(device):
    """Twenty layers so small that the framework's own work is all there is."""
    model = nn.Sequential(*[nn.Linear(16, 16) for _ in range(20)]).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    x, y = torch.randn(4, 16, device=device), torch.randn(4, 16, device=device)

    def step():
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        optimizer.step()

    return step


def cnn(device):
    model = resnet().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)
    data = TensorDataset(torch.randn(4096, 3, 32, 32), torch.randint(0, 10, (4096,)))
    batches = endless(DataLoader(data, batch_size=16, shuffle=True))

    def step():
        images, labels = next(batches)
        optimizer.zero_grad()
        loss = F.cross_entropy(model(images.to(device)), labels.to(device))
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


def transformer(device):
    model = LanguageModel().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

    def step():
        x = torch.randint(0, WORDS, (8, LENGTH), device=device)
        y = torch.randint(0, WORDS, (8, LENGTH), device=device)
        optimizer.zero_grad(set_to_none=True)
        loss = F.cross_entropy(model(x).view(-1, WORDS), y.view(-1))
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        return loss.item()

    return step


MODELS = {"mlp": mlp, "cnn": cnn, "transformer": transformer}


def timed(step, more):
    times = {"begin": [], "wall": [], "cpu": []}
    while more():
        times["begin"].append(time.time_ns())
        wall, cpu = time.perf_counter_ns(), time.thread_time_ns()
        step()
        times["cpu"].append(time.thread_time_ns() - cpu)
        times["wall"].append(time.perf_counter_ns() - wall)
    return times


def run(step, cnt):
    left = iter(range(cnt))
    return timed(step, lambda: next(left, None) is not None)


def profiled(step, cnt, device):
    activities = [torch.profiler.ProfilerActivity.CPU]
    if device == "cuda":
        activities.append(torch.profiler.ProfilerActivity.CUDA)
    with torch.profiler.profile(activities=activities):
        return run(step, cnt)


def spin(step):
    """Reads nothing: what ends it is the next command."""
    return timed(step, lambda: not select.select([0], [], [], 0)[0])


def read_line():
    """Unbuffered, so that select() in spin() sees every line that was not taken yet."""
    line = b""
    while not line.endswith(b"\n"):
        byte = os.read(0, 1)
        if not byte:
            return "quit"
        line += byte
    return line.decode().strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", choices=MODELS)
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    step = MODELS[args.model](args.device)
    run(step, 20)
    print(json.dumps({"pid": os.getpid(), "torch": torch.__version__}), flush=True)
    while (line := read_line()) != "quit":
        command, *count = line.split()
        if command == "run":
            answer = run(step, int(count[0]))
        elif command == "prof":
            answer = profiled(step, int(count[0]), args.device)
        elif command == "spin":
            answer = spin(step)
        elif command == "stop":
            continue
        else:
            sys.exit(f"bench_job: unknown command {line!r}")
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
