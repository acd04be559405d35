# SPDX-License-Identifier: BSD-2-Clause
"""A two-layer transformer language model: no DataLoader, record_function ranges, AdamW, clipping."""
import torch
from torch.nn import functional as F
from torch.profiler import record_function

from networks import LENGTH, WORDS, LanguageModel
from stepper import serve

class RangedModel(LanguageModel):
    def forward(self, words):
        with record_function("embed"):
            x = self.embed(words)
        with record_function("encoder layers"):
            x = self.encoder(x)
        return self.head(x)


def main():
    torch.manual_seed(0)
    model = RangedModel().train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1000)

    def step():
        tokens = torch.randint(0, WORDS, (8, LENGTH))
        targets = torch.randint(0, WORDS, (8, LENGTH))
        optimizer.zero_grad(set_to_none=True)
        logits = model(tokens)
        loss = F.cross_entropy(logits.view(-1, WORDS), targets.view(-1))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        return loss.item()

    serve(step)


if __name__ == "__main__":
    main()
