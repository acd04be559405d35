"""Trains a small network with MXNet 2 on a GPU, its memory in profiler scopes, then waits. SIGUSR1: MXNet's own GPU
memory profiler watches some more steps, and writes its csv.

An ordinary program that knows nothing of proftrace. Writes `step NUMBER NS` for each step to the log, then `idle`,
and `profiled` when the csv is there.
"""
import argparse
import os
import signal
import time

import mxnet as mx
from mxnet import autograd, gluon
from mxnet.gluon import nn
import numpy as np

mx.npx.set_np()

STEPS = 10
BATCH = 16


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--log", default=os.devnull)
    parser.add_argument("--prefix", default="gpu_memory_profile", help="of the csv's name")
    parser.add_argument("--devices", type=int, default=1)
    parser.add_argument("--unprofiled", action="store_true", help="the same steps without MXNet's profiler")
    return parser.parse_args()


ARGS = parse_args()


class Net(nn.HybridBlock):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2D(8, 3, padding=1)
        self.dense = nn.Dense(10)

    def forward(self, x):
        return self.dense(self.conv(x))


def training():
    devices = [mx.gpu(i) for i in range(ARGS.devices)]
    net = Net()
    with mx.profiler.scope("net:"):
        net.initialize(ctx=devices)
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 1e-3, "momentum": 0.9})
    x = np.random.rand(BATCH, 1, 16, 16).astype("float32")
    y = (np.arange(BATCH) % 10).astype("float32")

    def step():
        with mx.profiler.scope("batch:"):
            xs = gluon.utils.split_and_load(mx.np.array(x), devices)
            ys = gluon.utils.split_and_load(mx.np.array(y), devices)
        with mx.profiler.scope("net:"), autograd.record():
            losses = [loss_of(net(a), b) for a, b in zip(xs, ys)]
        autograd.backward(losses)
        trainer.step(BATCH)
        mx.npx.waitall()

    return step


def profiled(step):
    if not ARGS.unprofiled:
        mx.profiler.set_config(profile_memory=True, gpu_memory_profile_filename_prefix=ARGS.prefix,
                               filename="mx_profile.json")
        mx.profiler.set_state("run")
    for _ in range(3):
        step()
    with mx.profiler.scope("held:"):
        held = [mx.np.zeros((64, 64 * n), ctx=mx.gpu(0)) + 1 for n in range(1, 4)]
    second = training()  # has its own parameters
    second()
    mx.npx.waitall()
    if not ARGS.unprofiled:
        mx.profiler.set_state("stop")
        mx.profiler.dump()
    return held, second


def main():
    asked = []
    signal.signal(signal.SIGUSR1, lambda *_: asked.append(True))
    step = training()
    with open(ARGS.log, "a", buffering=1) as log:
        for cnt in range(STEPS):
            begin = time.perf_counter_ns()
            step()
            log.write(f"step {cnt} {time.perf_counter_ns() - begin}\n")
        log.write("idle\n")
        while not asked:
            time.sleep(0.01)
        kept = profiled(step)
        log.write("profiled\n")
        while kept:
            time.sleep(1)


if __name__ == "__main__":
    main()
