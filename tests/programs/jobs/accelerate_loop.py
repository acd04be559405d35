# SPDX-License-Identifier: BSD-2-Clause
"""The loop of diffusers' examples: accelerate, two batches to an optimizer step, bfloat16, an average of
the weights."""
import hooked
import torch
from accelerate import Accelerator
from diffusers import DDPMScheduler, UNet2DModel
from diffusers.training_utils import EMAModel
from torch.nn import functional
from torch.utils.data import DataLoader

args, _ = hooked.start(__doc__)
accelerator = Accelerator(cpu=True, mixed_precision="bf16", gradient_accumulation_steps=2)
model = UNet2DModel(sample_size=16, in_channels=3, out_channels=3, layers_per_block=1, norm_num_groups=8,
                    block_out_channels=(16, 32), down_block_types=("DownBlock2D", "AttnDownBlock2D"),
                    up_block_types=("AttnUpBlock2D", "UpBlock2D"))
optimizer = torch.optim.AdamW(model.parameters(), 1e-4)
loader = DataLoader(torch.rand(1024, 3, 16, 16), 8, shuffle=True)
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
average = EMAModel(model.parameters())
noising = DDPMScheduler(1000)
steps = 0
while steps < args.steps:
    for clean in loader:
        noise = torch.randn_like(clean)
        times = torch.randint(0, 1000, (len(clean),))
        with accelerator.accumulate(model):
            loss = functional.mse_loss(model(noising.add_noise(clean, noise, times), times).sample, noise)
            accelerator.backward(loss)
            if accelerator.sync_gradients:
                accelerator.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
        if accelerator.sync_gradients:
            average.step(model.parameters())
            steps += 1
            if steps == args.steps:
                break
hooked.print_result(model)
