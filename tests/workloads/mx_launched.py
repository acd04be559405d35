"""One process of an MXNet job with a distributed key-value store: `mx_launched.py` starts the
scheduler, a server and two workers below itself, as dmlc's tracker does, with its environment. Workers
train until they are killed and write `step NUMBER` to the log."""
import argparse
import os
import socket
import subprocess
import sys


def launch():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    env = dict(os.environ, DMLC_PS_ROOT_URI="127.0.0.1", DMLC_PS_ROOT_PORT=str(port),
               DMLC_NUM_SERVER="1", DMLC_NUM_WORKER="2")
    roles = [("scheduler", 0), ("server", 0), ("worker", 0), ("worker", 1)]
    children = [subprocess.Popen([sys.executable, *sys.argv],
                                 env=dict(env, DMLC_ROLE=role, DMLC_TASK_ID=str(number)))
                for role, number in roles]
    for child in children:
        child.wait()


def train(log_path):
    import mxnet as mx  # a scheduler and a server do their work in here, and end
    from mxnet import autograd, gluon, nd

    store = mx.kv.create("dist_sync")
    network = gluon.nn.Sequential()
    network.add(gluon.nn.Dense(64, activation="relu"), gluon.nn.Dense(10))
    network.initialize()
    trainer = gluon.Trainer(network.collect_params(), "sgd", {"learning_rate": 0.01}, kvstore=store,
                            update_on_kvstore=True)
    loss_of = gluon.loss.L2Loss()
    x, y = nd.ones((8, 32)), nd.ones((8, 10))
    with open(f"{log_path}.{store.rank}", "w", buffering=1) as log:
        step = 0
        while True:
            with autograd.record():
                loss = loss_of(network(x), y)
            loss.backward()
            trainer.step(8)
            loss.mean().asscalar()
            log.write(f"step {step}\n")
            step += 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--log", default=os.devnull)
    args = parser.parse_args()
    if "DMLC_ROLE" in os.environ:
        train(args.log)
    else:
        launch()


if __name__ == "__main__":
    main()
