"""One rank of a DistributedDataParallel training over gloo or NCCL; start it with
`python -m torch.distributed.run --nproc-per-node N ddp.py`. One rank may be slow in one phase."""
import argparse
import os
import random
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset


class Numbers(Dataset):
    def __init__(self, sleep_s):
        self.sleep_s = sleep_s

    def __len__(self):
        return 4096

    def __getitem__(self, index):
        time.sleep(self.sleep_s)
        return torch.full((64,), index / 4096), index % 10


class SlowBackward(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, sleep_s):
        ctx.sleep_s = sleep_s
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        time.sleep(ctx.sleep_s)
        return grad, None


class Network(nn.Module):
    def __init__(self, sleeps):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
        self.sleeps = sleeps
        self.random = random.Random(1)  # the same on all ranks

    def forward(self, x):
        time.sleep(self.sleeps["forward"] + self.random.uniform(0, self.sleeps["uneven"]))
        return SlowBackward.apply(self.layers(x), self.sleeps["backward"])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps-to", required=True, help=".RANK is added")
    parser.add_argument("--slow-rank", type=int, default=-1)
    parser.add_argument("--slow-phase", choices=["loader", "forward", "backward"],
                        default="forward")
    parser.add_argument("--slow-ms", type=float, default=20)
    parser.add_argument("--pace-ms", type=float, default=2, help="of the forward pass of every rank")
    parser.add_argument("--uneven-ms", type=float, default=0, help="a forward pass of all ranks takes up to so much more")
    parser.add_argument("--cuda", action="store_true", help="a GPU per rank, over NCCL")
    parser.add_argument("--workers", type=int, default=0)
    args = parser.parse_args()
    sleeps = {"loader": 0.0, "forward": args.pace_ms / 1e3, "backward": 0.0,
              "uneven": args.uneven_ms / 1e3}
    if int(os.environ["RANK"]) == args.slow_rank:
        sleeps[args.slow_phase] += args.slow_ms / 1e3
    torch.set_num_threads(1)
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"])) if args.cuda else "cpu"
    if args.cuda:
        torch.cuda.set_device(device)
    dist.init_process_group("nccl" if args.cuda else "gloo")
    model = DistributedDataParallel(Network(sleeps).to(device))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loss_of = nn.CrossEntropyLoss()
    loader = DataLoader(Numbers(sleeps["loader"] / 16), batch_size=16, num_workers=args.workers)
    step = 0
    with open(f"{args.steps_to}.{os.environ['RANK']}", "w", buffering=1) as log:
        while True:
            for x, y in loader:
                optimizer.zero_grad()
                loss_of(model(x.to(device)), y.to(device)).backward()
                optimizer.step()
                log.write(f"step {step}\n")
                step += 1


if __name__ == "__main__":
    main()
