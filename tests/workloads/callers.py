# SPDX-License-Identifier: BSD-2-Clause
"""Calls getpid of the C library from places of many kinds, without any package, on any version of
Python. Prints what Python says of the stacks, as JSON, and goes on until it is killed."""
import argparse
import functools
import json
import os
import sys
import threading
import time

STACKS = []
noting = False


def told():
    frame, stack = sys._getframe(1), []
    while noting and frame:
        stack.append([frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name])
        frame = frame.f_back
    if noting:
        STACKS.append(stack)


def leaf():
    return told(), os.getpid()


def deep(n):
    return deep(n - 1) if n else leaf()


def numbers():
    yield leaf()


class Größe:
    @property
    def größe(self):
        return leaf()


def lap():
    leaf()
    deep(3)
    deep(100)
    list(numbers())
    list(map(functools.partial(deep), [1]))
    sorted([1, 2], key=lambda _: leaf())
    Größe().größe
    thread = threading.Thread(target=leaf)
    thread.start()
    thread.join()


def main():
    global noting
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--log", default=os.devnull)
    args = parser.parse_args()
    step = 0
    with open(args.log, "a", buffering=1) as log:
        while True:
            noting = step == 1
            lap()
            if step == 1:
                noting = False
                print(json.dumps(STACKS), flush=True)
            log.write("step %d 0\n" % step)
            step += 1
            time.sleep(0.01)


if __name__ == "__main__":
    main()
