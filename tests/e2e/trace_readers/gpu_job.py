"""gpu_job.py STOP: trains on the GPU until the file STOP exists; data-parallel if WORLD_SIZE says so."""
import os
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def main():
    rank, world = int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))
    torch.cuda.set_device(rank)
    net = nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(),
        nn.Linear(8 * 16 * 16, 64), nn.ReLU(), nn.Linear(64, 10),
    ).cuda()
    if world > 1:
        store = f"file://{os.path.abspath(sys.argv[1])}.store"
        dist.init_process_group("nccl", init_method=store, rank=rank, world_size=world)
        net = nn.parallel.DistributedDataParallel(net, device_ids=[rank])
    optimizer = torch.optim.AdamW(net.parameters())
    data = TensorDataset(torch.randn(64, 3, 16, 16), torch.randint(0, 10, (64,)))
    going = world
    while going == world:
        for x, y in DataLoader(data, batch_size=16, pin_memory=True):
            optimizer.zero_grad()
            with torch.cuda.nvtx.range("forward"):
                out = net(x.cuda(non_blocking=True))
            nn.functional.cross_entropy(out, y.cuda(non_blocking=True)).backward()
            optimizer.step()
            # The simulated device computes only copies and small collectives. Each step has one, because TensorBoard
            # wants the same number from each rank.
            votes = torch.tensor([0.0 if os.path.exists(sys.argv[1]) else 1.0], device="cuda")
            if world > 1:
                dist.all_reduce(votes)
            going = votes.item()
            if going != world:
                break
    if world > 1:
        dist.destroy_process_group()


main()
