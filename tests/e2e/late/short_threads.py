# SPDX-License-Identifier: BSD-2-Clause
"""short_threads.py [STAY [PAUSE_S]]: a server with a thread for each request, until SIGTERM. With STAY: as many
threads answer all requests; one second after SIGUSR1 each request gets its own thread. Each request ends with
an argmax."""
import os
import signal
import sys
import threading
import time

import torch

asked, calm = [], []


def answer(net, x):
    with torch.inference_mode():
        net(x.cuda()).cpu()


def stay(barrier, net, x):
    try:
        while True:
            answer(net, x)
            barrier.wait()
    except threading.BrokenBarrierError:
        pass  # the end


def all_stay(cnt, net, x):
    """One answer of each, and their end: the interpreter's must not find them in C++, which ends by abort()."""
    barrier = threading.Barrier(cnt + 1)
    for _ in range(cnt):
        threading.Thread(target=stay, args=(barrier, net, x)).start()
    return barrier.wait, barrier.abort


def of_its_own(net, x):
    thread = threading.Thread(target=answer, args=(net, x))
    thread.start()
    thread.join()


def main():
    signal.signal(signal.SIGTERM, lambda *_: asked.append(1))
    signal.signal(signal.SIGUSR1, lambda *_: calm.append(1))
    net, x = torch.nn.Linear(64, 10).cuda(), torch.ones(8, 64)
    next_, end = lambda: of_its_own(net, x), lambda: None
    pause_s = float(sys.argv[2]) if len(sys.argv) > 2 else 0.01
    if len(sys.argv) > 1:
        next_, end = all_stay(int(sys.argv[1]), net, x)
    for number in range(1 << 30):
        x.argmax()
        next_()
        time.sleep(pause_s)
        if calm:
            end()
            calm.clear()
            next_, end = lambda: of_its_own(net, x), lambda: None
            time.sleep(1)
            print("calm", flush=True)
        if number == 2:
            print("ready", os.getpid(), flush=True)
        if asked:
            break
    end()


main()
