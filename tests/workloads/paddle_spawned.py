"""paddle_spawned.py --log LOG: two data-parallel ranks of paddle.distributed.spawn over gloo, which set their own environment;
each writes a line to LOG.RANK for each step, until it is told to stop."""
import sys
import time


def rank_main(log):
    import paddle
    import paddle.distributed as dist
    from paddle import nn

    dist.init_parallel_env()
    network = paddle.DataParallel(nn.Linear(32, 4))
    optimizer = paddle.optimizer.SGD(0.01, parameters=network.parameters())
    with open(f"{log}.{dist.get_rank()}", "w", buffering=1) as out:
        number = 0
        while True:
            network(paddle.randn([8, 32])).mean().backward()
            optimizer.step()
            optimizer.clear_grad()
            out.write(f"step {number} 0\n")
            number += 1
            time.sleep(0.01)


if __name__ == "__main__":
    import paddle.distributed as dist

    dist.spawn(rank_main, (sys.argv[2],), nprocs=2, backend="gloo")
