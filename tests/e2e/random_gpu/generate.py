# SPDX-License-Identifier: BSD-2-Clause
"""Makes a random job on the simulated GPU from a seed: its parts, what its threads do in each turn, how its devices
behave, and how it is recorded."""
import dataclasses
import json
import random

KERNELS, OPERATORS, RANGES = 6, 6, 4
KERNEL_GLOBS = ["_Z7forward*", "_Z8backward*", "_Z6update*", "_Z4loss*", "_ZN6engine5gemm*", "_Z9elementwi*"]
BYTES = 1 << 20
COPY_ACROSS, COPY_KINDS = 3, 6
QUEUE_LENGTH = 1024  # of a stream: the host waits then
AHEAD = (0, 0, 1, 16, 300, -1)  # number of steps, or -1 for as many as the queues hold


@dataclasses.dataclass
class Job:
    seed: int
    devices: int
    streams: int
    depth: int
    every: int
    ranks: int
    text: str  # the description, without the rank
    rules: str
    late: bool  # proftrace attaches when the job already runs
    steps: tuple  # the recorded steps: [A,B)
    env: dict
    framework: bool = False  # PyTorch's, with operators and phases

    def __str__(self):
        ahead = "any" if self.depth < 0 else self.depth
        kind = "PyTorch, " if self.framework else ""
        return (f"seed {self.seed}: {kind}{self.ranks or 1} ranks, {self.devices} devices, {self.streams} streams, "
                f"{ahead} steps ahead, waits every {self.every or 'no'} step, {'late' if self.late else 'run'}, "
                f"steps {self.steps[0]}:{self.steps[1]}")


class Generator:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.devices = self.random.choice((1, 1, 2, 3, 4))
        self.streams = self.random.choice((1, 2, 3, 4, 8))
        self.depth = self.random.choice(AHEAD)
        self.every = self.random.choice((0, 0, 1, 7, 16)) if self.depth else 0
        self.ranks = self.random.choice((0, 0, 0, 1, 2, 3))
        self.graphs, self.graph_lines = [], []  # each graph's device, and its content
        self.weights = [2 ** self.random.uniform(-2, 2) for _ in range(KERNELS)]
        slow = self.random.random() < 0.3
        self.scales = [self.random.uniform(0.3, 4) if slow and dev == 1 else 1 for dev in range(self.devices)]

    def place(self):
        """A device and a stream, which may be the null stream."""
        stream = self.random.randrange(self.streams) if self.random.random() < 0.95 else -1
        return self.random.randrange(self.devices), stream

    def size(self):
        return int(2 ** self.random.uniform(2, 20))

    def kernel(self, place, forms=4):
        return "kernel {} {} {} {} {}".format(*place, self.random.randrange(KERNELS),
                                              int(2 ** self.random.uniform(0, 12)), self.random.randrange(forms))

    def copy(self, place, in_graph=False):
        kinds = [k for k in range(4 if in_graph else COPY_KINDS) if k != COPY_ACROSS or self.devices > 1]
        waits = not in_graph and self.random.random() < 0.15
        return "copy {} {} {} {} {}".format(*place, self.random.choice(kinds), self.size(), 0 if waits else 1)

    def set(self, place, in_graph=False):
        waits = not in_graph and self.random.random() < 0.15
        return "set {} {} {} {}".format(*place, self.size(), 0 if waits else 1)

    def graph(self):
        dev = self.random.randrange(self.devices)
        place = dev, self.random.randrange(self.streams)
        lines = ["define"]
        for _ in range(self.random.randint(1, 12)):
            lines.append(self.random.choice((self.kernel, self.kernel, self.kernel, self.set, self.copy))(place, True)
                         if self.random.random() < 0.5 else self.kernel(place, 1))
        self.graphs.append(dev)
        self.graph_lines.append(lines)
        return lines

    def work(self):
        """One line of a device's work."""
        roll, place = self.random.random(), self.place()
        if self.graphs and roll < 0.08:
            number = self.random.randrange(len(self.graphs))
            return f"graph {number} {self.graphs[number]} {self.random.randrange(self.streams)}"
        if roll < 0.70:
            return self.kernel(place)
        if roll < 0.82:
            return self.copy(place)
        if roll < 0.90:
            return self.set(place)
        if roll < 0.96:
            dev, stream = place
            return f"order {dev} {stream} {self.random.randrange(self.streams)}"
        return f"spin {self.random.randint(5, 100)}"

    def block(self, left, depth=0):
        """Lines with about `left` pieces of work, in operators, in ranges, or in neither."""
        lines = []
        while left > 0:
            roll = self.random.random()
            if depth < 4 and roll < 0.35:
                cnt = self.random.randint(1, max(1, min(left, 8)))
                lines += [f"operator {self.random.randrange(OPERATORS)}", *self.block(cnt, depth + 1), "end"]
                left -= cnt
            elif depth < 3 and roll < 0.45:
                cnt = self.random.randint(1, max(1, min(left, 8)))
                lines += [f"range {self.random.randrange(RANGES)}", *self.block(cnt, depth + 1), "end"]
                left -= cnt
            else:
                lines.append(self.work())
                left -= 1
        return lines

    def collectives(self, lines):
        """Collectives use stream 0 of the first device, because NCCL runs them in the same order on all ranks."""
        for _ in range(self.random.randint(1, 4) if self.ranks else 0):
            at = self.random.randint(0, len(lines))
            cnt = int(2 ** self.random.uniform(0, 14))
            lines.insert(at, f"reduce 0 0 {cnt}" if self.random.random() < 0.8 else f"broadcast 0 0 {cnt} 0")

    def main_thread(self):
        lines = ["thread", *self.block(self.random.choice((3, 10, 30, 60)))]
        if self.random.random() < 0.3:
            lines.append(f"sync 0 {self.random.randrange(self.streams)}")
        body = lines[1:]
        self.collectives(body)
        if self.depth < 0 or self.random.random() < 0.5:
            body.append(f"sleep {self.random.choice((100, 500, 2000))}")
        return ["thread", *body]

    def other_thread(self):
        return ["thread", *self.block(self.random.choice((2, 8)))]

    def costs(self, lines):
        """The costs by device, in units of the mean kernel."""
        sums = [0.0] * self.devices
        for word, *numbers in (line.split() for line in lines if line.startswith(("kernel", "graph"))):
            dev, kernel = int(numbers[0]), int(numbers[2])
            if word == "kernel":
                sums[dev] += self.weights[kernel] * self.scales[dev]
            else:
                sums[self.graphs[dev]] += self.costs(self.graph_lines[dev])[self.graphs[dev]]
        return sums

    def unit_ns(self, main):
        """The mean kernel's time, chosen so that the devices need some time for a step, but little time for a full
        queue."""
        most = max(self.costs(main)) or 1
        step_ns = self.random.choice((1e5, 5e5, 1e6, 2e6))
        if self.depth > 100:
            step_ns = min(step_ns, 1e6)
        if self.depth < 0:
            step_ns = min(step_ns, 3e8 / QUEUE_LENGTH * sum(line.startswith("kernel") for line in main))
        return step_ns / most

    def pace(self, lines, unit_ns):
        """Another thread waits for its own work, or pauses for much longer than the work takes."""
        costs = self.costs(lines)
        pause_us = self.random.choice((300, 1000, 3000))
        if self.random.random() < 0.5:
            waits = [f"sync_device {dev}" for dev in range(self.devices) if costs[dev]]
            return [*lines, *waits, f"sleep {pause_us}"]
        return [*lines, f"sleep {max(pause_us, int(10 * max(costs) * unit_ns / 1000))}"]

    def rules(self, unit_ns):
        """How long kernels last; now and then some that are longer than a step."""
        lines = [f"{glob} ns={int(weight * unit_ns)}" for glob, weight in zip(KERNEL_GLOBS, self.weights)]
        if self.random.random() < 0.3:
            lines.append(f"{self.random.choice(KERNEL_GLOBS)} ns={self.random.randint(3, 8)}000000 "
                         f"skip={self.random.randint(50, 500)} times={self.random.randint(1, 20)}")
        lines += [f"* dev={dev} scale={scale:.2f}" for dev, scale in enumerate(self.scales) if scale != 1]
        return "\n".join(lines) + "\n"

    def job(self, seed):
        graphs = [line for _ in range(self.random.choice((0, 0, 1, 3))) for line in self.graph()]
        main = self.main_thread()
        unit_ns = self.unit_ns(main)
        threads = main
        for _ in range(self.random.choice((0, 0, 1, 3))):
            threads = threads + self.pace(self.other_thread(), unit_ns)
        text = [f"devices {self.devices}", f"streams {self.streams}", f"depth {self.depth}", f"every {self.every}",
                *graphs, *threads]
        first = self.random.randint(0, 12) + (self.depth if self.depth > 100 else 0)
        env = {
            "SIMGPU_DEVICES": str(max(self.devices, self.ranks)),
            "SIMGPU_JITTER": self.random.choice(("0", "0", "0.1", "0.9")),
            "SIMGPU_SEED": str(seed % 1000 + 1),
            "SIMGPU_CUPTI_SHUFFLE": self.random.choice(("0", "0", "1")),
            "SIMGPU_LAUNCH_NS": self.random.choice(("2000", "0", "20000")),
            "SIMGPU_LAUNCH_CBID": self.random.choice(("211", "505")),
            "SIMGPU_CUPTI_VERSION": self.random.choice(("130000", "130000", "24", "20")),
        }
        return Job(seed, self.devices, self.streams, self.depth, self.every, self.ranks, "\n".join(text) + "\n",
                   self.rules(unit_ns), self.random.random() < 0.5, (first, first + self.random.randint(3, 40)), env)


def generate_torch(seed):
    """Trains one or two networks, or serves one."""
    r = random.Random(seed)
    trains = r.random() < 0.75
    loader = not trains or r.random() < 0.7
    d = {
        "seed": seed, "train": trains, "loader": loader, "batch": r.choice((8, 64)), "width": r.choice((64, 256)),
        "layers": [r.choice(("linear", "matmul", "norm", "gelu", "softmax")) for _ in range(r.randint(2, 10))],
        "non_blocking": r.random() < 0.5, "zero": r.choice(("first", "between", "last")),
        "set_to_none": r.random() < 0.7, "every": r.choice((0, 0, 1, 7)), "sleep_us": r.choice((0, 0, 1000, 5000)),
        "depth": r.choice((0, 1, 16, 300, -1)), "optimizers": r.choice((1, 1, 2)) if loader else 1,
        "optimizer": r.choice(("SGD", "Adam", "AdamW", "RMSprop")), "graph": not trains and r.random() < 0.5,
    }
    if not set(d["layers"]) & {"linear", "norm"}:
        d["layers"].append("linear")  # a network without parameters cannot be trained
    first = r.randint(0, 5)
    # A generator of its own, so that the seed's other choices do not change.
    ranks = random.Random(f"ranks {seed}").choice((0, 2)) if trains and d["optimizers"] == 1 and seed > 200 else 0
    env = {
        "SIMGPU_DEVICES": str(ranks or 1), "SIMGPU_JITTER": r.choice(("0", "0.5")), "SIMGPU_SEED": str(seed % 1000 + 1),
        "SIMGPU_KERNEL_NS": str(r.choice((3000, 30000, 100000))), "OMP_NUM_THREADS": "1",
        "SIMGPU_CUPTI_SHUFFLE": r.choice(("0", "1")),
    }
    return Job(seed, 1, 1, d["depth"], d["every"], ranks, json.dumps(d), "", True, (first, first + r.randint(3, 30)), env,
               True)


def generate(seed):
    """Each tenth is a job of PyTorch's, which takes longer."""
    return Generator(seed).job(seed) if seed % 10 else generate_torch(seed)
