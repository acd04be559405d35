# SPDX-License-Identifier: BSD-2-Clause
"""One rank of a training over gloo whose step has a collective of each kind; start it with
`python -m torch.distributed.run`. Rank 0 profiles steps 4 to 7 with torch.profiler, writes its
events to the file given, and trains on without it."""
import argparse
import json
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel
from torch.profiler import ProfilerActivity, profile

PROFILED = range(4, 8)
ELEMENTS = 1000
INTO_TENSOR = torch.__version__ >= "2.1"  # earlier versions of gloo do not have it


def fail(collective, *args):
    try:
        collective(*args)
    except (RuntimeError, ValueError):
        return
    raise AssertionError("an error was to be raised")


def exchange(rank, world):
    fail(dist.all_reduce, torch.ones(4, dtype=torch.int16))  # by the work, so in wait()
    fail(dist.broadcast, torch.ones(4).to_sparse(), 0)  # by the call
    x = torch.ones(ELEMENTS)
    dist.all_reduce(x)
    dist.broadcast(x, 0)
    dist.reduce(x, 0)
    dist.all_gather([torch.empty(ELEMENTS) for _ in range(world)], x)
    if INTO_TENSOR:
        dist.all_gather_into_tensor(torch.empty(ELEMENTS * world), x)
    dist.all_to_all_single(torch.empty(ELEMENTS), x)
    waited = dist.all_reduce(torch.ones(ELEMENTS, dtype=torch.half), async_op=True)
    torch.mm(torch.ones(8, 8), torch.ones(8, 8))
    waited.wait()
    if rank == 0:
        dist.send(x, 1)
    elif rank == 1:
        dist.recv(x, 0)
    dist.barrier()


def training(zero):
    model = DistributedDataParallel(nn.Sequential(nn.Linear(64, 64), nn.Linear(64, 8)))
    if zero:
        optimizer = ZeroRedundancyOptimizer(model.parameters(), torch.optim.Adam, lr=1e-3)
    else:
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    def step():
        optimizer.zero_grad()
        model(torch.randn(16, 64)).pow(2).mean().backward()
        if not zero:
            exchange(dist.get_rank(), dist.get_world_size())
        optimizer.step()

    return step


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps-to", required=True, help=".RANK is added")
    parser.add_argument("--profile-to", required=True)
    parser.add_argument("--zero", action="store_true", help="only DDP and ZeroRedundancyOptimizer")
    args = parser.parse_args()
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    step, done, rank = training(args.zero), 0, dist.get_rank()
    profiler = profile(activities=[ProfilerActivity.CPU])
    with open(f"{args.steps_to}.{rank}", "w", buffering=1) as log:
        while True:
            if rank == 0 and done == PROFILED.start:
                profiler.start()
            if rank == 0 and done == PROFILED.stop:
                profiler.stop()
                with open(args.profile_to, "w") as file:
                    json.dump([e.name() for e in profiler.profiler.kineto_results.events()], file)
            step()
            log.write(f"step {done}\n")
            done += 1
            time.sleep(0.005)


if __name__ == "__main__":
    main()
