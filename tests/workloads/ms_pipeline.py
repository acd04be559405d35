# SPDX-License-Identifier: BSD-2-Clause
"""Feeds batches through MindSpore's data pipeline: a generator, a function, batches; one of them, or
what asks for them, is slow. Logs `step NUMBER NS`, and prints what the function took per row, in ns, and
how many errors it was let raise."""
import argparse
import os
import time

os.environ.setdefault("GLOG_v", "4")

import mindspore.dataset as ds  # noqa: E402
import numpy as np  # noqa: E402
from mindspore import _c_dataengine  # noqa: E402

BATCH = 8
SLOW_S = 0.002


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--log", default=os.devnull)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--workers", type=int, default=2, help="threads of the function's")
    parser.add_argument("--slow", choices=["function", "program"], default="function")
    parser.add_argument("--errors", action="store_true", help="the function raises in each 4th row")
    parser.add_argument("--profile", metavar="DIR", help="MindSpore's own numbers of the pipeline")
    args = parser.parse_args()
    took_ns, raised = [], []

    def rows():
        for i in range(10000000):
            yield (np.full(16, i, "float32"),)

    def function(x):
        begin = time.monotonic_ns()
        if args.errors and int(x[0]) % 4 == 3:
            raised.append(1)
            raise ValueError("row")
        if args.slow == "function":
            time.sleep(SLOW_S)
        took_ns.append(time.monotonic_ns() - begin)
        return x * 2

    if args.errors:
        ds.config.set_error_samples_mode(ds.config.ErrorSamplesMode.SKIP)
    profiler = _c_dataengine.GlobalContext.profiling_manager()
    if args.profile:
        profiler.init()
        ds.config.set_monitor_sampling_interval(5)
    data = ds.GeneratorDataset(rows, ["x"], shuffle=False, num_parallel_workers=1)
    data = data.map(function, input_columns=["x"], num_parallel_workers=args.workers,
                    python_multiprocessing=False)
    data = data.batch(BATCH, num_parallel_workers=args.workers)
    iterator = data.create_tuple_iterator(num_epochs=1)
    if args.profile:
        profiler.start()
    with open(args.log, "a", buffering=1) as log:
        for cnt in range(args.steps):
            begin = time.monotonic_ns()
            (x,) = next(iterator)
            assert x.shape == (BATCH, 16), x.shape
            if args.slow == "program":
                time.sleep(SLOW_S * BATCH)
            log.write(f"step {cnt} {time.monotonic_ns() - begin}\n")
    if args.profile:
        profiler.stop()
        profiler.save(args.profile)
    print(f"row_ns={sum(took_ns) // len(took_ns)} raised={len(raised)}", flush=True)


main()
