"""One process of an MXNet job with a distributed key-value store: it starts the scheduler, a server and
two workers below itself, as dmlc's tracker does, with its environment. DEVICE=gpu: each on a device of its own.
SLOW_RANK=N: that worker sleeps 20 ms in each step."""
import os
import time

import launcher


def environments():
    common = {"DMLC_PS_ROOT_URI": "127.0.0.1", "DMLC_PS_ROOT_PORT": str(launcher.free_port()),
              "DMLC_NUM_SERVER": "1", "DMLC_NUM_WORKER": "2"}
    roles = [("scheduler", 0), ("server", 0), ("worker", 0), ("worker", 1)]
    return [{**common, "DMLC_ROLE": role, "DMLC_TASK_ID": str(number)} for role, number in roles]


def training():
    import mxnet as mx  # a scheduler and a server do their work in here, and end
    from mxnet import autograd, gluon, nd

    store = mx.kv.create("dist_sync")
    network = gluon.nn.Sequential()
    network.add(gluon.nn.Dense(64, activation="relu"), gluon.nn.Dense(10))
    device = mx.gpu(store.rank) if os.environ.get("DEVICE") == "gpu" else mx.cpu()
    slow = os.environ.get("SLOW_RANK") == str(store.rank)
    network.initialize(ctx=device)
    trainer = gluon.Trainer(network.collect_params(), "sgd", {"learning_rate": 0.01}, kvstore=store,
                            update_on_kvstore=True)
    loss_of = gluon.loss.L2Loss()
    x, y = nd.ones((8, 32), ctx=device), nd.ones((8, 10), ctx=device)

    def step():
        if slow:
            time.sleep(0.02)
        with autograd.record():
            loss = loss_of(network(x), y)
        loss.backward()
        trainer.step(8)
        loss.mean().asscalar()

    return store.rank, step


if __name__ == "__main__":
    launcher.main(__doc__, "DMLC_ROLE", environments, training)
