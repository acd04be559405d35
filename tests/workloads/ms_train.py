# SPDX-License-Identifier: BSD-2-Clause
"""Trains a small network with MindSpore on the CPU, in each of the ways that people do.

An ordinary MindSpore program that knows nothing of proftrace. Writes `step NUMBER NS` for each step
to the log.
"""
import argparse
import os
import time

os.environ.setdefault("GLOG_v", "3")  # errors only

import mindspore as ms  # noqa: E402
import mindspore.dataset as ds  # noqa: E402
import numpy as np  # noqa: E402
from mindspore import nn  # noqa: E402
from mindspore.profiler.common.record_function import RecordFunction  # noqa: E402

BATCH = 16


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--log", default=os.devnull)
    parser.add_argument("--mode", default="pynative",
                        choices=["pynative", "jit", "graph", "gradients", "model", "fit"],
                        help="gradients: a graph that value_and_grad made, and one of the optimizer; "
                        "fit: an evaluation of three batches after every four steps")
    parser.add_argument("--optimizer", choices=["adam", "momentum", "sgd"], default="adam")
    parser.add_argument("--infer", action="store_true", help="no loss, no optimizer")
    parser.add_argument("--workers", type=int, default=1, help="threads of the data pipeline")
    parser.add_argument("--steps", type=int, default=0, help="end after so many; 0: never")
    parser.add_argument("--renew", type=int, metavar="STEPS",
                        help="another network, which is compiled anew, after each so many")
    parser.add_argument("--pause-s", type=float, metavar="SECONDS",
                        help="one step lasts so long, as soon as proftrace's library is in the process")
    parser.add_argument("--annotate", action="store_true", help="a RecordFunction in each step")
    parser.add_argument("--profile", metavar="DIR",
                        help="with MindSpore's own profiler on steps 2 to 9, its output there; "
                        "trains on without it")
    return parser.parse_args()


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 8, 3, pad_mode="same", has_bias=True)
        self.norm = nn.BatchNorm2d(8)
        self.relu = nn.ReLU()
        self.pool = nn.MaxPool2d(2, 2)
        self.flatten = nn.Flatten()
        self.hidden = nn.Dense(512, 32)
        self.out = nn.Dense(32, 10)

    def construct(self, x):
        x = self.pool(self.relu(self.norm(self.conv(x))))
        return self.out(self.relu(self.hidden(self.flatten(x))))


class Clock:
    """Logs how long each step took."""

    def __init__(self, args):
        self.log, self.steps = open(args.log, "a", buffering=1), args.steps
        self.cnt, self.last_ns = 0, time.monotonic_ns()
        self.pause_s = args.pause_s

    def step(self):
        """True: it was the last."""
        if self.pause_s and "libproftrace_cupti" in open("/proc/self/maps").read():
            time.sleep(self.pause_s)
            self.pause_s = None
        now = time.monotonic_ns()
        self.log.write(f"step {self.cnt} {now - self.last_ns}\n")
        self.cnt, self.last_ns = self.cnt + 1, now
        return self.cnt == self.steps


def batches(args, cnt=2000, repeated=100):
    # The pipeline has new threads in each epoch: one of 2000 quick steps may end while a test watches.
    x = np.random.rand(cnt * BATCH, 1, 16, 16).astype("float32")
    y = (np.arange(len(x)) % 10).astype("int32")
    data = ds.NumpySlicesDataset((x, y), column_names=["x", "y"], shuffle=True,
                                 num_parallel_workers=args.workers)
    data = data.map(operations=[lambda a: (a * 1.5).astype("float32")], input_columns=["x"],
                    num_parallel_workers=args.workers, python_multiprocessing=False)
    return data.batch(BATCH, drop_remainder=True, num_parallel_workers=args.workers).repeat(repeated)


def optimizer_of(args, net):
    if args.optimizer == "adam":
        return nn.Adam(net.trainable_params(), 1e-3)
    if args.optimizer == "momentum":
        return nn.Momentum(net.trainable_params(), 0.01, 0.9)
    return nn.SGD(net.trainable_params(), 0.01)


def step_of(args, net, loss):
    """Returns the function that trains on one batch."""
    if args.infer:
        net.set_train(False)
        return lambda x, y: net(x)
    optimizer = optimizer_of(args, net)
    if args.mode == "graph":
        one_step = nn.TrainOneStepCell(nn.WithLossCell(net, loss), optimizer)
        one_step.set_train()
        return one_step
    def forward(x, y):
        return loss(net(x), y)

    gradients = ms.value_and_grad(forward, None, optimizer.parameters)

    def step(x, y):
        value, grads = gradients(x, y)
        optimizer(grads)
        return value

    return ms.jit(step) if args.mode == "jit" else step


def train_model(args, net, loss, clock):
    class Steps(ms.train.Callback):
        def on_train_step_end(self, run_context):
            if clock.step():
                run_context.request_stop()

    model = ms.train.Model(net, loss_fn=loss, optimizer=optimizer_of(args, net),
                           metrics={"loss"} if args.mode == "fit" else None)
    if args.mode == "fit":
        model.fit(1000000, batches(args, 4, 1), batches(args, 3, 1), callbacks=[Steps()],
                  dataset_sink_mode=False, valid_dataset_sink_mode=False)
        return
    model.train(1000000, batches(args), callbacks=[Steps()], dataset_sink_mode=False)


def own_profiler(args):
    from mindspore import profiler
    return profiler.profile(
        activities=[profiler.ProfilerActivity.CPU], start_profile=False,
        schedule=profiler.schedule(wait=2, warmup=0, active=8, repeat=1),
        on_trace_ready=profiler.tensorboard_trace_handler(args.profile))


def annotated(step):
    def ranged(x, y):
        with RecordFunction("my step.2"):
            return step(x, y)

    return ranged


def profile_until(prof, last):
    """Goes on with the profile, or ends it if this is the last step. Returns True while it goes on."""
    if not last:
        prof.step()
        return True
    prof.stop()
    return False


def train(args, net, loss, clock):
    step, data = step_of(args, net, loss), batches(args)
    if args.annotate:
        step = annotated(step)
    prof = own_profiler(args) if args.profile else None
    profiling = prof is not None
    if profiling:
        prof.start()
    while True:
        for x, y in data.create_tuple_iterator():
            if args.renew and clock.cnt % args.renew == 0:
                step = step_of(args, Net(), loss)
            step(x, y).asnumpy()
            if profiling:
                profiling = profile_until(prof, clock.cnt == 10)
            if clock.step():
                return


def main():
    args = parse_args()
    compiled = args.mode in ("graph", "gradients", "model", "fit")
    ms.set_context(mode=ms.GRAPH_MODE if compiled else ms.PYNATIVE_MODE)
    ms.set_device("CPU")
    net, loss, clock = Net(), nn.CrossEntropyLoss(), Clock(args)
    net.set_train()
    if args.mode in ("model", "fit"):
        train_model(args, net, loss, clock)
    else:
        train(args, net, loss, clock)


main()
