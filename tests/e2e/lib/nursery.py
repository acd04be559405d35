# SPDX-License-Identifier: BSD-2-Clause
"""Imports torch once and forks a job for each request, since importing takes seconds on a busy
machine. A request is a line of JSON on standard input, {argv, cwd, out, err}; the answer the job's
process id. The job's parent ends at once, so that the job belongs to the test runner (a subreaper),
which waits for it as for a child of its own."""
import json
import os
import runpy
import sys
import traceback

import torch  # noqa: F401  what the jobs are not to wait for
import torch.utils.data  # noqa: F401


def become(request):
    """Turns this process into the job: a session, a directory and descriptors of its own."""
    os.setsid()
    os.chdir(request["cwd"])
    null = os.open(os.devnull, os.O_RDONLY)
    out = os.open(request["out"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    err = os.open(request["err"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    for fd, target in ((null, 0), (out, 1), (err, 2)):
        os.dup2(fd, target)
    os.closerange(3, 256)
    sys.stdin, sys.stdout, sys.stderr = (os.fdopen(os.dup(fd), mode, 1)
                                         for fd, mode in ((0, "r"), (1, "w"), (2, "w")))
    sys.argv = request["argv"]
    sys.path[0] = os.path.dirname(sys.argv[0])


def run(request):
    status = 0
    try:
        become(request)
        runpy.run_path(sys.argv[0], run_name="__main__")
    except SystemExit as ended:
        status = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def spawn(request):
    read_fd, write_fd = os.pipe()
    middle = os.fork()
    if not middle:
        job = os.fork()
        if not job:
            os.close(read_fd)
            os.close(write_fd)
            run(request)
        os.write(write_fd, str(job).encode())
        os._exit(0)
    os.close(write_fd)
    os.waitpid(middle, 0)
    pid = os.read(read_fd, 32)
    os.close(read_fd)
    return int(pid)


print("ready", flush=True)
for line in sys.stdin:
    print(spawn(json.loads(line)), flush=True)
