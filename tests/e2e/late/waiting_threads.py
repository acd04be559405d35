# SPDX-License-Identifier: BSD-2-Clause
"""waiting_threads.py: four threads that give a stream of their own work and wait for it, from a shallower
stack than where their other calls are, until they are told to end."""
import os
import signal
import threading

import torch

ended = threading.Event()


def serve():
    stream = torch.cuda.Stream()
    x = torch.ones(1000, device="cuda")
    with torch.cuda.stream(stream):
        while not ended.is_set():
            with torch.profiler.record_function("request"):
                for _ in range(4):
                    x.add_(1)
            stream.synchronize()


signal.signal(signal.SIGTERM, lambda *_: ended.set())
threads = [threading.Thread(target=serve) for _ in range(4)]
for thread in threads:
    thread.start()
print("ready", os.getpid(), flush=True)
for thread in threads:
    thread.join()
