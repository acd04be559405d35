# SPDX-License-Identifier: BSD-2-Clause
"""The Trainer of transformers, which accelerate runs, on a small GPT-2."""
import tempfile

import hooked
import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

TOKENS, LENGTH = 1000, 64


class Text(torch.utils.data.Dataset):
    def __len__(self):
        return 4096

    def __getitem__(self, i):
        ids = torch.randint(0, TOKENS, (LENGTH,), generator=torch.Generator().manual_seed(i))
        return {"input_ids": ids, "labels": ids}


args, _ = hooked.start(__doc__)
model = GPT2LMHeadModel(GPT2Config(vocab_size=TOKENS, n_embd=128, n_layer=3, n_head=4, n_positions=LENGTH))
with tempfile.TemporaryDirectory() as directory:
    Trainer(model=model, train_dataset=Text(), args=TrainingArguments(
        directory, max_steps=args.steps, per_device_train_batch_size=8, use_cpu=True, report_to=[],
        save_strategy="no", disable_tqdm=True, logging_steps=1000)).train()
hooked.print_result(model)
