"""Trains a small network and updates it only after several backward passes, as jobs do whose batches do not
fit in memory, by one optimizer or by several that share its parameters. An ordinary PyTorch program that knows nothing of proftrace; writes `step NUMBER NS` for
each update to the log.
"""
import argparse
import os
import time

import torch
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--log", default=os.devnull)
parser.add_argument("--passes", type=int, default=4, help="backward passes for each update")
parser.add_argument("--pass-s", type=float, default=0.1, help="seconds that a batch takes to come")
parser.add_argument("--prepare-s", type=float, default=0, help="seconds before the first batch")
parser.add_argument("--optimizers", type=int, default=1)
parser.add_argument("--no-loader", action="store_true", help="one batch again and again")
parser.add_argument("--steps", type=int, default=0, help="end after so many; 0: never")
args = parser.parse_args()


class Slow(TensorDataset):
    def __getitem__(self, index):
        time.sleep(args.pass_s / 4)
        return super().__getitem__(index)


torch.set_num_threads(1)
torch.manual_seed(0)
time.sleep(args.prepare_s)
model = torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, 10))
parameters = list(model.parameters())
optimizers = [torch.optim.SGD(parameters[i::args.optimizers], lr=0.01) for i in range(args.optimizers)]
loader = DataLoader(Slow(torch.randn(4096, 64), torch.randint(0, 10, (4096,))), batch_size=4)
batches = [next(iter(loader))] * 1000 if args.no_loader else loader
passes = cnt = 0
begin = time.perf_counter_ns()
with open(args.log, "a", buffering=1) as log:
    while not args.steps or cnt < args.steps:
        for x, y in batches:
            loss = torch.nn.functional.cross_entropy(model(x), y) / args.passes
            loss.backward()
            passes += 1
            if passes % args.passes:
                continue
            for optimizer in optimizers:
                optimizer.step()
                optimizer.zero_grad()
            now = time.perf_counter_ns()
            log.write(f"step {cnt} {now - begin}\n")
            begin = now
            cnt += 1
            if cnt == args.steps:
                break
print("done")
