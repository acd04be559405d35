"""Reads truth logs and the observer's log. tests/simgpu/README.md describes the columns."""
import collections
import glob

ACTIVITIES = ("kernel", "memcpy", "memset")


def read(prefix):
    """The rows of every process's log, as dictionaries."""
    rows = []
    for path in sorted(glob.glob(prefix + ".*")):
        with open(path) as f:
            columns = f.readline().rstrip("\n").split("\t")
            rows += [dict(zip(columns, line.rstrip("\n").split("\t")), file=path) for line in f]
    return rows


def activities(rows):
    return [r for r in rows if r["kind"] in ACTIVITIES]


def counts(rows):
    return collections.Counter(r["kind"] for r in activities(rows))


def observed(prefix):
    """Returns a CUPTI client's events in the truth log's form: a sorted list of tuples."""
    out = []
    for path in glob.glob(prefix + ".*"):
        with open(path) as f:
            out += [tuple(line.split("\t")[:9]) for line in f
                    if line.split("\t")[0] in ACTIVITIES]
    return sorted(out)


def as_observed(rows):
    return sorted(tuple(r[c] for c in ("kind", "dev", "stream", "start_ns", "end_ns", "correlation",
                                       "bytes", "graph", "name")) for r in activities(rows))
