"""Two data-parallel ranks of a PaddlePaddle job over gloo: started without a rank it launches both
below itself. Each step adds an all_reduce and a broadcast of its own; rank 1 sleeps 20 ms in its forward
pass. Ranks train until they are killed and write `step NUMBER` to the log."""
import argparse
import os
import socket
import subprocess
import sys
import time

RANKS = 2


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def launch():
    endpoints = [f"127.0.0.1:{free_port()}" for _ in range(RANKS)]
    env = dict(os.environ, PADDLE_TRAINERS_NUM=str(RANKS), PADDLE_DISTRI_BACKEND="gloo",
               PADDLE_TRAINER_ENDPOINTS=",".join(endpoints), PADDLE_MASTER=f"127.0.0.1:{free_port()}")
    children = [subprocess.Popen([sys.executable, *sys.argv],
                                 env=dict(env, PADDLE_TRAINER_ID=str(rank),
                                          PADDLE_CURRENT_ENDPOINT=endpoints[rank]))
                for rank in range(RANKS)]
    for child in children:
        child.wait()


def train(log_path):
    import paddle
    import paddle.distributed as dist
    from paddle import nn

    dist.init_parallel_env()
    network = paddle.DataParallel(nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 4)))
    optimizer = paddle.optimizer.SGD(0.01, parameters=network.parameters())
    with open(f"{log_path}.{dist.get_rank()}", "w", buffering=1) as log:
        step = 0
        while True:
            if dist.get_rank() == 1:
                time.sleep(0.02)
            loss = network(paddle.randn([8, 32])).mean()
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            total = paddle.ones([100])
            dist.all_reduce(total)
            dist.broadcast(total, 0)
            log.write(f"step {step}\n")
            step += 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--log", default=os.devnull)
    args = parser.parse_args()
    if "PADDLE_TRAINER_ID" in os.environ:
        train(args.log)
    else:
        launch()


if __name__ == "__main__":
    main()
