# SPDX-License-Identifier: BSD-2-Clause
"""The networks that more than one workload trains, and an endless supply of batches."""
import torch
from torch import nn
from torch.nn import functional as F

WORDS, WIDTH, LENGTH = 1000, 64, 32


class Block(nn.Module):
    """Two convolutions and a shortcut around them: a projection where the shape changes, or always."""

    def __init__(self, channels_in, channels_out, stride=1, projection=None):
        super().__init__()
        self.conv1 = nn.Conv2d(channels_in, channels_out, 3, stride, 1, bias=False)
        self.norm1 = nn.BatchNorm2d(channels_out)
        self.conv2 = nn.Conv2d(channels_out, channels_out, 3, 1, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(channels_out)
        self.shortcut = projection or nn.Identity()
        if not projection and (stride != 1 or channels_in != channels_out):
            self.shortcut = nn.Sequential(
                nn.Conv2d(channels_in, channels_out, 1, stride, bias=False),
                nn.BatchNorm2d(channels_out),
            )

    def forward(self, x):
        y = F.relu(self.norm1(self.conv1(x)), inplace=True)
        return F.relu(self.norm2(self.conv2(y)) + self.shortcut(x))


def resnet():
    return nn.Sequential(
        nn.Conv2d(3, 16, 3, 1, 1, bias=False),
        nn.BatchNorm2d(16),
        nn.ReLU(),
        nn.MaxPool2d(2),
        Block(16, 16),
        Block(16, 32, 2),
        Block(32, 64, 2),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Dropout(0.1),
        nn.Linear(64, 10),
    )


class LanguageModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(WORDS, WIDTH)
        self.position = nn.Parameter(torch.zeros(LENGTH, WIDTH))
        layer = nn.TransformerEncoderLayer(
            WIDTH, nhead=4, dim_feedforward=128, dropout=0.1, batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(WIDTH, WORDS)

    def embed(self, words):
        return self.embedding(words) + self.position

    def forward(self, words):
        return self.head(self.encoder(self.embed(words)))


def endless(loader):
    while True:
        yield from loader
