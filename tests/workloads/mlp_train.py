"""Trains a small network on random numbers, a few milliseconds a step, and does something unusual
when it gets SIGUSR1: what a profiler that watches it must survive. Writes `step NUMBER NS END` for
each step to the log, NS being the time of the step's computation, END when it was over."""
import argparse
import collections
import functools
import os
import queue
import signal
import sys
import threading
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

SECOND_IMAGE = "import time; time.sleep(0.5); print('second image', sum(range(1000)))"


class Numbers(Dataset):
    def __init__(self, samples):
        self.samples = samples

    def __len__(self):
        return self.samples

    def __getitem__(self, index):
        # An operator that only data-loader processes call, to be counted.
        return torch.cosh(torch.full((64,), index / self.samples)), index % 10


class Training:
    def __init__(self, seed=0):
        torch.manual_seed(seed)
        self.model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(),
                                   nn.Linear(64, 10))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.05)
        self.loss = nn.CrossEntropyLoss()

    def step(self, x, y):
        self.optimizer.zero_grad()
        loss = self.loss(self.model(x), y)
        loss.backward()
        self.optimizer.step()
        return loss


def train_on_noise(steps, say):
    """Trains another network and reports its end."""
    training = Training(1)
    for _ in range(steps):
        x = torch.atan(torch.randn(16, 64))
        training.step(x, torch.zeros(16, dtype=torch.long))
    print(say, flush=True)


def fork():
    if os.fork() == 0:
        time.sleep(0.5)  # a profiler that follows children is there by then
        train_on_noise(5, "child trained")
        os._exit(0)
    os.wait()


def thread():
    worker = threading.Thread(target=train_on_noise, args=(5, "thread trained"))
    worker.start()
    worker.join()


ACTIONS = {
    "exit": lambda: os._exit(3),
    "exec": lambda: os.execv(sys.executable, [sys.executable, "-c", SECOND_IMAGE]),
    "abort": os.abort,
    "fork": fork,
    "thread": thread,
    "finish": sys.exit,
}


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--log", default=os.devnull)
    parser.add_argument("--on-usr1", choices=sorted(ACTIONS))
    parser.add_argument("--pause", action="store_true", help="make no step until SIGUSR1")
    parser.add_argument("--steps", type=int, default=0, help="end after so many; 0: never")
    parser.add_argument("--exit-status", type=int, default=0, help="of the end after --steps")
    parser.add_argument("--samples", type=int, default=1024)
    parser.add_argument("--batch", type=int, default=16, help="samples of a step")
    parser.add_argument("--workers", type=int, default=0, help="started anew for each epoch")
    parser.add_argument("--start-method", choices=["fork", "spawn", "forkserver"], help="of workers")
    parser.add_argument("--worker-sleep", type=float, default=0, help="seconds, before its work")
    parser.add_argument("--sleep-ms", type=float, default=4, help="after each step")
    parser.add_argument("--quick-after", type=int, metavar="STEPS", help="no sleep from then on")
    parser.add_argument("--prefetch", action="store_true", help="a thread fetches the batches")
    parser.add_argument("--no-loader", action="store_true", help="make each batch in the loop")
    parser.add_argument("--forward-only", type=int, default=0, metavar="STEPS",
                        help="each so many, a forward pass and a graph that none goes back")
    return parser.parse_args()


def late_worker(seconds, _):
    time.sleep(seconds)


def batches(args):
    """The batches of one epoch."""
    if args.no_loader:
        return ((torch.randn(args.batch, 64), torch.arange(args.batch) % 10)
                for _ in range(args.samples // args.batch))
    return DataLoader(Numbers(args.samples), batch_size=args.batch, num_workers=args.workers,
                      worker_init_fn=functools.partial(late_worker, args.worker_sleep),
                      multiprocessing_context=args.start_method)


def fetched_ahead(args):
    """The batches of all epochs."""
    ready = queue.Queue(4)

    def fetch():
        while True:
            for batch in batches(args):
                ready.put(batch)

    threading.Thread(target=fetch, daemon=True).start()
    while True:
        yield ready.get()


def main():
    args = parse_args()
    asked = threading.Event()
    signal.signal(signal.SIGUSR1, lambda *_: asked.set())
    torch.set_num_threads(1)
    training = Training()
    step, losses = 0, collections.deque(maxlen=args.steps or 1)
    with open(args.log, "a", buffering=1) as log:
        if args.pause:
            log.write("paused\n")
            while not asked.wait(0.01):
                pass
            asked.clear()
        while True:
            for x, y in fetched_ahead(args) if args.prefetch else batches(args):
                begin = time.perf_counter_ns()
                loss = training.step(x, y)
                losses.append(loss.item())
                end = time.perf_counter_ns()
                log.write(f"step {step} {end - begin} {end}\n")
                step += 1
                if args.forward_only and step % args.forward_only == 0:
                    training.loss(training.model(x), y)
                if step == args.steps:
                    print("losses", *(x.hex() for x in losses))
                    sys.exit(args.exit_status)
                if args.quick_after is None or step < args.quick_after:
                    time.sleep(args.sleep_ms / 1e3)
                if asked.is_set() and args.on_usr1:
                    asked.clear()
                    ACTIONS[args.on_usr1]()


if __name__ == "__main__":
    main()
