# SPDX-License-Identifier: BSD-2-Clause
"""PyTorch Lightning: automatic optimization, which gives the optimizer a closure, with clipping."""
import hooked
import images
import lightning
import torch
from torch.nn import functional
from torch.utils.data import DataLoader


class Images(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.network = images.network()

    def training_step(self, batch, _):
        loss = functional.cross_entropy(self.network(batch[0]), batch[1])
        self.log("train_loss", loss)
        return loss

    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(self.parameters(), 1e-3)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 1000)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}


args, _ = hooked.start(__doc__)
model = Images()
trainer = lightning.Trainer(max_steps=args.steps, max_epochs=-1, accelerator="cpu", logger=False,
                            enable_progress_bar=False, enable_checkpointing=False,
                            enable_model_summary=False, gradient_clip_val=1.0)
trainer.fit(model, DataLoader(images.samples(), 64, shuffle=True))
hooked.print_result(model)
