# SPDX-License-Identifier: BSD-2-Clause
"""Answers requests with a small language model, token by token, until it is told to stop.

An ordinary program that knows nothing of proftrace. Each pass of the model makes one token of each sequence of the
batch, as `generate()` does; the first of a request reads the prompt. Writes `step NUMBER NS` for each request to the
log.
"""
import argparse
import os
import random
import time

import torch
from torch import nn

WORDS, WIDTH, HEADS, PROMPT = 100, 32, 4, 8


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.query, self.key, self.value = (nn.Linear(WIDTH, WIDTH) for _ in range(3))
        self.out, self.up, self.down = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, 64), nn.Linear(64, WIDTH)

    def forward(self, x, cache):
        y = self.norm1(x)
        heads = [layer(y).view(*y.shape[:2], HEADS, -1).transpose(1, 2) for layer in (self.query, self.key, self.value)]
        if cache:
            heads[1:] = [torch.cat(pair, 2) for pair in zip(cache, heads[1:])]
        cache[:] = heads[1:]
        y = nn.functional.scaled_dot_product_attention(*heads, is_causal=y.shape[1] > 1)
        x = x + self.out(y.transpose(1, 2).flatten(2))
        return x + self.down(nn.functional.gelu(self.up(self.norm2(x))))


class Model(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.layers = nn.ModuleList(Layer() for _ in range(layers))
        self.head = nn.Linear(WIDTH, WORDS)

    def forward(self, words, caches):
        x = self.words(words)
        for layer, cache in zip(self.layers, caches):
            x = layer(x, cache)
        return self.head(x[:, -1])


def answer(model, batch, tokens):
    caches = [[] for _ in model.layers]
    words = torch.randint(0, WORDS, (batch, PROMPT))
    for _ in range(tokens):
        words = model(words, caches).argmax(-1, keepdim=True)
    return words.tolist()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--log", default=os.devnull)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--batch", type=int, default=2)
    parser.add_argument("--tokens", type=int, nargs=2, default=(16, 16), metavar=("LEAST", "MOST"))
    parser.add_argument("--pause-ms", type=float, default=3)
    args = parser.parse_args()
    torch.set_num_threads(1)
    lengths = random.Random(1)
    model = Model(args.layers).eval()
    cnt = 0
    with open(args.log, "a", buffering=1) as log, torch.inference_mode():
        while True:
            begin = time.monotonic_ns()
            answer(model, args.batch, lengths.randint(*args.tokens))
            print("step", cnt, time.monotonic_ns() - begin, file=log)
            cnt += 1
            time.sleep(args.pause_ms / 1e3)


if __name__ == "__main__":
    main()
