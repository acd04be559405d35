"""A training job that notes its steps: timed_steps.py NAME TIMES. Each rank writes TIMES.RANK: its process, then a
line a step: begin and end (wall clock) and the run time of its thread between them, in nanoseconds."""
import os
import sys
import time

import torch
from torch import nn

# Steps are short: what probes add to them shows beside what else makes them differ.
torch.set_num_threads(1)
torch.manual_seed(0)


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru, self.out = nn.GRU(16, 32, 2, batch_first=True), nn.Linear(32, 10)

    def forward(self, x):
        return self.out(self.gru(x)[0][:, -1])


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        layer = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True)
        self.body, self.out = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False), nn.Linear(32, 10)

    def forward(self, x):
        return self.out(self.body(x).mean(1))


def sharded():
    import torch.distributed as dist
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    dist.init_process_group("gloo")
    mesh = init_device_mesh("cpu", (int(os.environ["WORLD_SIZE"]),))
    net = nn.Sequential(*[m for _ in range(4) for m in (nn.Linear(64, 64), nn.ReLU())], nn.Linear(64, 10))
    for layer in net:
        if isinstance(layer, nn.Linear):
            fully_shard(layer, mesh=mesh)
    fully_shard(net, mesh=mesh)
    return net, torch.randn(32, 64)


def mlp():
    layers = [m for _ in range(8) for m in (nn.Linear(32, 32), nn.ReLU())]
    return nn.Sequential(*layers, nn.Linear(32, 10)), torch.randn(16, 32)


def cnn():
    blocks = [
        m
        for i in range(6)
        for m in (nn.Conv2d(8 if i else 3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU())
    ]
    return nn.Sequential(*blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 10)), torch.randn(2, 3, 12, 12)


JOBS = {
    "mlp": mlp,
    "gru": lambda: (Recurrent(), torch.randn(4, 8, 16)),
    "cnn": cnn,
    "transformer": lambda: (Attention(), torch.randn(4, 8, 32)),
    "fsdp2": sharded,
}


def main():
    net, x = JOBS[sys.argv[1]]()
    opt = torch.optim.Adam(net.parameters())
    y = torch.randint(0, 10, (len(x),))
    rank = os.environ.get("RANK", "0")
    with open(f"{sys.argv[2]}.{rank}", "w") as times:
        print(os.getpid(), file=times, flush=True)
        while True:
            lines = []
            for _ in range(20):
                wall, ran = time.time_ns(), time.thread_time_ns()
                opt.zero_grad()
                nn.functional.cross_entropy(net(x), y).backward()
                opt.step()
                lines.append(f"{wall} {time.time_ns()} {time.thread_time_ns() - ran}\n")
            times.writelines(lines)
            times.flush()


main()
