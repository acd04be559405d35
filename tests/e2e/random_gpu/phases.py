# SPDX-License-Identifier: BSD-2-Clause
"""Computes the phases of a PyTorch job from its own notes. The forward pass lies between the backward pass and the
latest note before it, or the loader's if there is none. zero_grad is no part of the forward pass."""
import bisect
import collections
import dataclasses

SLACK_NS = 1_000_000  # time from a phase's end, marked by the framework's last action in a call, to the caller's note
PHASES = ("Dataloader", "Forward", "Backward", "Optimization")


@dataclasses.dataclass
class Phase:
    """One call of a phase, as parts of the time of the steps' thread, and the kernels launched in that time."""
    kind: str
    parts: list
    kernels: list = dataclasses.field(default_factory=list)

    @property
    def gpu(self):
        return sum(w.ns for w in self.kernels)

    @property
    def ns(self):
        """The least and the most time: from the first launch to the last one, and between the notes."""
        begins, ends = [w.call.begin for w in self.kernels], [w.call.end for w in self.kernels]
        noted = sum(end - begin for begin, end in self.parts)
        return max(ends, default=0) - min(begins, default=0), noted + SLACK_NS

    @property
    def at(self):
        """By which it is in the window or not, whose edges are in a call: where the loader is asked, or where an
        optimizer's step ends."""
        return self.parts[-1][1] if self.kind == "Dataloader" else self.parts[0][0]


def forward_parts(begin, end, without):
    """Returns [begin, end) without the notes inside."""
    parts = []
    for note in without:
        if begin <= note.before < end:
            parts.append((begin, note.before))
            begin = note.ended
    return [*parts, (begin, end)]


def of_step(notes, nothing, at, next_begin):
    """notes: the phases in it; nothing: what is of no phase, in it and in the one before; at: where the first forward
    pass may begin. Steps without a backward pass end with the next one's begin."""
    phases = []
    for note in notes:
        if note.name == "none":
            continue
        if note.name == "Backward":
            phases.append(Phase("Forward", forward_parts(at, note.before, nothing)))
        phases.append(Phase(note.name, [(note.before, note.ended)]))
        at = note.ended
    if not any(n.name == "Backward" for n in notes):
        phases.append(Phase("Forward", [(at, next_begin)]))
    return phases


def phases_of(truth):
    """Returns the phases of all steps, with the kernels launched in the window."""
    notes = truth.notes[truth.window.step_tid]
    steps = [n for n in notes if n.kind == "step"]
    inside = collections.defaultdict(list)
    for note in notes:
        if note.kind == "phase":
            inside[id(note.parent)].append(note)
    phases, at, nothing = [], steps[0].before, []
    for step, following in zip(steps, steps[1:]):
        own = [n for n in inside[id(step)] if n.name == "none"]
        phases += of_step(inside[id(step)], nothing + own, at, following.before)
        at, nothing = phases[-1].parts[-1][1], own
    parts = sorted((begin, end, i) for i, phase in enumerate(phases) for begin, end in phase.parts)
    begins = [p[0] for p in parts]
    others = []
    for w in truth.work:
        if w.kind != "kernel":
            continue
        at = bisect.bisect_right(begins, w.call.begin) - 1
        if at >= 0 and w.call.begin < parts[at][1]:
            phases[parts[at][2]].kernels.append(w)
        else:
            others.append(w)
    begin, end = truth.span
    return [p for p in phases if begin <= p.at < end], others
