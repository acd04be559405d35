# SPDX-License-Identifier: BSD-2-Clause
"""A small convolutional classifier in inference mode: eager, scripted, traced or by torch.compile."""
import argparse

import torch
from torch import nn

from stepper import serve


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiled", choices=["no", "script", "trace", "dynamo"], default="no")
    args = parser.parse_args()

    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1),
        nn.BatchNorm2d(16),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(16 * 16 * 16, 64),
        nn.GELU(),
        nn.LayerNorm(64),
        nn.Linear(64, 10),
    ).eval()
    images = torch.randn(4, 3, 32, 32)
    if args.compiled == "script":
        model = torch.jit.freeze(torch.jit.script(model))
    elif args.compiled == "trace":
        model = torch.jit.trace(model, images)
    elif args.compiled == "dynamo":
        model = torch.compile(model, backend="aot_eager")  # needs no compiler of C++

    def step():
        with torch.inference_mode():
            return model(images).argmax(1).tolist()

    serve(step)


if __name__ == "__main__":
    main()
