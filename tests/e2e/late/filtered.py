# SPDX-License-Identifier: BSD-2-Clause
"""filtered.py: trains until SIGTERM. From SIGUSR1 on a seccomp filter kills it if it maps memory, which it has
no need of any more."""
import ctypes
import os
import signal
import struct
import time

import torch

LOAD, JUMP_EQUAL, RETURN = 0x20, 0x15, 0x06
KILL, ALLOW = 0x80000000, 0x7FFF0000
MMAP = 9
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, FILTER_MODE = 38, 22, 2

PROGRAM = [(LOAD, 0, 0, 0), (JUMP_EQUAL, 0, 1, MMAP), (RETURN, 0, 0, KILL), (RETURN, 0, 0, ALLOW)]
text = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in PROGRAM))
libc = ctypes.CDLL(None)


class Program(ctypes.Structure):
    _fields_ = [("len", ctypes.c_ushort), ("filter", ctypes.c_void_p)]


program = Program(len(PROGRAM), ctypes.addressof(text))


def put_on(*_):
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    assert not libc.prctl(PR_SET_SECCOMP, FILTER_MODE, ctypes.byref(program), 0, 0)
    print("filtered", flush=True)


def main():
    signal.signal(signal.SIGUSR1, put_on)
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    net, x = torch.nn.Linear(64, 64).cuda(), torch.ones(8, 64, device="cuda")
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(1 << 30):
        optimizer.zero_grad()
        net(x).sum().backward()
        optimizer.step()
        time.sleep(0.01)
        if step == 20:
            print("ready", os.getpid(), flush=True)


main()
