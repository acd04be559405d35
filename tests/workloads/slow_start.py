"""What an import may look like from outside: the same few operators again and again for some
seconds, and then a training."""
import argparse
import os
import sys
import time

import torch

import mlp_train

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--log", default=os.devnull)
    args = parser.parse_args()
    with open(args.log, "a") as log:
        log.write("importing\n")
    end = time.monotonic() + 6
    while time.monotonic() < end:
        torch.zeros(3)
        torch.ones(3)
        time.sleep(0.02)
    sys.argv = [sys.argv[0], "--log", args.log]
    mlp_train.main()
