"""Trains a small network with MXNet until it is told to stop, in the ways that people write it.

An ordinary program that knows nothing of proftrace. Writes `step NUMBER NS` for each step to the log,
with --note-loads also `load BEGIN NS` for each batch that it asked for, on time.perf_counter_ns().
Modes: gluon, hybrid (a cached graph), hybrid_static (a planned one), module (symbols), csv (symbols, and
an iterator of the library's own), kv (two devices and a key-value store).
"""
import argparse
import itertools
import json
import os
import time

import mxnet as mx
from mxnet import autograd, gluon
from mxnet.gluon import nn
import numpy as np

BATCH = 16
PROFILED = 20  # steps


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--log", default=os.devnull)
    parser.add_argument("--mode", default="gluon",
                        choices=["gluon", "hybrid", "hybrid_static", "module", "csv", "kv"])
    parser.add_argument("--device", choices=["cpu", "gpu"], default="cpu")
    parser.add_argument("--devices", type=int, help="that share a batch; default 2 of kv, else 1")
    parser.add_argument("--kvstore", help="default: local of kv, else what the framework takes")
    parser.add_argument("--wait-every", type=int, default=1, help="steps; between them the host runs ahead")
    parser.add_argument("--optimizer", default="adam")
    parser.add_argument("--workers", type=int, default=0, help="data loader processes")
    parser.add_argument("--threads", action="store_true", help="threads instead of these processes")
    parser.add_argument("--samples", type=int, default=320, help="of an epoch")
    parser.add_argument("--decode-us", type=int, default=0, help="what a sample takes in Python")
    parser.add_argument("--validate", action="store_true",
                        help="two batches by a loader of its own after every fifth step")
    parser.add_argument("--ask-early", action="store_true",
                        help="for the next batch, before the optimizer's step")
    parser.add_argument("--passes", type=int, default=1, help="of gluon, and updates, with each batch")
    parser.add_argument("--note-loads", action="store_true")
    parser.add_argument("--annotate", action="store_true", help="the profiler's own objects")
    parser.add_argument("--dropout", action="store_true", help="in gluon's network: an operator with a state")
    parser.add_argument("--infer", action="store_true", help="forward passes only")
    parser.add_argument("--raise", dest="errors", type=int, default=0,
                        help="so many operators that fail, caught, in each step")
    parser.add_argument("--profile", help="20 steps under MXNet's own profiler; its table goes here")
    parser.add_argument("--steps", type=int, default=0, help="end after so many; 0: never")
    return parser.parse_args()


ARGS = parse_args()


def contexts():
    return [mx.Context(ARGS.device, i) for i in range(ARGS.devices or (2 if ARGS.mode == "kv" else 1))]


STEP = itertools.count(1)


def wait(result):
    """Waits in some steps only. In the others nothing is waited for."""
    if next(STEP) % ARGS.wait_every == 0:
        result.wait_to_read()


def samples():
    return (np.random.rand(ARGS.samples, 1, 16, 16).astype("float32"),
            (np.arange(ARGS.samples) % 10).astype("float32"))


def endless(batches):
    while True:
        yield from batches
        if hasattr(batches, "reset"):
            batches.reset()


def decode(*sample):
    until = time.perf_counter_ns() + 1000 * ARGS.decode_us
    while time.perf_counter_ns() < until:
        pass
    return sample


LOADS = []  # begin and length in ns, until they are in the log


def timed(batches):
    """Yields the same batches, and notes how long each next() takes."""
    while ARGS.note_loads:
        begin = time.perf_counter_ns()
        batch = next(batches)
        LOADS.append((begin, time.perf_counter_ns() - begin))
        yield batch
    yield from batches


class Annotations:
    """Objects of mx.profiler around each step, if they are wanted."""

    def __init__(self):
        domain = mx.profiler.Domain("domain")
        self.frame = mx.profiler.Frame(domain, "frame")
        self.task = mx.profiler.Task(domain, "task")
        self.event = mx.profiler.Event("event")
        self.counter = mx.profiler.Counter(domain, "counter", 0)
        self.marker = mx.profiler.Marker(domain, "marker")

    def wrap(self, step):
        def annotated():
            self.frame.start()
            self.event.start()
            self.task.start()
            step()
            self.event.stop()  # not the one that began last
            self.task.stop()
            self.counter.increment(3)
            self.marker.mark("process")
            self.frame.stop()

        return annotated


def gluon_network():
    net = nn.HybridSequential()
    net.add(nn.Conv2D(8, 3, padding=1), nn.BatchNorm(), nn.Activation("relu"), nn.MaxPool2D(2, 2),
            nn.Flatten(), nn.Dense(32, activation="relu"))
    if ARGS.dropout:
        net.add(nn.Dropout(0.5))
    net.add(nn.Dense(10))
    return net


def checksum(net):
    return sum(float(p.data(p.list_ctx()[0]).abs().sum().asscalar())
               for p in net.collect_params().values())


def gluon_step():
    devices = contexts()
    net = gluon_network()
    net.initialize(ctx=devices)
    if ARGS.mode.startswith("hybrid"):
        net.hybridize(static_alloc=ARGS.mode == "hybrid_static",
                      static_shape=ARGS.mode == "hybrid_static")
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
    trainer = gluon.Trainer(net.collect_params(), ARGS.optimizer, {"learning_rate": 1e-3},
                            kvstore=ARGS.kvstore or ("local" if ARGS.mode == "kv" else "device"))
    data = samples()
    dataset = gluon.data.ArrayDataset(*data)
    if ARGS.decode_us:
        dataset = dataset.transform(decode)
    batches = timed(endless(gluon.data.DataLoader(dataset, batch_size=BATCH,
                                                  num_workers=ARGS.workers,
                                                  thread_pool=ARGS.threads)))
    validation = gluon.data.DataLoader(gluon.data.ArrayDataset(*(a[:2 * BATCH] for a in data)),
                                       batch_size=BATCH)
    counter = itertools.count(1)
    ahead = [next(batches)] if ARGS.ask_early else []

    def validate():
        for x, _ in validation:
            net(x.as_in_context(devices[0])).wait_to_read()

    def train():
        x, y = ahead.pop() if ahead else next(batches)
        xs = gluon.utils.split_and_load(x, devices)
        ys = gluon.utils.split_and_load(y, devices)
        for left in reversed(range(ARGS.passes)):
            with autograd.record():
                losses = [loss_of(net(a), b) for a, b in zip(xs, ys)]
            for loss in losses:
                loss.backward()
            if ARGS.ask_early and not left:
                ahead.append(next(batches))
            trainer.step(BATCH)
        wait(losses[0])
        if ARGS.validate and next(counter) % 5 == 0:
            validate()

    def infer():
        x, _ = next(batches)
        net(x.as_in_context(devices[0])).asnumpy()

    return infer if ARGS.infer else train, lambda: checksum(net)


def symbol():
    data, label = mx.sym.Variable("data"), mx.sym.Variable("softmax_label")
    h = mx.sym.Convolution(data, num_filter=8, kernel=(3, 3), pad=(1, 1), name="conv0")
    h = mx.sym.BatchNorm(h, name="bn0")
    h = mx.sym.Activation(h, act_type="relu", name="relu0")
    h = mx.sym.Pooling(h, kernel=(2, 2), stride=(2, 2), pool_type="max", name="pool0")
    h = mx.sym.FullyConnected(mx.sym.Flatten(h), num_hidden=32, name="fc1")
    h = mx.sym.Activation(h, act_type="relu", name="relu1")
    h = mx.sym.FullyConnected(h, num_hidden=10, name="fc2")
    return mx.sym.SoftmaxOutput(h, label, name="softmax")


def csv_iterator():
    x, y = samples()
    np.savetxt("x.csv", x.reshape(ARGS.samples, -1), delimiter=",", fmt="%.3f")
    np.savetxt("y.csv", y, fmt="%d")
    return mx.io.CSVIter(data_csv="x.csv", data_shape=(1, 16, 16), label_csv="y.csv",
                         label_shape=(1,), batch_size=BATCH)


def module_step():
    x, y = samples()
    source = csv_iterator() if ARGS.mode == "csv" else mx.io.NDArrayIter(x, y, BATCH)
    module = mx.mod.Module(symbol(), context=contexts())
    module.bind([("data", (BATCH, 1, 16, 16))], [("softmax_label", (BATCH,))])
    module.init_params()
    module.init_optimizer(kvstore=ARGS.kvstore, optimizer=ARGS.optimizer)
    batches = endless(source)

    def train():
        batch = next(batches)
        if ARGS.mode == "csv":
            batch = mx.io.DataBatch(batch.data, [batch.label[0].reshape((BATCH,))])
        module.forward(batch, is_train=not ARGS.infer)
        if not ARGS.infer:
            module.backward()
            module.update()
        wait(module.get_outputs()[0])

    return train, lambda: sum(float(p.abs().sum().asscalar()) for p in module.get_params()[0].values())


def failing(step):
    """Errors of the three kinds that the library's functions can end with."""
    x, w, b = mx.nd.ones((2, 3, 8, 8)), mx.nd.ones((4, 5, 3, 3)), mx.nd.ones((4,))
    cached = gluon.nn.Dense(4, in_units=3)
    cached.initialize()
    cached.hybridize()

    def backward():
        with autograd.record():
            y = mx.nd.ones((2, 2))
        y.backward()

    kinds = [lambda: mx.nd.Convolution(x, w, b, kernel=(3, 3), num_filter=4), backward,
             lambda: cached(mx.nd.ones((2, 5)))]

    def fails():
        step()
        for i in range(ARGS.errors):
            try:
                kinds[i % len(kinds)]()
            except mx.MXNetError:
                continue
            raise AssertionError(f"kind {i % len(kinds)} did not fail")

    return fails


def profiled(step):
    for _ in range(5):
        step()
    mx.nd.waitall()
    mx.profiler.set_config(profile_all=True, aggregate_stats=True, filename="mx_profile.json")
    mx.profiler.set_state("run")
    for _ in range(PROFILED):
        step()
    mx.nd.waitall()
    mx.profiler.set_state("stop")
    with open(ARGS.profile, "w") as out:
        json.dump({"steps": PROFILED, "tables": json.loads(mx.profiler.dumps(format="json"))}, out)


def main():
    mx.random.seed(0)
    np.random.seed(0)
    step, result = module_step() if ARGS.mode in ("module", "csv") else gluon_step()
    if ARGS.annotate:
        step = Annotations().wrap(step)
    if ARGS.errors:
        step = failing(step)
    if ARGS.profile:
        profiled(step)
        return
    cnt = 0
    with open(ARGS.log, "a", buffering=1) as log:
        while not ARGS.steps or cnt < ARGS.steps:
            begin = time.perf_counter_ns()
            step()
            log.write(f"step {cnt} {time.perf_counter_ns() - begin}\n")
            while LOADS:
                log.write("load {} {}\n".format(*LOADS.pop(0)))
            cnt += 1
    print(f"weights {result():.9g}", flush=True)


if __name__ == "__main__":
    main()
