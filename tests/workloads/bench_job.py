"""One training job in PyTorch that runs, and times, as many steps as it is told to; for the
benchmarks.

An ordinary program that knows nothing of proftrace: the models are a launch-bound MLP, a small CNN
fed by a DataLoader and a transformer. bench_protocol.py says what it is told, and answers.
"""
import argparse
import contextlib
import ctypes
import os
import threading
import time

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

from bench_protocol import Timed, serve
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


def profiler(device):
    """torch.profiler, with CUDA on a GPU."""
    activities = [torch.profiler.ProfilerActivity.CPU]
    if device == "cuda":
        activities.append(torch.profiler.ProfilerActivity.CUDA)
    return torch.profiler.profile(activities=activities)


@contextlib.contextmanager
def bare_cupti():
    """CUPTI with a subscriber that does nothing ($BARE_CUPTI, of bench/device)."""
    with open("/proc/self/maps") as maps:
        library = next(line.split()[-1] for line in maps if "libcupti.so" in line)
    bare = ctypes.CDLL(os.environ["BARE_CUPTI"])
    failed = bare.bare_cupti__begin(library.encode())
    assert not failed, f"CUPTI's error {failed}"
    yield
    torch.cuda.synchronize()
    bare.bare_cupti__end()


def threads(prefix):
    """Numbers of this process's threads whose names begin so."""
    for tid in os.listdir("/proc/self/task"):
        with open(f"/proc/self/task/{tid}/comm") as file:
            if file.read().startswith(prefix):
                yield int(tid)


def training_clock(device):
    """CPU time of the training threads. With CUDA the backward pass has its own thread."""
    if device == "cpu":
        return time.thread_time_ns
    torch.ones(1, device=device, requires_grad=True).sum().backward()
    # Clock ids in the form of pthread_getcpuclockid().
    clocks = [~tid << 3 | 6 for tid in [threading.get_native_id(), *threads("pt_autograd")]]
    return lambda: sum(map(time.clock_gettime_ns, clocks))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", choices=MODELS)
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    step = MODELS[args.model](args.device)
    timed = Timed(step, lambda: profiler(args.device), training_clock(args.device), bare_cupti)
    serve(timed, torch=torch.__version__)


if __name__ == "__main__":
    main()
