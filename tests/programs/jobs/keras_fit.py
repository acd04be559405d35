# SPDX-License-Identifier: BSD-2-Clause
"""Trains with keras on its torch backend: fit() on a DataLoader. keras has its own optimizers."""
import os

os.environ["KERAS_BACKEND"] = "torch"

import hooked  # noqa: E402
import images  # noqa: E402
import keras  # noqa: E402
from torch.utils.data import DataLoader  # noqa: E402

BATCH = 32

args, hooks = hooked.start(__doc__)
keras.utils.set_random_seed(hooked.SEED)
layers = keras.layers
model = keras.Sequential([
    keras.Input((3, 32, 32)), layers.Permute((2, 3, 1)),
    layers.Conv2D(32, 3, activation="relu"), layers.MaxPooling2D(),
    layers.Conv2D(32, 3, activation="relu"), layers.MaxPooling2D(),
    layers.Flatten(), layers.Dense(images.CLASSES)])
model.compile(optimizer="adam", loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.optimizer.apply = hooks.optimizer(model.optimizer.apply)
data = images.samples()
model.fit(DataLoader(data, BATCH, shuffle=True), epochs=max(1, args.steps * BATCH // len(data)), verbose=0)
print(sum(abs(w).sum() for w in model.get_weights()))
