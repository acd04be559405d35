# SPDX-License-Identifier: BSD-2-Clause
"""job.py PART [PERIOD]: trains until SIGTERM, on the CPU, whose results are real ones, and on the GPU, unless
JOB_DEVICES names the first alone.
Each step prints its loss to the last bit; after PERIOD steps it begins anew, so that all periods are
alike. PART is what it does besides, in each step or, at SIGUSR1, once."""
import ctypes
import os
import signal
import sys
import threading
import time
import warnings

import torch
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader, Dataset

# Warnings of PyTorch 2.4 and 2.11, and of Python from 3.12 on about fork().
warnings.filterwarnings("ignore", category=FutureWarning, module=r"torch\.utils\.checkpoint")
warnings.filterwarnings("ignore", category=UserWarning, module=r"torch\.profiler\.profiler")
warnings.filterwarnings("ignore", "This process", DeprecationWarning, "__main__")

asked = set()
DEVICES = os.environ.get("JOB_DEVICES", "cpu cuda").split()


class Doubled(torch.autograd.Function):
    """A backward node written in Python."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad.mul(2) + x.sub(x)


class Broken(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        raise ArithmeticError("in a node")


class Net(nn.Module):
    def __init__(self, reentrant):
        super().__init__()
        self.first, self.last = nn.Linear(16, 16), nn.Linear(16, 4)
        self.inner = nn.Sequential(nn.Linear(16, 16), nn.Tanh())
        self.reentrant = reentrant

    def forward(self, x):
        h = functional.relu(self.first(x)).mul(1)
        h.add_(1.0)
        h = Doubled.apply(h) + h.mul(0.5) - 1
        h = checkpoint(self.inner, h, use_reentrant=self.reentrant)
        h.register_hook(lambda grad: grad.clamp_min(-1))
        return torch.tanh(self.last(torch.cat([h, h.neg()]).narrow(0, 0, len(x))))


class Models:
    """One on each device, and one optimizer for both: a step."""

    def __init__(self, reentrant):
        torch.manual_seed(1)
        self.nets = [Net(reentrant).to(device) for device in DEVICES]
        self.optimizer = torch.optim.SGD([p for n in self.nets for p in n.parameters()], lr=0.01,
                                         momentum=0.9)
        self.x, self.y = torch.randn(8, 16), torch.randn(8, 4)

    def loss(self, net):
        device = net.last.weight.device
        loss = functional.mse_loss(net(self.x.to(device)), self.y.to(device))
        loss.backward()
        return loss

    def step(self):
        self.optimizer.zero_grad()
        losses = [self.loss(net) for net in self.nets]
        self.optimizer.step()
        return losses[0].item()


def expect(error, function, *args):
    try:
        function(*args)
    except error:
        return
    raise AssertionError(f"no {error}")


def work(backward=True):
    """A number that any thread computes alike; a forked process without a backward pass, of which it is not
    capable."""
    a = torch.linspace(-1, 1, 64).reshape(8, 8).requires_grad_()
    b = Doubled.apply(a).matmul(a).relu().sum() + torch.add(a, 1).abs().mean()
    if backward:
        b.backward()
        return a.grad.sum().item()
    return b.item()


# ---- in each step ----

TABLE = {f: f.__name__ for f in (torch.add, torch.relu, torch.cat, torch.zeros, torch.tanh,
                                 functional.linear, torch.Tensor.mul)}


def hashes():
    """Functions in dictionaries. torch itself has some."""
    for f, name in list(TABLE.items()):
        assert TABLE.get(f) == name, f"{name} is not in its dictionary"
        assert f in set(TABLE)
    torch.add(torch.ones(1), 1).relu().tanh()
    with torch.device("cuda"):
        assert torch.zeros(2).device.type == "cuda", "not on the default device"


def raises():
    x = torch.ones(4, requires_grad=True)
    expect(RuntimeError, torch.add, x, torch.ones(3))
    expect(TypeError, x.mul, "text")
    expect(RuntimeError, functional.linear, torch.ones(2, 3), torch.ones(2, 2))
    expect(ArithmeticError, Broken.apply(x.mul(2)).sum().backward)
    hooked = x.mul(3)

    def hook(grad):
        raise KeyError("in a hook")
    hooked.register_hook(hook)
    expect(KeyError, hooked.add(1).sum().backward)
    saved = x.exp()
    saved.add_(1)
    expect(RuntimeError, saved.sum().backward)  # in C++, within the node
    assert 2 + torch.ones(2).sum().item() == 4


EXPECTED, FORWARD = work(), work(backward=False)


def asks():
    """For the gradient of a leaf: the engine hands it over, and no node's function is called."""
    x = torch.linspace(-1, 1, 8, requires_grad=True)
    grad, = torch.autograd.grad(x.mul(2).sum(), x)
    assert grad.sum().item() == 16, grad


def threads():
    seen = []

    def run():
        seen.append(work())
    started = [threading.Thread(target=run) for _ in range(4)]
    for t in started:
        t.start()
    for t in started:
        t.join()
    assert seen == [EXPECTED] * 4, seen


def passes():
    """Threads that end with a backward pass."""
    leaves = [torch.linspace(-1, 1, 8, requires_grad=True) for _ in range(3)]
    started = [threading.Thread(target=x.mul(2).sum().backward) for x in leaves]
    for t in started:
        t.start()
    for t in started:
        t.join()
    assert all(x.grad.sum().item() == 16 for x in leaves)


class Made(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, i):
        return torch.tensor(work(backward=False)).mul(1).add(i)


def loader():
    for i, (value,) in enumerate(DataLoader(Made(), num_workers=2)):
        assert abs(value.item() - FORWARD - i) < 1e-4, value


# ---- once ----

def fork():
    """A child that works, prints a line, and stays."""
    pid = os.fork()
    if pid:
        return
    assert all(work(backward=False) == FORWARD for _ in range(200))
    hashes_on_cpu = all(TABLE.get(f) == name for f, name in list(TABLE.items()))
    print("child", os.getpid(), hashes_on_cpu, flush=True)
    while os.getppid() != 1:
        work(backward=False)
        time.sleep(0.01)
    os._exit(0)


def profile():
    p = torch.profiler.profile()
    p.start()
    work()
    p.stop()
    print("profiled", sum(e.name == "aten::matmul" for e in p.events()), flush=True)


def leave():
    def stay():
        seen.append(work())
        time.sleep(1000)  # PyTorch itself aborts if such a thread runs operators until the end

    seen = []
    for _ in range(2):
        threading.Thread(target=stay, daemon=True).start()
    while len(seen) < 2:
        work()
    sys.exit(5)


def leave_at_once():
    os._exit(6)


def names():
    """The libraries' names, as the loader knows them."""
    class Info(ctypes.Structure):
        _fields_ = [("address", ctypes.c_size_t), ("name", ctypes.c_char_p)]

    @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Info), ctypes.c_size_t, ctypes.c_void_p)
    def each(info, size, _):
        found.append(info.contents.name.decode())
        return 0

    found = []
    ctypes.CDLL(None).dl_iterate_phdr(each, None)
    print("names", *found, flush=True)


def replaced():
    os.execv("/bin/sleep", ["sleep", "100"])


EACH = {"asks": asks, "hashes": hashes, "raises": raises, "threads": threads, "passes": passes,
        "loader": loader}
ONCE = {"fork": fork, "profile": profile, "leave": leave, "leave_at_once": leave_at_once,
        "names": names, "replaced": replaced}


def main():
    part = sys.argv[1]
    for sig in signal.SIGTERM, signal.SIGUSR1:
        signal.signal(sig, lambda sig, _: asked.add(sig))
    period = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    models = Models(part == "reentrant")
    number = 0
    while signal.SIGTERM not in asked:
        loss = models.step()
        EACH.get(part, int)()
        if "cuda" in DEVICES:
            torch.cuda.synchronize()
        print("step", number, loss.hex(), flush=True)
        number += 1
        if period and number % period == 0:
            models = Models(part == "reentrant")
        if number == 5:
            print("ready", os.getpid(), flush=True)
        if signal.SIGUSR1 in asked:
            asked.remove(signal.SIGUSR1)
            ONCE[part]()
        time.sleep(0.002)


main()
