"""ahead_job.py STOP STEPS: a training job whose host runs STEPS steps ahead of its GPU, until the file STOP exists."""
import itertools
import os
import sys

import torch
from torch import nn

net = nn.Sequential(*[nn.Linear(512, 512) for _ in range(4)]).cuda()
opt = torch.optim.SGD(net.parameters(), 0.1)
x = torch.randn(1024, 512, device="cuda")
for n in itertools.count(1):
    opt.zero_grad()
    nn.functional.mse_loss(net(x), x).backward()
    opt.step()
    if n % int(sys.argv[2]) == 0:
        torch.cuda.synchronize()
        if os.path.exists(sys.argv[1]):
            break
