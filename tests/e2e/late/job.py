"""job.py: trains on the GPU until SIGTERM; each step waits for an event and asks whether it has come,
and prints what went to the device and back. From SIGUSR1 on torch.profiler is on."""
import os
import signal
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

asked = set()
# Without this option the profiler leaves out what streams and threads wait for.
WAITS = torch._C._profiler._ExperimentalConfig(enable_cuda_sync_events=True)


def epochs(data):
    while True:
        yield from DataLoader(data, batch_size=32)


def main():
    for sig in signal.SIGTERM, signal.SIGUSR1:
        signal.signal(sig, lambda sig, _: asked.add(sig))
    torch.manual_seed(1)
    data = TensorDataset(torch.randn(3200, 3, 16, 16), torch.randint(0, 10, (3200,)))
    net = nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(),
        nn.Linear(8 * 16 * 16, 64), nn.ReLU(), nn.Linear(64, 10),
    ).cuda()
    optimizer = torch.optim.AdamW(net.parameters())
    profiler, updated = None, torch.cuda.Event()
    for step, (x, y) in enumerate(epochs(data)):
        optimizer.zero_grad()
        x, y = x.cuda(non_blocking=True), y.cuda()
        nn.functional.cross_entropy(net(x), y).backward()
        optimizer.step()
        updated.record()
        updated.synchronize()
        assert updated.query()
        time.sleep(0.02)
        print("step", step, x.cpu().double().sum().item(), flush=True)
        if step == 2:
            print("ready", os.getpid(), flush=True)
        if signal.SIGUSR1 in asked and not profiler:
            profiler = torch.profiler.profile(experimental_config=WAITS)
            profiler.start()
            print("profiling since", step, flush=True)
        if signal.SIGTERM in asked:
            break
    if profiler:
        profiler.stop()
        print("profiled", sum(e.device_type == torch.autograd.DeviceType.CUDA
                              for e in profiler.events()), flush=True)


main()
