"""FSDP2 on two ranks, which notes the run time of each step of its thread: job.py FOLDER."""
import os
import sys
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

torch.set_num_threads(1)
dist.init_process_group("gloo")
mesh = init_device_mesh("cpu", (int(os.environ["WORLD_SIZE"]),))
net = nn.Sequential(*[m for _ in range(4) for m in (nn.Linear(64, 64), nn.ReLU())], nn.Linear(64, 10))
for layer in net:
    if isinstance(layer, nn.Linear):
        fully_shard(layer, mesh=mesh)
fully_shard(net, mesh=mesh)
opt = torch.optim.Adam(net.parameters())
x, y = torch.randn(32, 64), torch.randint(0, 10, (32,))
with open(os.path.join(sys.argv[1], f"rank{os.environ['RANK']}"), "w") as log:
    print(os.getpid(), file=log, flush=True)
    while True:
        begin = time.thread_time_ns()
        opt.zero_grad()
        nn.functional.cross_entropy(net(x), y).backward()
        opt.step()
        print(time.thread_time_ns() - begin, file=log, flush=True)
