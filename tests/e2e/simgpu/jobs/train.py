"""A network of all usual parts, trained a few steps: train.py STEPS [OPTION...]

cudnn=off    convolutions by PyTorch's own kernels
amp          autocast and a gradient scaler
profile      under torch.profiler; prints how many kernels, copies and sets it saw
"""
import sys

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 32, 3, padding=1)
        self.norm = nn.BatchNorm2d(32)
        self.attention = nn.MultiheadAttention(32, 4, batch_first=True)
        self.out = nn.Linear(32, 10)

    def forward(self, x):
        x = nn.functional.max_pool2d(torch.relu(self.norm(self.conv(x))), 2)
        x = x.flatten(2).transpose(1, 2)
        x = x + self.attention(x, x, x, need_weights=False)[0]
        return self.out(x.mean(1))


def train(steps, use_amp):
    model = Net().cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    scaler = torch.amp.GradScaler("cuda", enabled=use_amp)
    for _ in range(steps):
        x = torch.randn(8, 3, 16, 16).pin_memory().cuda(non_blocking=True)
        y = torch.randint(0, 10, (8,)).cuda()
        optimizer.zero_grad()
        with torch.autocast("cuda", dtype=torch.float16, enabled=use_amp):
            loss = nn.functional.cross_entropy(model(x), y)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
    loss.item()
    torch.cuda.synchronize()


def main():
    steps, options = int(sys.argv[1]), sys.argv[2:]
    torch.backends.cudnn.enabled = "cudnn=off" not in options
    if "profile" not in options:
        train(steps, "amp" in options)
        return
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as p:
        train(steps, "amp" in options)
    device = [e.name for e in p.events()
              if e.device_type == torch.autograd.DeviceType.CUDA and not e.is_user_annotation]
    copies = sum(n.startswith("Memcpy") for n in device)
    sets = sum(n.startswith("Memset") for n in device)
    print("kernels", len(device) - copies - sets, "copies", copies, "sets", sets)


main()
