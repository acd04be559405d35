"""Trains, or only runs, one of a few networks until it is told to stop: the jobs that people have.

An ordinary PyTorch program that knows nothing of proftrace. Writes `step NUMBER NS` for each step to
the log. At SIGUSR1 it starts a thread that calls torch.atan every few milliseconds.
"""
import argparse
import os
import signal
import sys
import threading
import time


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--log", default=os.devnull)
    parser.add_argument("--model", choices=["cnn", "transformer"], default="cnn")
    parser.add_argument("--infer", action="store_true", help="no loader, no loss, no optimizer")
    parser.add_argument("--then-train", action="store_true", help="with --infer: after SIGUSR1")
    parser.add_argument("--trace-first", action="store_true",
                        help="with --infer: until SIGUSR1 another model is compiled again and again")
    parser.add_argument("--workers", type=int, default=0, help="data loader processes")
    parser.add_argument("--optimizer", choices=["sgd", "adam"], default="sgd")
    parser.add_argument("--range", help="a record_function range of this name around each step")
    parser.add_argument("--steps", type=int, default=0, help="end after so many; 0: never")
    parser.add_argument("--late", action="store_true", help="import torch after SIGUSR1 only")
    return parser.parse_args()


ARGS = parse_args()
ASKED = threading.Event()
signal.signal(signal.SIGUSR1, lambda *_: ASKED.set())
if ARGS.late:
    print("waiting", flush=True)
    while not ASKED.wait(0.05):
        pass
    ASKED.clear()

import torch  # noqa: E402
from torch.nn import functional as F  # noqa: E402
from torch.utils.data import DataLoader  # noqa: E402

from demo_train import Shapes, SmallResNet  # noqa: E402
from networks import LanguageModel, endless  # noqa: E402


def image_batches():
    return endless(DataLoader(Shapes(4096), batch_size=4, shuffle=True, num_workers=ARGS.workers,
                              persistent_workers=ARGS.workers > 0))


def word_batches():
    while True:
        words = torch.randint(0, 1000, (4, 32))
        yield words, words.roll(1, 1)


def loss_of(model, x, y):
    if ARGS.model == "transformer":
        return F.cross_entropy(model(x).view(-1, 1000), y.view(-1))
    return F.cross_entropy(model(x), y)


def training():
    model = LanguageModel() if ARGS.model == "transformer" else SmallResNet()
    if ARGS.optimizer == "adam":
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    else:
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    batches = word_batches() if ARGS.model == "transformer" else image_batches()

    def step():
        x, y = next(batches)
        optimizer.zero_grad()
        loss_of(model, x, y).backward()
        optimizer.step()

    return step


def inference():
    model = (LanguageModel() if ARGS.model == "transformer" else SmallResNet()).eval()

    def step():
        x = (torch.zeros(4, 32, dtype=torch.long) if ARGS.model == "transformer" else
             torch.zeros(4, 3, 32, 32))
        with torch.no_grad():
            model(x).argmax(-1).tolist()
        time.sleep(0.01)  # the next request

    return step


def trace():
    """Layers that are alike, over and over; the backend needs no compiler of C++."""
    import torch._dynamo  # where it is not imported with torch

    layers = [torch.nn.TransformerEncoderLayer(64, 4, 128, batch_first=True) for _ in range(12)]
    model, x = torch.nn.Sequential(*layers).eval(), torch.zeros(4, 16, 64)
    compiled = torch.compile(model, backend="aot_eager")
    print("tracing", flush=True)
    while not ASKED.is_set():
        torch._dynamo.reset()
        with torch.no_grad():
            compiled(x)
    ASKED.clear()


def in_range(step):
    def ranged():
        with torch.profiler.record_function(ARGS.range):
            step()

    return ranged


def think_aside():
    while True:
        torch.atan(torch.ones(64))
        time.sleep(0.003)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    if ARGS.trace_first:
        trace()
    step = inference() if ARGS.infer else training()
    if ARGS.range:
        step = in_range(step)
    cnt = 0
    with open(ARGS.log, "a", buffering=1) as log:
        while not ARGS.steps or cnt < ARGS.steps:
            begin = time.perf_counter_ns()
            step()
            log.write(f"step {cnt} {time.perf_counter_ns() - begin}\n")
            cnt += 1
            if ASKED.is_set():
                ASKED.clear()
                if ARGS.then_train:
                    step = training()
                    continue
                threading.Thread(target=think_aside, daemon=True, name="aside").start()


if __name__ == "__main__":
    main()
