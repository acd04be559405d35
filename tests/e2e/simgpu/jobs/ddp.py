"""Data-parallel training over NCCL, where the last rank is slow: ddp.py [STEPS [SLOW_MS]]"""
import os
import sys
import time

import torch
import torch.distributed as dist
from torch import nn

STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 5
SLOW_MS = float(sys.argv[2]) if len(sys.argv) > 2 else 20

rank = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(rank)
dist.init_process_group("nccl")
last = dist.get_world_size() - 1
model = nn.parallel.DistributedDataParallel(
    nn.Sequential(nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 512)).cuda(), device_ids=[rank])
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(STEPS):
    if rank == last:
        time.sleep(SLOW_MS / 1000)
    optimizer.zero_grad()
    model(torch.randn(32, 512, device="cuda")).sum().backward()
    optimizer.step()
    torch.cuda.synchronize()

total = torch.tensor([float(rank + 1)], device="cuda")
dist.all_reduce(total)
assert total.item() == (last + 1) * (last + 2) / 2, total
everyone = [torch.empty(1, device="cuda") for _ in range(last + 1)]
dist.all_gather(everyone, torch.tensor([float(rank)], device="cuda"))
assert [t.item() for t in everyone] == list(range(last + 1))
if rank == 0:
    dist.send(torch.tensor([7.0] * 4, device="cuda"), 1)  # a copy: kernels compute nothing
elif rank == 1:
    got = torch.zeros(4, device="cuda")
    dist.recv(got, 0)
    assert got.tolist() == [7.0] * 4
dist.barrier()
dist.destroy_process_group()
