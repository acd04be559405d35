# SPDX-License-Identifier: BSD-2-Clause
"""A network for images and its training data, used by several libraries' jobs."""
import torch
from torch import nn
from torch.utils.data import TensorDataset

CLASSES = 10


def network():
    return nn.Sequential(
        nn.Conv2d(3, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(),
        nn.Conv2d(32, 32, 3, stride=2), nn.ReLU(),
        nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(512, CLASSES))


def samples(cnt=4096):
    return TensorDataset(torch.randn(cnt, 3, 32, 32), torch.randint(0, CLASSES, (cnt,)))
