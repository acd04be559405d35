# SPDX-License-Identifier: BSD-2-Clause
"""Trains with fastai's Learner, which has its own loader and optimizer."""
import hooked
import images
from fastai.basics import CrossEntropyLossFlat, DataLoaders, Learner, Optimizer, set_seed
from fastai.callback.progress import ProgressCallback  # brings no_bar()  # noqa: F401

BATCH = 32

args, hooks = hooked.start(__doc__)
set_seed(hooked.SEED)
Optimizer.step = hooks.optimizer(Optimizer.step)
data = [(x, y) for x, y in images.samples(2048)]
learner = Learner(DataLoaders.from_dsets(data, data[:BATCH], bs=BATCH, num_workers=0), images.network(),
                  loss_func=CrossEntropyLossFlat())
with learner.no_bar(), learner.no_logging():
    learner.fit(max(1, args.steps * BATCH // len(data)), 1e-3)
hooked.print_result(learner.model)
