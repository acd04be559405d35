"""What CUPTI told a job's observer, in words that compare between machines."""
import collections
import pathlib

CALLS = ("runtime", "driver")
NO_STREAM = str(2**32 - 1)
# What a call under capture makes a node of.
NODES = {"LaunchKernel": "kernel", "Memset": "memset", "Memcpy": "memcpy"}

Row = collections.namedtuple("Row", "kind dev stream start end id bytes graph name details place")


class Job:
    """Its calls in the order of their begins, what the device did for each, what was captured."""

    def __init__(self, directory, name):
        path, = pathlib.Path(directory).glob(f"{name}.*")
        lines = [line.split("\t") for line in path.read_text().splitlines()]
        rows = [Row(*line[:3], int(line[3]), int(line[4]), *line[5:9], line[9:], place)
                for place, line in enumerate(lines) if len(line) > 3]
        self.callbacks, = (line[1:] for line in lines if line[0] == "callbacks")
        self.calls = sorted((r for r in rows if r.kind in CALLS), key=lambda r: r.start)
        self.caused = collections.defaultdict(list)
        for r in rows:
            if r.kind not in CALLS:
                self.caused[r.id].append(r)
        if not self.caused:
            raise SystemExit(f"{name}: no call had an activity: nothing was observed")
        self.captured = set(self.under_capture())
        self.nodes = [kind for call in self.calls if call.id in self.captured
                      for part, kind in NODES.items() if part in call.name]

    def under_capture(self):
        capturing = False
        for call in self.calls:
            capturing = capturing and "StreamEndCapture" not in call.name
            if capturing:
                yield call.id
            capturing = capturing or "StreamBeginCapture" in call.name

    def function(self, call):
        within = " under capture" if call.id in self.captured else ""
        failed = [f" that {details}" for details in call.details if details != "returns 0"]
        return "".join([call.kind, " ", call.name, within, *failed])

    def tells(self, call):
        """A call's activities in a few words, whichever the stream."""
        did = sorted(self.caused.get(call.id, []), key=lambda r: r.start)
        if did and all(r.graph != "0" for r in did):
            return self.tells_of_graph(call, did)
        cnts = collections.Counter(f"{kind_of(r)} {stream_of(r)}{oddities(call, r)}" for r in did)
        return ", ".join(f"{cnt} x {what}" for what, cnt in sorted(cnts.items())) or "nothing"

    def tells_of_graph(self, call, did):
        kinds = [r.kind for r in did]
        alone = all(a.end <= b.start for a, b in zip(did, did[1:]))
        where = {f"of graph {r.graph}, on stream {r.stream}{oddities(call, r)}" for r in did}
        return ", ".join(["what was captured" if kinds == self.nodes else f"not captured: {kinds}",
                          "one after the other" if alone else "at once", *sorted(where)])

    def orphans(self):
        calls = {call.id for call in self.calls}
        return sum(len(did) for cause, did in self.caused.items() if cause not in calls)

    def are_numbered(self):
        return sorted(int(call.id) for call in self.calls) == [*range(1, len(self.calls) + 1)]

    def nests(self):
        """A driver call that lies within a runtime call."""
        runtime = None
        for call in self.calls:
            if call.kind == "runtime":
                runtime = call
            elif runtime and call.end <= runtime.end:
                return True
        return False

    def are_called_back(self):
        cnt = sum(call.kind == "runtime" for call in self.calls)
        return self.callbacks == [str(cnt)] * 2

    def waits(self):
        return [r.stream for call in self.calls if "StreamWaitEvent" in call.name
                for r in self.caused.get(call.id, []) if r.kind == "sync"]


def kind_of(row):
    return f"memcpy {row.name}" if row.kind == "memcpy" else row.kind


def stream_of(row):
    return "on no stream" if row.stream == NO_STREAM else "on a stream"


def oddities(call, row):
    """What was never seen on hardware."""
    out = []
    if not call.start <= row.start <= row.end:
        out.append("without times, or those before the call's")
    if row.kind == "sync" and row.end > call.end:
        out.append("ends after the call")
    if row.place > call.place:
        out.append("comes after the call's record")
    return "".join(f", {what}" for what in out)


def facts(jobs):
    """What must be alike: by function, or what else it is of, all that was told, counted."""
    out = collections.defaultdict(collections.Counter)
    for name, job in jobs.items():
        for call in job.calls:
            function = job.function(call)
            out[function][job.tells(call)] += 1
            for row in job.caused.get(call.id, []):
                for details in row.details:
                    out[f"{function}: {kind_of(row)}"][details] += 1
        for what, told in (
                ("activities of no call", str(job.orphans())),
                ("correlation ids", "1, 2, 3..." if job.are_numbered() else "others"),
                ("driver calls within runtime calls", "told" if job.nests() else "untold"),
                ("callbacks", "two per runtime call" if job.are_called_back() else "others"),
                ("streams that wait", " ".join(job.waits()))):
            out[f"{name}: {what}"][told or "none"] += 1
    return out
