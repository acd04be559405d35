# SPDX-License-Identifier: BSD-2-Clause
"""Files that jobs add lines to, which tests look at again and again: each line is read once."""


class Growing:
    def __init__(self, path):
        self.path, self.seen = path, 0  # bytes

    def more(self):
        """The whole lines that are new since the last look."""
        with open(self.path, "rb") as file:
            file.seek(self.seen)
            data = file.read()
        data = data[:data.rfind(b"\n") + 1]
        self.seen += len(data)
        return data.decode(errors="replace").split("\n")[:-1]


class Count:
    """Counts the lines that begin with a given text."""

    def __init__(self, path, prefix):
        self.file, self.prefix, self.cnt = Growing(path), prefix, 0

    def look(self):
        self.cnt += sum(line.startswith(self.prefix) for line in self.file.more())
        return self.cnt
