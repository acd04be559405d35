"""Trains a small network with PaddlePaddle until it is told to stop, in one of Paddle's modes.

An ordinary program that knows nothing of proftrace. Writes `step NUMBER NS END` for each step to the log,
END in ns of CLOCK_MONOTONIC.
At SIGUSR1 it lets paddle.profiler watch some steps (--profile-on: until the next SIGUSR1) and writes what that
saw to the file of --profile; with --classic the profiler before 2.3 does, into its own file and the output;
from SIGUSR2 on it updates once in four steps; at SIGTERM it ends by itself.
"""
import argparse
import collections
import contextlib
import importlib
import inspect
import json
import os
import signal
import sys
import time
import types

import numpy as np
import paddle
from paddle import nn
from paddle.nn import functional as F

BATCH = 16
PROFILED = 8  # steps


def parse_args():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--log", default=os.devnull)
    parser.add_argument("--mode", choices=["dygraph", "to_static", "static"], default="dygraph")
    parser.add_argument("--device", choices=["cpu", "gpu"], default="cpu")
    parser.add_argument("--net", choices=["cnn", "mlp"], default="cnn")
    parser.add_argument("--losses", help="where to write each step's loss, to the last bit")
    parser.add_argument("--note-memory", action="store_true",
                        help="of the device, after each step: `memory NS BYTES RESERVED` in the log")
    parser.add_argument("--workers", type=int, default=0, help="data loader processes")
    parser.add_argument("--no-loader", action="store_true", help="the same batch in every step")
    parser.add_argument("--skip-every", type=int, metavar="STEPS", help="without an update, as AMP may")
    parser.add_argument("--optimizer", choices=["Adam", "AdamW", "Momentum", "SGD", "Lars"], default="Adam")
    parser.add_argument("--bare-step", action="store_true",
                        help="the optimizer's step is called without what Paddle puts around it")
    parser.add_argument("--clip-ms", type=int, metavar="MS", help="the optimizer's step clips gradients, slowly")
    parser.add_argument("--failing", action="store_true", help="every other update is one that raises")
    parser.add_argument("--two-optimizers", action="store_true", help="the last layer has one of SGD")
    parser.add_argument("--amp", action="store_true", help="auto_cast O1 and a GradScaler")
    parser.add_argument("--sum", action="store_true", help="a loss whose operators do not depend on values")
    parser.add_argument("--legacy", action="store_true", help="operators of paddle._legacy_C_ops in forward")
    parser.add_argument("--ahead", action="store_true", help="the static Executor's steps do not wait for the device")
    parser.add_argument("--second-device", action="store_true",
                        help="another network on gpu:1 learns from a copy of each batch")
    parser.add_argument("--torch", metavar="DIR", help="the packages in which PyTorch is, which is imported and not used")
    parser.add_argument("--infer", action="store_true", help="no loader, no loss, no optimizer")
    parser.add_argument("--annotate", action="store_true", help="parts of a step are ranges")
    parser.add_argument("--epoch-ms", type=float, default=0,
                        help="that something takes between epochs, each with workers of its own")
    parser.add_argument("--profile", help="where to write what paddle.profiler sees")
    parser.add_argument("--classic", action="store_true", help="--profile is a file of the profiler before 2.3")
    parser.add_argument("--profile-on", action="store_true",
                        help="until the next SIGUSR1: when programs and their operators begin and end")
    return parser.parse_args()


ARGS = parse_args()
accumulates = []  # since SIGUSR2


class Images(paddle.io.Dataset):
    def __len__(self):
        return 40 * BATCH  # a step in forty begins an epoch

    def __getitem__(self, i):
        return np.random.RandomState(i).rand(1, 16, 16).astype("float32"), np.int64(i % 10)


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2D(1, 8, 3, padding=1)
        self.bn = nn.BatchNorm2D(8)
        self.pool = nn.MaxPool2D(2, 2)
        self.fc1 = nn.Linear(8 * 8 * 8, 32)
        self.fc2 = nn.Linear(32, 10)

    def forward(self, x):
        x = self.pool(F.relu(self.bn(self.conv(x))))
        x = F.pixel_unshuffle(x, 2) if ARGS.legacy else x
        x = F.relu(self.fc1(paddle.flatten(x, 1)))
        return self.fc2(x)


def mlp():
    return nn.Sequential(nn.Flatten(), nn.Linear(256, 64), nn.ReLU(), nn.Linear(64, 10))


def network():
    return mlp() if ARGS.net == "mlp" else Net()


class SlowClip(nn.ClipGradByGlobalNorm):
    def _dygraph_clip(self, params_grads):
        time.sleep(ARGS.clip_ms / 1000)
        return super()._dygraph_clip(params_grads)


def optimizer(parameters=None):
    clip = SlowClip(1.0) if ARGS.clip_ms else None
    if ARGS.optimizer == "Lars":
        return paddle.incubate.optimizer.LarsMomentumOptimizer(1e-3, 0.9, parameter_list=parameters)
    made = getattr(paddle.optimizer, ARGS.optimizer)(1e-3, parameters=parameters, grad_clip=clip)
    if ARGS.bare_step:
        made.step = types.MethodType(inspect.unwrap(type(made).step), made)
    return made


def fail(optimizer):
    """One whose step raises after its first update."""
    add = optimizer._append_optimize_op

    def failing(*args):
        add(*args)
        raise ValueError("in an optimizer's step")

    optimizer._append_optimize_op = failing
    try:
        optimizer.step()
    except ValueError:
        pass
    finally:
        del optimizer._append_optimize_op


def part(name):
    return paddle.profiler.RecordEvent(name) if ARGS.annotate else contextlib.nullcontext()


def batches():
    if ARGS.no_loader:
        images = Images()
        batch = [paddle.to_tensor(np.stack(column)) for column in zip(*(images[i] for i in range(BATCH)))]
        while True:
            yield batch
    loader = paddle.io.DataLoader(Images(), batch_size=BATCH, num_workers=ARGS.workers,
                                  persistent_workers=ARGS.workers > 0 and not ARGS.epoch_ms)
    while True:
        yield from loader
        time.sleep(ARGS.epoch_ms / 1000)


class Second:
    """A network on a second device, with an optimizer of its own."""

    def __init__(self):
        with on_second():
            self.net = network()
            self.optimizer = optimizer(self.net.parameters())

    def train(self, x, y):
        with on_second():
            F.cross_entropy(self.net(x.cuda(1)), y.cuda(1)).backward()

    def update(self):
        with on_second():
            self.optimizer.step()
            self.optimizer.clear_grad()


@contextlib.contextmanager
def on_second():
    paddle.set_device("gpu:1")
    yield
    paddle.set_device("gpu:0")


class Scaler(paddle.amp.GradScaler):
    """Of --amp; else it leaves all as it is."""

    def __init__(self):
        super().__init__(enable=ARGS.amp)

    def step(self, opt):
        if ARGS.amp:
            super().step(opt)
            self.update()
        else:
            opt.step()


def updates(step):
    if ARGS.skip_every:
        return step % ARGS.skip_every != 0
    return not accumulates or step % 4 == 0


def training():
    net = network()
    last = net.fc2.parameters() if ARGS.two_optimizers else []
    opts = [optimizer([p for p in net.parameters() if all(p is not q for q in last)])]
    if last:
        opts.append(paddle.optimizer.SGD(1e-3, parameters=last))
    forward = paddle.jit.to_static(net, full_graph=True) if ARGS.mode == "to_static" else net
    source = batches()
    second = Second() if ARGS.second_device else None
    scaler = Scaler()
    made = [0]

    def step():
        with part("load"):
            x, y = next(source)
        whole = paddle.profiler.RecordEvent("训练 step") if ARGS.annotate else None
        if whole:
            whole.begin()
        with part("forward"), paddle.amp.auto_cast(enable=ARGS.amp):
            out = forward(x)
            with part("loss"):
                loss = F.cross_entropy(out, y, reduction="sum" if ARGS.sum else "mean")
                if ARGS.legacy:
                    paddle.metric.accuracy(out, y.unsqueeze(1))
        (scaler.scale(loss) if ARGS.amp else loss).backward()
        if second:
            second.train(x, y)
        made[0] += 1
        if updates(made[0]):
            with part("update"):
                for opt in opts:
                    if ARGS.failing and made[0] % 2:
                        fail(opt)
                    with paddle.no_grad() if ARGS.bare_step else contextlib.nullcontext():
                        scaler.step(opt)
                for opt in opts:
                    opt.clear_grad()
                if second:
                    second.update()
        if whole:
            whole.end()
        return loss

    return step


def inference():
    net = Net()
    net.eval()
    if ARGS.mode == "to_static":
        net = paddle.jit.to_static(net, full_graph=True)

    def step():
        with paddle.no_grad():
            net(paddle.zeros([BATCH, 1, 16, 16])).argmax(-1).tolist()
        time.sleep(0.003)  # the next request

    return step


def program():
    """A step of the static Executor."""
    paddle.enable_static()
    main, startup = paddle.static.Program(), paddle.static.Program()
    with paddle.static.program_guard(main, startup):
        x = paddle.static.data("x", [BATCH, 1, 16, 16], "float32")
        y = paddle.static.data("y", [BATCH, 1], "int64")
        out = network()(x)
        if not ARGS.infer:
            out = F.cross_entropy(out, y)
            optimizer().minimize(out)
    executor = paddle.static.Executor(paddle.CUDAPlace(0) if ARGS.device == "gpu" else paddle.CPUPlace())
    executor.run(startup)
    feed = {"x": np.random.rand(BATCH, 1, 16, 16).astype("float32"),
            "y": np.arange(BATCH).reshape(BATCH, 1).astype("int64") % 10}

    if ARGS.ahead:
        feed = {name: on_device(batch) for name, batch in feed.items()}
        return lambda: executor.run(main, feed=feed)
    return lambda: executor.run(main, feed=feed, fetch_list=[out])[0]


def on_device(batch):
    tensor = paddle.base.core.LoDTensor()
    tensor.set(batch, paddle.CUDAPlace(0))
    return tensor


def profile_on(step, asked):
    """Runs of programs, and operators, in the order of paddle.profiler: name, begin and end in ns since 1970. On a
    device: how many steps it was to see, and how many kernels it saw."""
    found, kernels, steps = [], [], 0

    def collect(node):
        for runtime in getattr(node, "runtime_node", ()):
            kernels.extend(device.name for device in runtime.device_node if not device.name.startswith("MEM"))
        if str(node.type).endswith(".Operator") or node.name == "StandaloneExecutor::run":
            found.append((node.name, node.start_ns, node.end_ns))
        for child in node.children_node:
            collect(child)

    def take(prof):
        for node in prof.profiler_result.get_data().values():
            collect(node)

    with paddle.profiler.Profiler(targets=targets(), on_trace_ready=take) as prof:
        while not asked:
            step()
            steps += 1
            prof.step()
    asked.clear()
    write_profile(found if ARGS.device == "cpu" else {"steps": steps, "kernels": len(kernels)})


def write_profile(seen):
    with open(ARGS.profile + ".part", "w") as file:
        json.dump(seen, file)
    os.rename(ARGS.profile + ".part", ARGS.profile)


def targets():
    kinds = paddle.profiler.ProfilerTarget
    return [kinds.CPU] if ARGS.device == "cpu" else [kinds.CPU, kinds.GPU]


def profile(step):
    """What paddle.profiler sees in some steps: calls by kind and name, and memory in bytes that the
    outermost operators allocate and free, by operator."""
    kinds = collections.defaultdict(collections.Counter)
    memory = collections.defaultdict(collections.Counter)
    devices = collections.defaultdict(lambda: [0, 0])  # calls and ns
    owned = collections.defaultdict(lambda: [0, 0])  # the same by innermost operator and activity, a tab between them

    def count(node, operator=None, owner=""):
        kind = str(node.type).removeprefix("TracerEventType.")
        kinds[kind][node.name] += 1
        if kind == "Operator" and not operator:
            operator = node.name
        # An operator of _legacy_C_ops runs an operator of an older kind inside; so does its node.
        if kind == "Operator" and owner != f"{node.name} dygraph" and not owner.endswith("GradNodeCompat"):
            owner = node.name
        for event in node.mem_node if operator else ():
            memory[operator][str(event.type).removeprefix("TracerMemEventType.")] += abs(
                event.increase_bytes)
        for runtime in getattr(node, "runtime_node", ()):
            for device in runtime.device_node:
                for found in devices[device.name], owned[f"{owner}\t{device.name}"]:
                    found[0] += 1
                    found[1] += device.end_ns - device.start_ns
        for child in node.children_node:
            count(child, operator, owner)

    def take(prof):
        for node in prof.profiler_result.get_data().values():
            count(node)

    # Of programs' threads it may not ask for memory: one process in 15 to 28 ended in its MemEventRecorder (3.3.1).
    with paddle.profiler.Profiler(targets=targets(), on_trace_ready=take,
                                  profile_memory=ARGS.mode == "dygraph") as prof:
        for _ in range(PROFILED):
            step()
            prof.step()
    write_profile({"steps": PROFILED, "kinds": kinds, "memory": memory, "devices": devices,
                   "owned": owned})


def profile_classic(step):
    """fluid.profiler's state All: its report goes to the output, its profile.proto to --profile."""
    core = paddle.base.core
    core.enable_profiler(core.ProfilerState.kAll)
    for _ in range(PROFILED):
        step()
    core.disable_profiler(core.EventSortingKey.kTotal, ARGS.profile + ".part")
    os.rename(ARGS.profile + ".part", ARGS.profile)


def main():
    if ARGS.torch:
        sys.path.append(ARGS.torch)
        importlib.import_module("torch")
    paddle.set_device(ARGS.device)
    paddle.seed(0)
    asked, ended = [], []
    signal.signal(signal.SIGTERM, lambda *_: ended.append(True))
    signal.signal(signal.SIGUSR1, lambda *_: asked.append(True))
    signal.signal(signal.SIGUSR2, lambda *_: accumulates.append(True))
    step = program() if ARGS.mode == "static" else inference() if ARGS.infer else training()
    cnt = 0
    losses = open(ARGS.losses, "w", buffering=1) if ARGS.losses else None
    with open(ARGS.log, "a", buffering=1) as log:
        while not ended:
            begin = time.monotonic_ns()
            loss = step()
            if losses:
                losses.write(f"{float(loss).hex()}\n")
            end = time.monotonic_ns()
            if ARGS.note_memory:
                held = paddle.device.cuda.memory_allocated(), paddle.device.cuda.memory_reserved()
                log.write("memory {} {} {}\n".format(time.monotonic_ns(), *held))
            log.write(f"step {cnt} {end - begin} {end}\n")
            cnt += 1
            if asked:
                asked.clear()
                if ARGS.profile_on:
                    profile_on(step, asked)
                elif ARGS.classic:
                    profile_classic(step)
                else:
                    profile(step)


if __name__ == "__main__":
    main()
