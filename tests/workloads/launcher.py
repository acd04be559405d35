"""Starts the processes of a job with several ranks, each with its own environment. Ranks train until they are killed
and write `step NUMBER` to the log."""
import argparse
import os
import socket
import subprocess
import sys


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def launch(environments):
    children = [subprocess.Popen([sys.executable, *sys.argv], env=dict(os.environ, **environment))
                for environment in environments]
    for child in children:
        child.wait()


def train(log_path, rank, step):
    cnt = 0
    with open(f"{log_path}.{rank}", "w", buffering=1) as log:
        while True:
            step()
            log.write(f"step {cnt}\n")
            cnt += 1


def main(description, variable, environments, training):
    """Launches the ranks, or trains if the environment variable shows that this process is a rank. training() then gets
    the rank and what a step is."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--log", default=os.devnull)
    parser.add_argument("--without", metavar="VARIABLE", help="which no process is given")
    args = parser.parse_args()
    if variable in os.environ:
        train(args.log, *training())
    else:
        launch([{name: value for name, value in environment.items() if name != args.without}
                for environment in environments()])
