"""parts.py PART: trains on the GPU until SIGTERM. PART is `devices`, at once on four of them: a convolution
and attention with AdamW; the same without cuDNN, by mixed precision; a CUDA graph; and a copy to the
last. Or `compiled`, by torch.compile. Or `ranks`, data-parallel below torchrun, until the file `stop`."""
import os
import signal
import sys
import time

import torch
import torch.distributed as dist
from torch import nn

stop = []


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 16, 3, padding=1)
        self.norm = nn.BatchNorm2d(16)
        self.attention = nn.MultiheadAttention(16, 4, batch_first=True)
        self.out = nn.Linear(16, 10)

    def forward(self, x):
        x = torch.relu(self.norm(self.conv(x))).flatten(2).transpose(1, 2)
        return self.out((x + self.attention(x, x, x, need_weights=False)[0]).mean(1))


def trained(device, mixed):
    net = Net().to(device)
    optimizer = torch.optim.AdamW(net.parameters())
    scaler = torch.amp.GradScaler("cuda", enabled=mixed)

    def step():
        x, y = torch.randn(4, 3, 8, 8).to(device), torch.randint(0, 10, (4,)).to(device)
        optimizer.zero_grad()
        with torch.backends.cudnn.flags(enabled=not mixed), \
                torch.autocast("cuda", dtype=torch.float16, enabled=mixed):
            loss = nn.functional.cross_entropy(net(x), y)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        return loss

    return step


def captured(device):
    with torch.cuda.device(device):
        net = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64)).cuda()
        x = torch.randn(32, 64, device="cuda")
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            net(x).sum().backward()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        net.zero_grad(set_to_none=True)
        with torch.cuda.graph(graph):
            net(x).sum().backward()

    def step():
        with torch.cuda.device(device):
            x.copy_(torch.randn(32, 64))
            graph.replay()

    return step


def devices():
    parts = trained("cuda:0", False), trained("cuda:1", True), captured("cuda:2")

    def step():
        loss, *_ = (part() for part in parts)
        loss.detach().to("cuda:3").mul_(2)
        for device in range(4):
            torch.cuda.synchronize(device)

    return step


def compiled():
    net = nn.Sequential(nn.Linear(64, 64), nn.GELU(), nn.Linear(64, 10)).cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    run = torch.compile(net)
    x = torch.randn(32, 64, device="cuda")

    def step():
        optimizer.zero_grad()
        run(x).sum().backward()
        optimizer.step()
        torch.cuda.synchronize()

    return step


def ranks():
    rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl")
    net = nn.parallel.DistributedDataParallel(nn.Linear(256, 256).cuda(), device_ids=[rank])
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

    def step():
        optimizer.zero_grad()
        net(torch.randn(8, 256).cuda()).sum().backward()
        optimizer.step()
        # The simulated device really copies data, and really computes small collectives.
        done = torch.tensor([float(os.path.exists("stop"))], device="cuda")
        dist.all_reduce(done)
        if done.item():
            stop.append(True)

    return step


def main():
    signal.signal(signal.SIGTERM, lambda *_: stop.append(True))
    step, steps = globals()[sys.argv[1]](), 0
    while not stop:
        step()
        time.sleep(0.02)
        steps += 1
        # All ranks write to one file, so only the first one writes.
        if steps == 3 and os.environ.get("LOCAL_RANK", "0") == "0":
            print("ready", os.getppid() if dist.is_initialized() else os.getpid(), flush=True)
    if dist.is_initialized():
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
