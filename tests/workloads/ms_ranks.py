# SPDX-License-Identifier: BSD-2-Clause
"""Two ranks of a MindSpore job on the CPU and their scheduler, which it starts below itself as msrun does. Each step
of a graph has an AllReduce and an AllGather; rank 1 sleeps 20 ms before it."""
import os
import time

import launcher

RANKS = 2


def environments():
    common = {"MS_WORKER_NUM": str(RANKS), "MS_SCHED_HOST": "127.0.0.1", "MS_SCHED_PORT": str(launcher.free_port()),
              "RANK_SIZE": str(RANKS), "GLOG_v": "3"}
    workers = [{**common, "MS_ROLE": "MS_WORKER", "MS_NODE_ID": str(rank), "RANK_ID": str(rank)} for rank in range(RANKS)]
    return [{**common, "MS_ROLE": "MS_SCHED", "RANK_ID": "0"}, *workers]


def training():
    import mindspore as ms
    import numpy as np
    from mindspore import Tensor, nn, ops
    from mindspore.communication import get_rank, init

    ms.set_context(mode=ms.GRAPH_MODE)
    ms.set_device("CPU")
    init()  # the scheduler stays in this call

    class Network(nn.Cell):
        def __init__(self):
            super().__init__()
            self.dense, self.reduce, self.gather = nn.Dense(16, 16), ops.AllReduce(), ops.AllGather()

        def construct(self, x):
            return self.gather(self.reduce(self.dense(x))).sum()

    network, x, rank = Network(), Tensor(np.ones((4, 16), np.float32)), get_rank()

    def step():
        time.sleep(0.02 * rank)
        float(network(x).asnumpy())

    return rank, step


if __name__ == "__main__":
    launcher.main(__doc__, "MS_ROLE", environments, training)
