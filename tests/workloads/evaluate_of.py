"""Evaluates a small network with PaddlePaddle or MindSpore, in epochs of four batches; no backward pass.

An ordinary program that knows nothing of proftrace. A batch sleeps for 8 ms, an epoch's end does not. Writes
`step NUMBER NS` for each batch to the log.
"""
import argparse
import os
import time

import numpy as np

BATCH, BATCHES, WIDTH = 8, 4, 32


def sample(i):
    return np.full(WIDTH, i, "float32"), np.int32(i % 2)


class Samples:
    def __len__(self):
        return BATCH * BATCHES

    def __getitem__(self, i):
        return sample(i)


def paddle():
    import paddle

    class Dataset(Samples, paddle.io.Dataset):
        pass

    paddle.set_device("cpu")
    loader = paddle.io.DataLoader(Dataset(), batch_size=BATCH)
    return paddle.nn.Linear(WIDTH, WIDTH), lambda: loader


def mindspore():
    os.environ.setdefault("GLOG_v", "3")  # errors only
    import mindspore as ms
    import mindspore.dataset as ds

    ms.set_context(mode=ms.PYNATIVE_MODE)
    ms.set_device("CPU")
    data = ds.GeneratorDataset(Samples(), ["x", "y"], shuffle=False).batch(BATCH)
    return ms.nn.Dense(WIDTH, WIDTH), data.create_tuple_iterator


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("framework", choices=["paddle", "mindspore"])
    parser.add_argument("--log", default=os.devnull)
    args = parser.parse_args()
    net, epoch = globals()[args.framework]()
    cnt = 0
    with open(args.log, "a", buffering=1) as log:
        while True:
            for x, _ in epoch():
                begin = time.monotonic_ns()
                net(x).numpy() if args.framework == "paddle" else net(x).asnumpy()
                time.sleep(0.008)
                print("step", cnt, time.monotonic_ns() - begin, file=log)
                cnt += 1


if __name__ == "__main__":
    main()
