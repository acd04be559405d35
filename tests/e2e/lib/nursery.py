# SPDX-License-Identifier: BSD-2-Clause
"""nursery.py MODULE...: imports them once and forks a job for each request, since importing takes seconds
on a busy machine. A request is a line of JSON on standard input, {argv, cwd, out, err, env}; the answer the
job's process id. The job's parent ends at once, so that the job belongs to the test runner (a subreaper),
which waits for it as for a child of its own."""
import importlib
import json
import os
import sys
import types


def become(request):
    """Turns this process into the job, with its own session, directory, environment and descriptors."""
    os.setsid()
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    null = os.open(os.devnull, os.O_RDONLY)
    out = os.open(request["out"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    err = os.open(request["err"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    for fd, target in ((null, 0), (out, 1), (err, 2)):
        os.dup2(fd, target)
    answers.close()  # closed by its object: since 3.13 an interpreter complains otherwise
    os.closerange(3, 256)
    sys.stdin, sys.stdout, sys.stderr = (os.fdopen(os.dup(fd), mode, 1)
                                         for fd, mode in ((0, "r"), (1, "w"), (2, "w")))
    sys.argv = request["argv"]
    sys.path[0] = os.path.dirname(sys.argv[0])


def run(request):
    """Runs a program to its end, as the interpreter does."""
    become(request)
    path = sys.argv[0]
    main = sys.modules["__main__"] = types.ModuleType("__main__")
    main.__file__ = path
    with open(path, encoding="utf-8") as source:
        exec(compile(source.read(), path, "exec"), main.__dict__)
    sys.exit()


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


answers = os.fdopen(os.dup(1), "w", buffering=1)
os.dup2(2, 1)  # modules may print something themselves
for module in sys.argv[1:]:
    try:
        importlib.import_module(module)
    except ModuleNotFoundError:  # other versions lack the module
        pass
print("ready", file=answers)
for line in sys.stdin:
    print(spawn(json.loads(line)), file=answers)
