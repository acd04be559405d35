# SPDX-License-Identifier: BSD-2-Clause
"""Figures of the tables from the simulation's truth log and the job's own notes. Nothing of proftrace is used but the
window and the steps that it says it recorded. Device times and counts are exact; where a call was open as the
window began or ended, on another thread than the steps', it may be in or out: such work is `unsure`, and a figure is
a range then. Host times lie between what the job noted inside of a call and around it."""
import bisect
import collections
import dataclasses
import subprocess

WORK = ("kernel", "memcpy", "memset")
OPERATOR_NAMES = "operator_{}"
RANGE_NAMES = ["job::load", "job::compute", "job::exchange", "plain"]
STEP_NAME = "job::step"
CUPTI_KERNELS = "cuptiActivityEnable 10"
MARGIN_NS = 2_000_000_000  # work launched or run so long before or after the window has no part in the window


@dataclasses.dataclass
class Work:
    """One piece of a device's work."""
    kind: str
    dev: int
    stream: int
    begin: int
    end: int
    correlation: int
    bytes: int
    in_graph: bool
    name: str
    call: "Call" = None

    @property
    def ns(self):
        return self.end - self.begin


@dataclasses.dataclass
class Call:
    """The outermost call that launched something."""
    tid: int
    begin: int
    end: int
    name: str


@dataclasses.dataclass
class Note:
    """One piece of the job's work. It began between `before` and `begun`, and ended between `ending` and `ended`."""
    kind: str
    tid: int
    number: int  # or the name
    before: int
    begun: int
    ending: int
    ended: int
    parent: "Note" = None

    @property
    def name(self):
        if isinstance(self.number, str):
            return self.number
        if self.kind == "operator":
            return OPERATOR_NAMES.format(self.number)
        return RANGE_NAMES[self.number] if self.kind == "range" else STEP_NAME


def read_notes(path):
    """Returns the notes by thread, sorted by begin, each with its enclosing notes."""
    threads = collections.defaultdict(list)
    with open(path) as lines:
        next(lines)
        for line in lines:
            kind, tid, number, *times = line.split("\t")
            begin, *inner, end = map(int, times)
            # If the job cannot look inside a call, only its outer ends are known.
            begun, ending = inner or (end, end)
            threads[int(tid)].append(Note(kind, int(tid), int(number) if number.isdigit() else number,
                                          begin, begun, ending, end))
    for notes in threads.values():
        notes.sort(key=lambda n: (n.before, -n.ended))
        around = []
        for note in notes:
            while around and around[-1].ended <= note.before:
                around.pop()
            note.parent = around[-1] if around else None
            around.append(note)
    return threads


def read_truth(path, begin, end):
    """Reads the devices' work around the window, and the time from which CUPTI reports launches."""
    work, calls, told_since = [], {}, None
    with open(path) as lines:
        at = {name: i for i, name in enumerate(next(lines).rstrip("\n").split("\t"))}
        for line in lines:
            row = line.rstrip("\n").split("\t")
            kind, start, stop = row[0], int(row[at["start_ns"]]), int(row[at["end_ns"]])
            if kind in WORK and stop > begin - MARGIN_NS:
                work.append(Work(kind, int(row[at["dev"]]), int(row[at["stream"]]), start, stop,
                                 int(row[at["correlation"]]), 0 if kind == "kernel" else int(row[at["bytes"]]),
                                 row[at["graph"]] != "0", row[at["name"]]))
            elif kind in ("runtime", "driver") and stop > begin - MARGIN_NS and start < end:
                correlation = int(row[at["correlation"]])
                # A runtime call and the driver's within it have one id.
                if kind == "runtime" or correlation not in calls:
                    calls[correlation] = Call(int(row[at["tid"]]), start, stop, row[at["name"]])
            elif kind == "cupti" and row[at["name"]] == CUPTI_KERNELS and start < begin:
                told_since = start
    for w in work:
        w.call = calls.get(w.correlation)
    return work, told_since


def demangle(work):
    names = sorted({w.name for w in work if w.kind == "kernel"})
    out = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True, check=True).stdout
    readable = dict(zip(names, out.split("\n")))
    for w in work:
        w.name = readable.get(w.name, w.name)


def union(intervals, begin, end):
    """How much of [begin, end) they cover."""
    length, at = 0, begin
    for start, stop in sorted(intervals):
        start, stop = max(start, at), min(stop, end)
        if start < stop:
            length += stop - start
            at = stop
    return length


@dataclasses.dataclass
class Window:
    begin: int
    end: int
    steps: list  # (begin, end) of each that was recorded
    step_tid: int


class Truth:
    """One process in its window."""

    def __init__(self, truth_path, notes_path, window):
        self.window = window
        self.notes = read_notes(notes_path)
        self.all_work, self.told_since = read_truth(truth_path, window.begin, window.end)
        demangle(self.all_work)
        self.work, self.unsure = [], []
        for w in self.all_work:
            place = self.place(w.call) if w.call else "out"
            if place == "in":
                self.work.append(w)
            elif place == "edge" and w.end > window.begin:
                self.unsure.append(w)
        self.of_call = collections.Counter(w.correlation for w in self.all_work)
        self.begins = {tid: [n.before for n in notes] for tid, notes in self.notes.items()}

    def is_alone(self, work):
        """True if the work's call asked for nothing else, as for a graph of one node. All of the call's time belongs to
        this work then."""
        return self.of_call[work.correlation] == 1

    def place(self, span):
        """Says whether a call or a note is in the window, out of it, or at its edge."""
        begin, end = getattr(span, "before", None) or span.begin, getattr(span, "ended", None) or span.end
        if begin >= self.window.begin and end <= self.window.end:
            return "in"
        return "out" if end <= self.window.begin or begin >= self.window.end else "edge"

    def enclosing(self, call):
        """The innermost note around a call."""
        begins = self.begins.get(call.tid)
        if not begins:
            return None
        at = bisect.bisect_right(begins, call.begin) - 1
        note = self.notes[call.tid][at] if at >= 0 else None
        while note and note.ended < call.end:
            note = note.parent
        return note

    def check_steps(self):
        """Checks that each recorded step opens at one of the job's, one after the other. Returns the first one's
        number."""
        steps = [n for n in self.notes[self.window.step_tid] if n.kind == "step"]
        begins = [n.before for n in steps]
        numbers = []
        for begin, end in self.window.steps:
            for edge in begin, end:
                note = steps[bisect.bisect_right(begins, edge) - 1]
                assert note.before <= edge <= note.begun, f"a step at {edge}, where the job begins none"
                numbers.append(note.number)
        firsts, lasts = numbers[::2], numbers[1::2]
        assert lasts == [n + 1 for n in firsts] and firsts == list(range(firsts[0], firsts[0] + len(firsts))), numbers
        return firsts[0]

    @property
    def total_ns(self):
        return sum(end - begin for begin, end in self.window.steps)

    # ---- owner time: of what was launched, wherever it ran ----

    def kernels(self, by_stream=False):
        return self._by(lambda w: w.kind == "kernel",
                        lambda w: (f"GPU{w.dev} stream {w.stream}", w.name) if by_stream else w.name)

    def manipulations(self):
        return self._by(lambda w: w.kind != "kernel", lambda w: "memset" if w.kind == "memset" else w.name)

    def _by(self, is_wanted, key):
        """key: [sure work, unsure work]"""
        rows = collections.defaultdict(lambda: ([], []))
        for unsure, work in enumerate((self.work, self.unsure)):
            for w in work:
                if is_wanted(w):
                    rows[key(w)][unsure].append(w)
        return rows

    def is_cut_beside(self, note):
        """True if an operator around this note began before the window. proftrace does not see that operator."""
        while note:
            note = note.parent
            if note and note.kind == "operator" and note.before < self.window.begin:
                return True
        return False

    def owners(self, kind):
        """Totals of operators or ranges: (is it inside another one, its name): Owned"""
        owned = {}
        rows = collections.defaultdict(Owned)
        for notes in self.notes.values():
            for note in notes:
                if note.kind not in kind:
                    continue
                place = self.place(note)
                if place == "out":
                    continue
                owned[id(note)] = one = Owning(note, place == "in" and not self.is_cut_beside(note))
                inside = is_inside(note) if note.kind == "operator" else False
                rows[inside, note.name].calls.append(one)
                if inside and self.is_cut_beside(note):
                    rows[False, note.name].calls.append(one)
        for unsure, work in enumerate((self.work, self.unsure)):
            for w in work:
                note = self.enclosing(w.call)
                while note:
                    if id(note) in owned:
                        owned[id(note)].add(w, unsure)
                    note = note.parent
        return rows

    # ---- clock time: what ran in the steps, whoever launched it, and whenever ----

    @property
    def span(self):
        return self.window.steps[0][0], self.window.steps[-1][1]

    def ran(self, is_wanted):
        begin, end = self.span
        return [w for w in self.all_work if w.begin < end and w.end > begin and is_wanted(w)]

    def busy(self, is_wanted):
        """The union within the steps."""
        return union([(w.begin, w.end) for w in self.ran(is_wanted)], *self.span)

    def is_blind(self, is_wanted):
        """True if some of the wanted work was launched before CUPTI started to report. Only the truth log has it
        then."""
        since = self.told_since
        return any(not w.call or since is None or w.call.begin < since for w in self.ran(is_wanted))


def is_inside(note):
    """Inside another operator."""
    parent = note.parent
    while parent and parent.kind != "operator":
        parent = parent.parent
    return parent is not None


@dataclasses.dataclass
class Owning:
    """One call of an operator, or one range."""
    note: Note
    whole: bool
    gpu: int = 0
    unsure_gpu: int = 0

    def add(self, work, unsure):
        if unsure:
            self.unsure_gpu += work.ns
        else:
            self.gpu += work.ns


@dataclasses.dataclass
class Owned:
    calls: list = dataclasses.field(default_factory=list)

    @property
    def sure(self):
        return all(c.whole and not c.unsure_gpu for c in self.calls)
