"""One training job in MindSpore that runs, and times, as many steps as it is told to; for the
benchmarks. bench_protocol.py says what it is told, and answers."""
import argparse
import contextlib
import os
import tempfile
import time

os.environ.setdefault("GLOG_v", "3")  # errors only

import mindspore as ms  # noqa: E402
from mindspore import nn, profiler as ms_profiler  # noqa: E402
import numpy as np  # noqa: E402

from bench_protocol import Timed, serve  # noqa: E402


def training(net, loss_of, x, y):
    optimizer = nn.SGD(net.trainable_params(), 1e-3)

    def forward(x, y):
        return loss_of(net(x), y)

    gradients = ms.value_and_grad(forward, None, optimizer.parameters)
    net.set_train()

    def step():
        loss, grads = gradients(x, y)
        optimizer(grads)
        return float(loss)

    return step


def mlp():
    """Twenty layers so small that the framework's own work is all there is."""
    net = nn.SequentialCell([nn.Dense(16, 16) for _ in range(20)])
    x, y = (ms.Tensor(np.random.rand(4, 16), ms.float32) for _ in range(2))
    return training(net, nn.MSELoss(), x, y)


def cnn():
    layers = [nn.Conv2d(3, 8, 3)]
    for _ in range(4):
        layers += [nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 8, 3)]
    net = nn.SequentialCell([*layers, nn.AvgPool2d(16), nn.Flatten(), nn.Dense(8, 10)])
    x = ms.Tensor(np.random.rand(16, 3, 16, 16), ms.float32)
    return training(net, nn.CrossEntropyLoss(), x, ms.Tensor(np.arange(16) % 10, ms.int32))


# name -> the network, and whether it runs as a graph
MODELS = {"mlp": (mlp, True), "cnn": (cnn, True), "pynative": (mlp, False)}


@contextlib.contextmanager
def profiler():
    """MindSpore's profiler. Its files are deleted."""
    with tempfile.TemporaryDirectory() as directory:
        own = ms_profiler.profile(
            activities=[ms_profiler.ProfilerActivity.CPU], start_profile=False,
            on_trace_ready=ms_profiler.tensorboard_trace_handler(directory))
        own.start()
        try:
            yield
        finally:
            own.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", choices=MODELS)
    args = parser.parse_args()
    model, is_graph = MODELS[args.model]
    # Without pynative_synchronize, threads wait for each other in loops. These take most of a step of 100 ms, or of the
    # next step's 60 ms.
    ms.set_context(mode=ms.GRAPH_MODE if is_graph else ms.PYNATIVE_MODE,
                   pynative_synchronize=not is_graph)
    ms.set_device("CPU")
    ms.set_seed(0)
    # Operators run on MindSpore's own threads, so the whole process's CPU time counts.
    serve(Timed(model(), profiler, time.process_time_ns), mindspore=ms.__version__)


if __name__ == "__main__":
    main()
