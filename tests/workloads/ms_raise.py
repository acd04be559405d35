# SPDX-License-Identifier: BSD-2-Clause
"""Trains with MindSpore and raises and catches errors of every kind in between: in an operator's
checks, in a kernel, in a compiled graph, in the backward pass and in the data pipeline. Prints how many
of each kind it caught when it has made its steps."""
import argparse
import collections
import itertools
import os
import time

os.environ.setdefault("GLOG_v", "4")

import mindspore as ms  # noqa: E402
import mindspore.dataset as ds  # noqa: E402
import numpy as np  # noqa: E402
from mindspore import Tensor, nn, ops  # noqa: E402

NEGATIVE = Tensor(-np.ones((3, 3), "float32"))
A, B, C = (Tensor(np.ones(shape, "float32")) for shape in ((2, 3), (4, 5), (3, 2)))
FAR = Tensor(np.full((2, 3), 99, "int32"))
NUMBERS = itertools.count(1)


class Raises(nn.Cell):
    """Raises in the backward pass."""

    def construct(self, x):
        return x * 2

    def bprop(self, x, out, dout):
        raise ValueError("backward")


def bad_item(x):
    if x[0] == 3:
        raise ValueError("item")
    return x


@ms.jit
def far_graph(x, at):
    return ops.gather_elements(x, 1, at)


def next_bad():
    data = ds.NumpySlicesDataset(np.arange(8, dtype="float32"), shuffle=False,
                                 num_parallel_workers=1)
    data = data.batch(1).map(bad_item, num_parallel_workers=1)
    for _ in data.create_tuple_iterator():
        pass


RAISES = Raises()
KINDS = {
    "operator": lambda: ops.matmul(A, B).asnumpy(),
    "check": lambda: ops.bias_add(A, B).asnumpy(),
    "kernel": lambda: ops.gather_elements(A, 1, FAR).asnumpy(),
    "deeper": lambda: ops.cholesky(NEGATIVE).asnumpy(),  # another kernel, launched from another depth
    "graph": lambda: far_graph(A, FAR).asnumpy(),
    "backward": lambda: ms.grad(RAISES)(A).asnumpy(),
    "data": next_bad,
}
QUEUED = {"kernel", "deeper"}  # raised on the queue that launches kernels


def settle(tries=100):
    """Waits until MindSpore's queues run calls again. It may raise an error while the queue still drops its calls. It
    then drops the next call, too, which raises nothing."""
    for number in itertools.islice(NUMBERS, tries):
        try:
            # The result of a dropped call is whatever lies in its memory. It cannot be this number, which is new.
            if ops.add(Tensor([float(number)]), 0.5).asnumpy()[0] == number + 0.5:
                return
        except RuntimeError:  # MindSpore raises some errors a second time
            pass
    raise AssertionError(f"{tries} calls after an error failed")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--log", default=os.devnull)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=20, help="of the quick kinds, in a step")
    args = parser.parse_args()
    ms.set_context(mode=ms.PYNATIVE_MODE)
    ms.set_device("CPU")
    net, loss = nn.Dense(3, 2), nn.MSELoss()
    optimizer = nn.SGD(net.trainable_params(), 0.01)

    def forward(x, y):
        return loss(net(x), y)

    gradients = ms.value_and_grad(forward, None, optimizer.parameters)
    data = ds.NumpySlicesDataset((np.ones((64, 3), "float32"), np.ones((64, 2), "float32")),
                                 num_parallel_workers=1).batch(4)
    caught, cnt = collections.Counter(), 0
    with open(args.log, "a", buffering=1) as log:
        while cnt < args.steps:
            for x, y in data.create_tuple_iterator():
                begin = time.monotonic_ns()
                optimizer(gradients(x, y)[1])
                for kind, function in KINDS.items():
                    # Taking down a pipeline takes long.
                    for _ in range(cnt % 8 == 0 if kind == "data" else args.rounds):
                        try:
                            function()
                        except Exception:
                            caught[kind] += 1
                            if kind in QUEUED:
                                settle()
                    settle()
                assert ops.matmul(A, C).asnumpy()[0, 0] == 3
                log.write(f"step {cnt} {time.monotonic_ns() - begin}\n")
                cnt += 1
                if cnt == args.steps:
                    break
    print(*(f"{kind}={n}" for kind, n in sorted(caught.items())), flush=True)


main()
