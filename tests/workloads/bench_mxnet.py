"""One training job in MXNet that runs, and times, as many steps as it is told to; for the benchmarks.
bench_protocol.py says what it is told, and answers."""
import argparse
import contextlib
import os
import tempfile
import time

import mxnet as mx
from mxnet import autograd, gluon
from mxnet.gluon import nn
import numpy as np

from bench_protocol import Timed, serve


def training(net, loss_of, batches):
    net.initialize()
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 1e-3})

    def step():
        x, y = next(batches)
        with autograd.record():
            loss = loss_of(net(x), y)
        loss.backward()
        trainer.step(len(x))
        mx.nd.waitall()

    return step


def mlp():
    """Twenty layers so small that the framework's own work is all there is."""
    net = nn.Sequential()
    net.add(*[nn.Dense(16) for _ in range(20)])
    batch = mx.nd.random.normal(shape=(4, 16)), mx.nd.random.normal(shape=(4, 16))
    return training(net, gluon.loss.L2Loss(), iter(lambda: batch, None))


def endless(batches):
    while True:
        yield from batches
        batches.reset()


def cnn():
    net = nn.HybridSequential()
    net.add(nn.Conv2D(8, 3, padding=1))
    for _ in range(4):
        net.add(nn.BatchNorm(), nn.Activation("relu"), nn.Conv2D(8, 3, padding=1))
    net.add(nn.GlobalAvgPool2D(), nn.Flatten(), nn.Dense(10))
    source = mx.io.NDArrayIter(np.random.rand(1024, 3, 16, 16).astype("float32"),
                               (np.arange(1024) % 10).astype("float32"), 16)
    return training(net, gluon.loss.SoftmaxCrossEntropyLoss(),
                    ((b.data[0], b.label[0]) for b in endless(source)))


MODELS = {"mlp": mlp, "cnn": cnn}


@contextlib.contextmanager
def profiler():
    """mx.profiler. Its statistics are gathered and thrown away."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as directory:
        mx.profiler.set_config(profile_all=True, aggregate_stats=True,
                               filename=os.path.join(directory, "profile.json"))
        mx.profiler.set_state("run")
        try:
            yield
        finally:
            mx.profiler.set_state("stop")
            mx.profiler.dumps(reset=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", choices=MODELS)
    args = parser.parse_args()
    mx.random.seed(0)
    # Operators run on the engine's own threads, so the whole process's CPU time counts.
    serve(Timed(MODELS[args.model](), profiler, time.process_time_ns), mxnet=mx.__version__)


if __name__ == "__main__":
    main()
