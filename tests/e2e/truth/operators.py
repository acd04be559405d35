# SPDX-License-Identifier: BSD-2-Clause
"""Compares operators with torch.profiler's, on adjacent steps of one process that do the same."""
import functools
import re

from checks import Mismatch
import values
from events import NODE_PREFIX, align, best_overlap, nest, operators

USERS_RANGE = re.compile(r" region$")  # the name of a range in the workloads
FIRST, STEPS = 2, 4  # the first steps after attach pay for page faults


def _match(what, window, truth):
    """Returns the window's offset in truth. If there is none, says where the two differ."""
    if not window:
        raise Mismatch(f"{what}: proftrace saw none")
    offset = align(window, truth)
    if offset is None:
        offset, length = best_overlap(window, truth)
        ours = window[length : length + 4]
        theirs = truth[offset + length : offset + length + 4]
        raise Mismatch(f"{what}: {length} of {len(window)} agree, then proftrace has {ours} and "
                       f"torch.profiler {theirs}")
    return offset


def _all_equal(what, pairs, key_ours, key_theirs):
    wrong = [(o, t) for o, t in pairs if key_ours(o) != key_theirs(t)]
    if wrong:
        raise Mismatch(f"{what}: {len(pairs) - len(wrong)} of {len(pairs)} agree; first "
                       f"difference: proftrace {wrong[0][0]}, torch.profiler {wrong[0][1]}")


def _shapes(span):
    """Kineto writes an undefined tensor as [] or [0], by version."""
    return [[] if shape == [0] else shape for shape in span.shapes]


def _shapes_without_lists(span):
    return [[] if shape and isinstance(shape[0], list) else shape for shape in _shapes(span)]


def _leading_shapes(span):
    """Of a Python call, how many arguments are left to their defaults is not told, nor what is in a
    list: those without a shape at the end are not compared."""
    shapes = _shapes_without_lists(span)
    while shapes and not shapes[-1]:
        shapes.pop()
    return shapes


# Before 2.4 torch makes each tensor that a loader's process sends by torch.tensor([]).set_(), of as
# many batches as have come by then: these calls are not the same in each step.
RECEIVED = ("aten::tensor", "aten::empty", "aten::to", "aten::lift_fresh", "aten::detach_",
            "detach_", "aten::set_")


def _left_out(job):
    """Returns the operators that are not compared with this version. For the newest version there are none."""
    names = set()
    if job.torch < (2, 4) and "--workers" in job.title:
        names.update(RECEIVED)
    return names


def _python_left_out(job):
    """The same for what Python called. Wrappers that call no operator of their name: conj() of what
    is not complex, which optimizers called before 2.5 or so; and item(), which the wrapper itself calls where
    a tensor stands for a number, as clip_grad_norm_ had it in 2.0."""
    names = _left_out(job)
    if job.torch < (2, 11):
        names.add("aten::conj")
    if job.torch < (2, 1):
        names.add("aten::item")
    return names


def inner(job):
    """Every dispatch: names in order, nesting, shapes."""
    trace = job.record(f"{FIRST}:{FIRST + STEPS}", "inner", "--record-shapes")
    aside = _left_out(job)
    ours = [s for s in operators(trace.of_main_thread("cpu_op")) if s.name not in aside]
    # Takes more whole steps than the window has. The window lies in them wherever it begins.
    theirs = [s for s in operators(job.profile(STEPS + 2, shapes=True)) if s.name not in aside]
    offset = _match("names in order", [s.name for s in ours], [s.name for s in theirs])
    pairs = list(zip(ours, theirs[offset:]))
    base = theirs[offset].depth - ours[0].depth
    _all_equal("nesting", pairs, lambda o: o.depth + base, lambda t: t.depth)
    # See stepper.py.
    shapes = _shapes if job.torch >= (2, 15) else _shapes_without_lists
    _all_equal("shapes", pairs, shapes, shapes)
    compared, unseen = values.inner(pairs)
    counted = values.flops(job, pairs)
    return (f"{len(pairs)} operators of {STEPS} steps: names, order, nesting and shapes agree, "
            f"FLOPs of {counted} names, {compared} values ({unseen} of them float and not seen)")


# torch.compile marks these only while a profiler runs, so they are left out.
COMPILED_REGION = re.compile(r"forward|TorchDynamo Cache Lookup|Torch-Compiled Region: .*")


def regions(job):
    """Functions of TorchScript and regions of torch.compile."""
    trace = job.record(f"{FIRST}:{FIRST + STEPS}", "operator")
    ours, theirs = ([s for s in spans if COMPILED_REGION.fullmatch(s.name)]
                    for spans in (trace.of_main_thread("cpu_op"), job.profile(STEPS + 2)))
    _match("names in order", [s.name for s in ours], [s.name for s in theirs])
    return f"{len(ours)} compiled regions of {STEPS} steps: names and order agree"


def ranges(job):
    """The user's ranges, whichever of PyTorch's classes makes them."""
    trace = job.record(f"{FIRST}:{FIRST + STEPS}", "operator")
    ours = [s.name for s in trace.of_main_thread("user_annotation") if USERS_RANGE.search(s.name)]
    theirs = [s.name for s in job.profile(STEPS + 2) if USERS_RANGE.search(s.name)]
    _match("names in order", ours, theirs)
    return f"{len(ours)} ranges of {STEPS} steps: names and order agree"


def _makers(spans):
    """Returns node number -> operator. torch.profiler takes the latest operator that began with that number as the
    node's maker."""
    return {s.sequence: s.name for s in spans if s.sequence >= 0 and s.is_operator}


def arrows(job):
    """Compares the arrows from operators to their backward nodes, among all dispatches."""
    trace = job.record(f"{FIRST}:{FIRST + STEPS}", "inner")
    ours = [s for s in trace.of_main_thread("cpu_op") if s.is_node]
    profiled = job.profile(STEPS + 2)
    theirs = [s for s in profiled if s.is_node]
    offset = _match("names in order", [s.name for s in ours], [s.name for s in theirs])
    forward, makers = trace.forward_of_nodes(), _makers(profiled)
    pairs = [(o, t) for o, t in zip(ours, theirs[offset:]) if t.sequence in makers]
    wrong = [(o, t) for o, t in pairs if makers[t.sequence] not in forward.get(o.begin_ns, ())]
    _all_equal("operators that made the nodes", wrong, lambda o: forward.get(o.begin_ns),
               lambda t: {makers[t.sequence]})
    return f"{len(pairs)} arrows of {STEPS} steps come from the same operators"


def _runs_python(node):
    """Is the backward node written in Python? Generated ones end in a version number."""
    name = node.removeprefix(NODE_PREFIX)
    return bool(name) and "::" not in name and not name[-1].isdigit()


def _called_from_python(spans, python_kernels):
    """Returns the outermost operators: those in no operator, or in one that is Python itself."""
    kept = nest([s for s in spans if s.is_operator or s.is_node])
    called, hidden_until_ns = [], 0
    for span in kept:
        if span.is_node:
            if not _runs_python(span.name):
                hidden_until_ns = max(hidden_until_ns, span.end_ns)
        elif span.begin_ns >= hidden_until_ns:
            called.append(span)
            if span.name not in python_kernels:
                hidden_until_ns = span.end_ns
    return called


@functools.lru_cache(maxsize=1)
def _operator_round(job):
    """Records a window at operator detail, and torch.profiler's events. All checks share the result."""
    trace = job.record(f"{FIRST}:{FIRST + STEPS}", "operator", "--record-shapes")
    return trace, job.profile(STEPS + 2, shapes=True)


def python_level(job, not_wrapped=(), python_kernels=()):
    """What Python called, in order, and shapes. not_wrapped: operators that Python reaches in other
    ways than by a wrapper of torch.*, a Tensor method or torch.ops (indexing)."""
    trace, profiled = _operator_round(job)
    not_wrapped = {*not_wrapped, *_python_left_out(job)}
    ours = [s for s in operators(trace.of_main_thread("cpu_op")) if s.name not in not_wrapped]
    theirs = [s for s in _called_from_python(profiled, python_kernels)
              if s.name not in not_wrapped]
    offset = _match("names in order", [s.name for s in ours], [s.name for s in theirs])
    pairs = list(zip(ours, theirs[offset:]))
    _all_equal("shapes", pairs, _leading_shapes, _leading_shapes)
    compared, counted = values.python_level(pairs), values.flops(job, pairs)
    return (f"{len(ours)} operators that Python called in {STEPS} steps: names, order, shapes agree, "
            f"FLOPs of {counted} names, {compared} values")


def backward_nodes(job):
    """Backward nodes by name and sequence number (its distance from the first one's)."""
    trace, profiled = _operator_round(job)
    ours = [s for s in trace.of_main_thread("cpu_op") if s.is_node]
    theirs = [s for s in profiled if s.is_node]
    offset = _match("names in order", [s.name for s in ours], [s.name for s in theirs])
    pairs = list(zip(ours, theirs[offset:]))
    first, truth = next((o, t) for o, t in pairs if o.sequence >= 0)
    base = truth.sequence - first.sequence
    _all_equal("sequence numbers", pairs,
               lambda o: o.sequence + base if o.sequence >= 0 else -1, lambda t: t.sequence)
    return f"{len(pairs)} backward nodes of {STEPS} steps: names, order, sequence numbers agree"
