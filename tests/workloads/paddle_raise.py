"""Trains with PaddlePaddle until SIGUSR1; then raises and catches errors of every kind that an
operator, a backward pass or a data loader can end with, and prints a checksum of all that it
computed: it must not depend on who watches."""
import argparse
import os
import signal
import threading
import time

import numpy as np
import paddle
from paddle import nn
from paddle.autograd import PyLayer
from paddle.nn import functional as F


class Raises(PyLayer):
    """Raises where it is told to."""

    @staticmethod
    def forward(ctx, x, in_forward):
        if in_forward:
            raise ValueError("forward")
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        raise ValueError("backward")


class Few(paddle.io.Dataset):
    """Its epochs end at once, which is an exception within the loader."""

    def __len__(self):
        return 2

    def __getitem__(self, i):
        return np.full(4, i, "float32")


A, B = paddle.ones([4, 3]), paddle.ones([4, 5])
IMAGE, FILTER = paddle.ones([2, 3, 8, 8]), paddle.ones([4, 5, 3, 3])


def leaf():
    x = paddle.ones([3])
    x.stop_gradient = False
    return x


def twice():
    x = leaf()
    y = (x * x).sum()
    y.backward()
    y.backward()


def in_range():
    with paddle.profiler.RecordEvent("raises"):
        F.conv2d(IMAGE, FILTER)


KINDS = {
    "conv2d": lambda: F.conv2d(IMAGE, FILTER),
    "add": lambda: A + B,
    "matmul": lambda: A @ B,
    "equal": lambda: A == B,
    "linear": lambda: F.linear(A, B),
    "index": lambda: A[0, 7],
    "assignment": lambda: A.__setitem__(0, B),
    "pixel_unshuffle": lambda: F.pixel_unshuffle(IMAGE, 3),
    "sgd_": lambda: paddle._C_ops.sgd_(A, A, B, None, False),
    "backward twice": twice,
    "layer backward": lambda: Raises.apply(leaf(), False).sum().backward(),
    "layer forward": lambda: Raises.apply(leaf(), True),
    "range": in_range,
}


class Training:
    def __init__(self):
        paddle.seed(0)
        self.model = nn.Sequential(nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 4))
        self.optimizer = paddle.optimizer.SGD(0.01, parameters=self.model.parameters())
        self.losses = []

    def step(self):
        loss = F.mse_loss(self.model(paddle.randn([8, 32])), paddle.zeros([8, 4]))
        loss.backward()
        self.optimizer.step()
        self.optimizer.clear_grad()
        self.losses.append(loss.item())

    def checksum(self):
        weights = sum(p.astype("float64").abs().sum().item() for p in self.model.parameters())
        return f"{sum(self.losses):.17g} {weights:.17g}"


def static_kinds():
    """An error of an operator in a static program; it ends the executor's run."""
    paddle.enable_static()
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        x = paddle.static.data("x", [-1, -1], "float32")
        y = paddle.static.data("y", [-1, -1], "float32")
        z = paddle.matmul(x, y)
    executor = paddle.static.Executor(paddle.CPUPlace())
    executor.run(startup)
    a, b, c = (np.ones(shape, "float32") for shape in ((2, 3), (3, 4), (5, 6)))

    def run(feed):
        executor.run(main, feed={"x": a, "y": feed}, fetch_list=[z])

    return {"program": lambda: run(c)}, lambda: run(b)


def raise_all(cnt, kinds, step):
    for name, raiser in kinds.items():
        caught = 0
        for i in range(cnt):
            try:
                raiser()
            except Exception:
                caught += 1
            if i % 100 == 0:
                step()
        print(f"{name}: caught {caught}", flush=True)


def end_epochs(cnt):
    batches = 0
    for _ in range(cnt):
        batches += sum(1 for _ in paddle.io.DataLoader(Few(), batch_size=1))
    print(f"{batches} batches of {cnt} epochs", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--log", default=os.devnull)
    parser.add_argument("--count", type=int, default=2000, help="errors of each kind")
    args = parser.parse_args()
    asked = threading.Event()
    signal.signal(signal.SIGUSR1, lambda *_: asked.set())
    paddle.set_device("cpu")
    idle, step = Training(), 0
    with open(args.log, "a", buffering=1) as log:
        while not asked.is_set():
            begin = time.perf_counter_ns()
            idle.step()
            log.write(f"step {step} {time.perf_counter_ns() - begin}\n")
            step += 1
            time.sleep(0.005)
    training = Training()
    raise_all(args.count, KINDS, training.step)
    end_epochs(args.count // 20)
    print("checksum", training.checksum(), flush=True)
    raise_all(args.count // 10, *static_kinds())


if __name__ == "__main__":
    main()
