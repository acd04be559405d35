# SPDX-License-Identifier: BSD-2-Clause
"""A server whose requests come in no order that repeats: each is as many cheap operators, of random kinds.

An ordinary PyTorch program that knows nothing of proftrace. Writes `step NUMBER NS` for each request to the log.
"""
import argparse
import ctypes
import os
import random
import signal
import time

import torch

PR_SET_PDEATHSIG = 1
KINDS = [torch.sin, torch.cos, torch.tanh, torch.relu, torch.abs, torch.neg, torch.sqrt, torch.exp]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--log", default=os.devnull)
    parser.add_argument("--operators", type=int, default=500, help="of a request")
    parser.add_argument("--size", type=int, default=64, help="elements that each operator computes")
    parser.add_argument("--threads", type=int, default=1, help="of an operator")
    parser.add_argument("--below", action="store_true", help="in a forked process; this one waits for it")
    args = parser.parse_args()
    if args.below:
        child = os.fork()
        if child:
            os.waitpid(child, 0)
            return
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)

    torch.set_num_threads(args.threads)
    random.seed(0)
    x = torch.rand(args.size)
    with open(args.log, "w") as log, torch.inference_mode():
        number = 0
        while True:
            kinds = random.choices(KINDS, k=args.operators)
            begin = time.monotonic_ns()
            for kind in kinds:
                kind(x)
            print("step", number, time.monotonic_ns() - begin, file=log, flush=True)
            number += 1


if __name__ == "__main__":
    main()
