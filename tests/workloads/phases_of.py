# SPDX-License-Identifier: BSD-2-Clause
"""Trains with PaddlePaddle, MXNet or MindSpore and notes when each phase of a step began and ended.

An ordinary program that knows nothing of proftrace. Writes `step NUMBER NS` for each step to the log, and
before it `phase NAME BEGIN END` for each phase, in ns of CLOCK_MONOTONIC. Phases are as long as those of
a small image network: of a few layers the framework's own work between two phases would be the most.
"""
import argparse
import os
import time

import numpy as np

from notes import Notes

BATCH, CHANNELS, SIZE, CLASSES = 16, 3, 32, 10
WIDTHS = (32, 64, 64)  # of the convolutions


notes = Notes()
phase = notes.phase


def sample(i):
    return (np.random.RandomState(i).rand(CHANNELS, SIZE, SIZE).astype("float32"), np.int32(i % CLASSES))


def endless(batches):
    while True:
        yield from batches


def paddle(args):
    import paddle
    from paddle import nn

    class Images(paddle.io.Dataset):
        def __len__(self):
            return 400 * BATCH

        def __getitem__(self, i):
            x, y = sample(i)
            return x, np.int64(y)

    paddle.set_device("cpu")
    layers, before = [], CHANNELS
    for width in WIDTHS:
        layers += [nn.Conv2D(before, width, 3, padding=1), nn.BatchNorm2D(width), nn.ReLU(),
                   nn.MaxPool2D(2, 2)]
        before = width
    net = nn.Sequential(*layers, nn.Flatten(), nn.Linear(16 * before, 512), nn.ReLU(), nn.Linear(512, CLASSES))
    optimizer = paddle.optimizer.Adam(
        1e-3, parameters=net.parameters(),
        grad_clip={None: None, "norm": nn.ClipGradByGlobalNorm(1.0), "value": nn.ClipGradByValue(1.0)}[args.clip])
    source = endless(paddle.io.DataLoader(Images(), batch_size=BATCH))

    def step():
        with phase("dataloader"):
            x, y = next(source)
        with phase("forward"):
            loss = nn.functional.cross_entropy(net(x), y)
        with phase("backward"):
            loss.backward()
        with phase("optimizer"):
            optimizer.step()
        optimizer.clear_grad()
        float(loss)

    return step


def mxnet(_):
    import mxnet as mx
    from mxnet import autograd, gluon
    from mxnet.gluon import nn

    net = nn.HybridSequential()
    for width in WIDTHS:
        net.add(nn.Conv2D(width, 3, padding=1), nn.BatchNorm(), nn.Activation("relu"), nn.MaxPool2D(2, 2))
    net.add(nn.Flatten(), nn.Dense(512, activation="relu"), nn.Dense(CLASSES))
    net.initialize()
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 1e-3})
    samples = gluon.data.SimpleDataset([sample(i) for i in range(40 * BATCH)])
    source = endless(gluon.data.DataLoader(samples, batch_size=BATCH))

    def step():
        with phase("dataloader"):
            x, y = next(source)
        with phase("forward"), autograd.record():
            loss = loss_of(net(x), y)
        with phase("backward"):
            loss.backward()
        with phase("optimizer"):
            trainer.step(BATCH)
        loss.wait_to_read()
        mx.nd.waitall()

    return step


def mxnet_small(args):
    """Twenty small layers: steps in which a data breakpoint matters."""
    import mxnet as mx
    from mxnet import autograd, gluon
    from mxnet.gluon import nn

    net = nn.Sequential()
    net.add(*[nn.Dense(32) for _ in range(20)])
    net.initialize()
    trainer = gluon.Trainer(net.collect_params(), args.optimizer)
    x, y = (mx.nd.random.normal(shape=(BATCH, 32)) for _ in range(2))
    loss_of = gluon.loss.L2Loss()

    def step():
        with phase("forward"), autograd.record():
            loss = loss_of(net(x), y)
        with phase("backward"):
            loss.backward()
        with phase("optimizer"):
            trainer.step(BATCH)
        mx.nd.waitall()

    return step


def mxnet_module(_):
    """Module.update of many small parameters."""
    import mxnet as mx

    h = mx.sym.Variable("data")
    for _ in range(12):
        h = mx.sym.Activation(mx.sym.FullyConnected(h, num_hidden=32), act_type="relu")
    net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(h, num_hidden=CLASSES), name="softmax")
    module = mx.mod.Module(net, context=mx.cpu())
    images, labels = zip(*(sample(i) for i in range(BATCH)))
    batches = mx.io.NDArrayIter(np.stack(images), np.array(labels, "float32"), BATCH)
    module.bind(batches.provide_data, batches.provide_label)
    module.init_params()
    module.init_optimizer(optimizer="adam")
    batch = next(batches)

    def step():
        module.forward_backward(batch)
        with phase("optimizer"):
            module.update()
        mx.nd.waitall()

    return step


def mindspore(_):
    os.environ.setdefault("GLOG_v", "3")  # errors only
    import mindspore as ms
    import mindspore.dataset as ds
    from mindspore import nn

    # Otherwise kernels run behind what Python does: the job's clock would not tell how long they take.
    ms.set_context(mode=ms.PYNATIVE_MODE, pynative_synchronize=True)
    ms.set_device("CPU")
    layers, before = [], CHANNELS
    for width in WIDTHS:
        layers += [nn.Conv2d(before, width, 3, pad_mode="same"), nn.BatchNorm2d(width), nn.ReLU(),
                   nn.MaxPool2d(2, 2)]
        before = width
    net = nn.SequentialCell(*layers, nn.Flatten(), nn.Dense(16 * before, 512), nn.ReLU(),
                            nn.Dense(512, CLASSES))
    net.set_train()
    loss_of = nn.CrossEntropyLoss()
    optimizer = nn.Adam(net.trainable_params(), 1e-3)
    images, labels = zip(*(sample(i) for i in range(400 * BATCH)))
    data = ds.NumpySlicesDataset((np.stack(images), np.stack(labels)), column_names=["x", "y"])
    batches = data.batch(BATCH)

    def again():
        while True:
            yield from batches.create_tuple_iterator()

    source = again()

    backward = phase("backward")  # within the call that makes both

    def forward(x, y):
        with phase("forward"):
            loss = loss_of(net(x), y)
        backward.__enter__()
        return loss

    gradients = ms.value_and_grad(forward, None, optimizer.parameters)

    def step():
        with phase("dataloader"):
            x, y = next(source)
        loss, grads = gradients(x, y)
        backward.__exit__()
        with phase("optimizer"):
            optimizer(grads)
        loss.asnumpy()

    return step


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("framework", choices=["paddle", "mxnet", "mxnet_small", "mxnet_module", "mindspore"])
    parser.add_argument("--log", default=os.devnull)
    parser.add_argument("--clip", choices=("norm", "value"), help="gradients, by what")
    parser.add_argument("--optimizer", default="sgd", help="of mxnet_small")
    args = parser.parse_args()
    step = globals()[args.framework](args)
    cnt = 0
    with open(args.log, "a", buffering=1) as log:
        while True:
            begin = time.monotonic_ns()
            step()
            end = time.monotonic_ns()
            for name, *times in notes.take()["phases"]:
                print("phase", name, *times, file=log)
            print("step", cnt, end - begin, file=log)
            cnt += 1


if __name__ == "__main__":
    main()
