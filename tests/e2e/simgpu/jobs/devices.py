"""Four devices: data goes from one to another, and each device has its own work."""
import torch

assert torch.cuda.device_count() == 4
there = torch.arange(8.0).to("cuda:3").to("cuda:1")
assert there.cpu().tolist() == list(range(8))
for dev in range(4):
    model = torch.nn.Linear(16, 16).to(dev)
    for _ in range(dev + 1):
        model(torch.ones(4, 16, device=dev))
for dev in range(4):
    torch.cuda.synchronize(dev)
