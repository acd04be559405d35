"""One training job in PaddlePaddle that runs, and times, as many steps as it is told to; for the
benchmarks. bench_protocol.py says what it is told, and answers."""
import argparse

import numpy as np
import paddle
from paddle import nn
from paddle.nn import functional as F

from bench_protocol import Timed, serve


def mlp(optimizer=paddle.optimizer.SGD):
    """Twenty layers so small that the framework's own work is all there is."""
    model = nn.Sequential(*[nn.Linear(16, 16) for _ in range(20)])
    optimizer = optimizer(1e-3, parameters=model.parameters())
    x, y = paddle.randn([4, 16]), paddle.randn([4, 16])

    def step():
        F.mse_loss(model(x), y).backward()
        optimizer.step()
        optimizer.clear_grad()

    return step


def adamw():
    """The same with an optimizer that turns gradients off once per step. SGD does it for each parameter."""
    return mlp(paddle.optimizer.AdamW)


class Images(paddle.io.Dataset):
    def __len__(self):
        return 4096

    def __getitem__(self, i):
        return np.full([3, 16, 16], i / 4096, "float32"), np.int64(i % 10)


def endless(loader):
    while True:
        yield from loader


def cnn():
    layers = [nn.Conv2D(3, 8, 3, padding=1)]
    for _ in range(4):
        layers += [nn.BatchNorm2D(8), nn.ReLU(), nn.Conv2D(8, 8, 3, padding=1)]
    model = nn.Sequential(*layers, nn.AdaptiveAvgPool2D(1), nn.Flatten(), nn.Linear(8, 10))
    optimizer = paddle.optimizer.Momentum(1e-3, parameters=model.parameters())
    batches = endless(paddle.io.DataLoader(Images(), batch_size=16))

    def step():
        x, y = next(batches)
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return float(loss)

    return step


MODELS = {"mlp": mlp, "adamw": adamw, "cnn": cnn}


def profiler():
    return paddle.profiler.Profiler(targets=[paddle.profiler.ProfilerTarget.CPU],
                                    on_trace_ready=lambda profiler: None)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", choices=MODELS)
    args = parser.parse_args()
    paddle.seed(0)
    serve(Timed(MODELS[args.model](), profiler), paddle=paddle.__version__)


if __name__ == "__main__":
    main()
