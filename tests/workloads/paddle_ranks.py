"""Two data-parallel ranks of a PaddlePaddle job over gloo, or with BACKEND=nccl over NCCL, which it starts below
itself. Each step adds an all_reduce and a broadcast of its own; rank 1 sleeps 20 ms in its forward pass."""
import os
import time

import launcher

RANKS = 2


def environments():
    endpoints = [f"127.0.0.1:{launcher.free_port()}" for _ in range(RANKS)]
    common = {"PADDLE_TRAINERS_NUM": str(RANKS), "PADDLE_DISTRI_BACKEND": os.environ.get("BACKEND", "gloo"),
              "PADDLE_TRAINER_ENDPOINTS": ",".join(endpoints),
              "PADDLE_MASTER": f"127.0.0.1:{launcher.free_port()}"}
    return [{**common, "PADDLE_TRAINER_ID": str(rank), "PADDLE_CURRENT_ENDPOINT": endpoint,
             **({"FLAGS_selected_gpus": str(rank)} if common["PADDLE_DISTRI_BACKEND"] == "nccl" else {})}
            for rank, endpoint in enumerate(endpoints)]


def training():
    import paddle
    import paddle.distributed as dist
    from paddle import nn

    dist.init_parallel_env()
    network = paddle.DataParallel(nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 4)))
    optimizer = paddle.optimizer.SGD(0.01, parameters=network.parameters())

    def step():
        if dist.get_rank() == 1:
            time.sleep(0.02)
        loss = network(paddle.randn([8, 32])).mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        total = paddle.ones([100])
        dist.all_reduce(total)
        dist.broadcast(total, 0)
        float(loss)  # else a device falls steps behind its host

    return dist.get_rank(), step


if __name__ == "__main__":
    launcher.main(__doc__, "PADDLE_TRAINER_ID", environments, training)
