"""Runs a predictor of paddle.inference until it is told to stop.

An ordinary program that knows nothing of proftrace. Its network repeats one block of layers, so operators
have a period within a run. Writes `step NUMBER NS` for each run to the log.
"""
import argparse
import os
import time

import numpy as np
import paddle
from paddle import inference, nn

BATCH, WIDTH, SIZE, BLOCKS = 4, 16, 32, 8


def saved():
    paddle.set_device("cpu")
    layers = [nn.Conv2D(WIDTH, WIDTH, 3, padding=1) for _ in range(BLOCKS)]
    net = nn.Sequential(*(part for layer in layers for part in (layer, nn.Sigmoid(), nn.MaxPool2D(3, 1, 1))))
    net.eval()
    spec = paddle.static.InputSpec([BATCH, WIDTH, SIZE, SIZE], "float32")
    paddle.jit.save(paddle.jit.to_static(net, input_spec=[spec]), "predicted")
    return "predicted" + (".json" if os.path.exists("predicted.json") else ".pdmodel")


def predictor():
    config = inference.Config(saved(), "predicted.pdiparams")
    config.disable_gpu()
    return inference.create_predictor(config)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--log", default=os.devnull)
    args = parser.parse_args()
    run = predictor()
    source = run.get_input_handle(run.get_input_names()[0])
    result = run.get_output_handle(run.get_output_names()[0])
    batch = np.random.rand(BATCH, WIDTH, SIZE, SIZE).astype("float32")
    cnt = 0
    with open(args.log, "a", buffering=1) as log:
        while True:
            begin = time.monotonic_ns()
            source.copy_from_cpu(batch)
            run.run()
            result.copy_to_cpu()
            print("step", cnt, time.monotonic_ns() - begin, file=log)
            cnt += 1


if __name__ == "__main__":
    main()
