"""Adds tensors forty times a step in PaddlePaddle, and trains what comes of it, until it is told to stop.
Says `address` of Tensor.__add__ in its output, and writes `step NUMBER NS` for each step to the log."""
import argparse
import ctypes
import os
import time

import paddle

ADDS = 40
LARGE = 4096


def address_of(method):
    """PyMethodDescrObject points to its PyMethodDef. The second word there is the function."""
    definition = ctypes.c_uint64.from_address(id(method) + 40).value
    return ctypes.c_uint64.from_address(definition + 8).value


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--log", default=os.devnull)
    parser.add_argument("--scale", choices=["small", "large"],
                        help="add a number once a step, which is another operator by the same method, to a tensor "
                        "of this size")
    args = parser.parse_args()
    weight = paddle.create_parameter([4, 4], "float32")
    large = paddle.ones([LARGE, LARGE])
    optimizer = paddle.optimizer.SGD(1e-3, parameters=[weight])
    print(f"address {address_of(paddle.Tensor.__add__)}", flush=True)
    cnt = 0
    with open(args.log, "a", buffering=1) as log:
        while True:
            begin = time.monotonic_ns()
            total = weight
            for _ in range(ADDS):
                total = total + weight
            if args.scale == "small":
                total = total + 1.0
            elif args.scale:
                large + 1.0
            total.mean().backward()
            optimizer.step()
            optimizer.clear_grad()
            log.write(f"step {cnt} {time.monotonic_ns() - begin}\n")
            cnt += 1


if __name__ == "__main__":
    main()
