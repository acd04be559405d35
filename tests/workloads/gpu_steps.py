"""A training on the GPU, the same work in every step. It makes steps until a line comes on standard
input; then, still at work, it profiles STEPS of them with torch.profiler, leaves the trace in the
file that the line names, and ends.

usage: gpu_steps.py STEPS"""
import select
import sys

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile, record_function


def make_step():
    torch.manual_seed(0)
    net = nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(16 * 16 * 16, 64), nn.GELU(), nn.LayerNorm(64), nn.Linear(64, 10),
    ).cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
    images = torch.randn(32, 3, 32, 32)
    labels = torch.randint(0, 10, (32,))

    aside, done = torch.cuda.Stream(), torch.cuda.Event()

    def step():
        optimizer.zero_grad()
        with record_function("forward"):
            batch = images.cuda()
            with record_function("layers"):
                out = net(batch)
            loss = nn.functional.cross_entropy(out, labels.cuda())
        loss.backward()
        with torch.cuda.stream(aside):
            with record_function("aside"):
                batch.mul_(2)
            done.record(aside)
        torch.cuda.current_stream().wait_event(done)
        done.synchronize()
        optimizer.step()
        torch.cuda.synchronize()

    return step


def main():
    step = make_step()
    for _ in range(5):
        step()
    print("ready", flush=True)
    while not select.select([sys.stdin], [], [], 0)[0]:
        step()
    # Without this option the profiler leaves out what streams and threads wait for.
    waits = torch._C._profiler._ExperimentalConfig(enable_cuda_sync_events=True)
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA],
                 experimental_config=waits) as profiler:
        for _ in range(int(sys.argv[1])):
            step()
    profiler.export_chrome_trace(sys.stdin.readline().strip())
    print("done", flush=True)


if __name__ == "__main__":
    main()
