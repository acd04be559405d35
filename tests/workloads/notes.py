# SPDX-License-Identifier: BSD-2-Clause
"""A workload's own notes, which tests compare with proftrace's output."""
import time


class Notes:
    """Ground truth on CLOCK_MONOTONIC, kept aside while steps run."""

    def __init__(self):
        self.phases = []
        self.steps = []

    def phase(self, name):
        return _Phase(self, name)

    def take(self):
        notes = {"phases": self.phases, "steps": self.steps}
        self.phases, self.steps = [], []
        return notes


class _Phase:
    def __init__(self, notes, name):
        self.notes = notes
        self.name = name

    def __enter__(self):
        self.begin = time.monotonic_ns()

    def __exit__(self, *exc):
        self.notes.phases.append((self.name, self.begin, time.monotonic_ns()))
