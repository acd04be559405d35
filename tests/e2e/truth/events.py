# SPDX-License-Identifier: BSD-2-Clause
"""One format for events of torch.profiler and of proftrace."""
import re
from dataclasses import dataclass, field

from values import from_text

NODE_PREFIX = "autograd::engine::evaluate_function: "
OPERATOR_NAME = re.compile(r"^(\w+)::(\w+)$")

# Dispatched operators that torch.profiler hides: the ones that record_function itself is made of.
HIDDEN_NAMESPACES = {"profiler"}
# Collectives are typed dispatcher calls outside at::_ops. Both tools show them in other ways.
OTHER_NAMESPACES = {"c10d"}


@dataclass
class Span:
    name: str
    begin_ns: int
    end_ns: int
    shapes: list = field(default_factory=list)
    values: list = field(default_factory=list)  # see values.py
    flops: int = 0
    sequence: int = -1
    depth: int = 0
    node: str = ""  # name of the backward node that it ran in

    @classmethod
    def from_kineto(cls, row):
        return cls(row["name"], row["begin_ns"], row["end_ns"], row["shapes"], row["values"],
                   row["flops"], row["sequence"])

    @classmethod
    def from_trace(cls, event):
        args = event.get("args", {})
        begin_ns = round(event["ts"] * 1000)
        return cls(event["name"], begin_ns, begin_ns + round(event["dur"] * 1000),
                   args.get("Input Dims", []),
                   [from_text(text) for text in args.get("Concrete Inputs", [])],
                   sequence=args.get("Sequence number", -1))

    @property
    def duration_us(self):
        return (self.end_ns - self.begin_ns) / 1e3

    @property
    def is_node(self):
        return self.name.startswith(NODE_PREFIX)

    @property
    def is_operator(self):
        """Went through the dispatcher. Not "detach": inside aten::detach, torch marks the same call
        a second time with a RECORD_FUNCTION of that name, which is not an operator."""
        match = OPERATOR_NAME.match(self.name)
        return bool(match) and match[1] not in HIDDEN_NAMESPACES | OTHER_NAMESPACES


def nest(spans):
    """Fills in depth and node. Spans are of one thread, ordered by begin, parents first. Whole
    microseconds are enough: between two probe hits of one thread lies most of one."""
    open_spans = []
    for span in spans:
        while open_spans and open_spans[-1].end_ns <= span.begin_ns:
            open_spans.pop()
        span.depth = len(open_spans)
        span.node = next((s.name for s in reversed(open_spans) if s.is_node), "")
        open_spans.append(span)
    return spans


def operators(spans):
    return nest([s for s in spans if s.is_operator])


def align(window, truth):
    """Finds the window's sequence in truth, which has more whole steps of the same kind. Returns where it begins, or
    None. A window need not begin where the workload's own step does."""
    for offset in range(len(truth) - len(window) + 1):
        if truth[offset] == window[0] and truth[offset : offset + len(window)] == window:
            return offset
    return None


def best_overlap(window, truth):
    """For the message when align() finds nothing: offset with the longest common beginning."""
    def common(offset):
        length = 0
        while (length < len(window) and offset + length < len(truth)
               and window[length] == truth[offset + length]):
            length += 1
        return length

    starts = [o for o in range(len(truth)) if truth[o] == window[0]] or [0]
    offset = max(starts, key=common)
    return offset, common(offset)
