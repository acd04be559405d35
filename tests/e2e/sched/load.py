# SPDX-License-Identifier: BSD-2-Clause
"""A running load.c: threads of known behaviour."""
import os
import subprocess

LOAD = os.environ["LOAD"]


class Load:
    def __init__(self, *words, seconds=60):
        self.process = subprocess.Popen([LOAD, str(seconds), *words], stdout=subprocess.PIPE, text=True)
        self.process.stdout.readline()
        self.pid = self.process.pid

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
