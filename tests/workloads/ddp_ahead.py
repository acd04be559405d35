"""One rank of a DistributedDataParallel training over NCCL whose host never waits for its device; start it with
`python -m torch.distributed.run --nproc-per-node N ddp_ahead.py`. One rank may sleep in each step."""
import argparse
import itertools
import os
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps-to", required=True, help=".RANK is added")
    parser.add_argument("--slow-rank", type=int, default=-1)
    parser.add_argument("--slow-ms", type=float, default=10)
    args = parser.parse_args()
    rank = int(os.environ["RANK"])
    torch.set_num_threads(1)
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl")
    model = DistributedDataParallel(nn.Sequential(*[nn.Linear(1024, 1024) for _ in range(6)]).cuda())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x = torch.randn(512, 1024, device="cuda")
    with open(f"{args.steps_to}.{rank}", "w", buffering=1) as log:
        for step in itertools.count():
            if rank == args.slow_rank:
                time.sleep(args.slow_ms / 1e3)
            optimizer.zero_grad()
            model(x).square().mean().backward()
            optimizer.step()
            log.write(f"step {step}\n")


if __name__ == "__main__":
    main()
