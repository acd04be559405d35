"""Two runtimes of CUDA in one process, as two frameworks bring them: each fills its own memory in each step, until it
is told to stop. Needs no framework.
"""
import argparse
import ctypes
import time

BYTES = (1 << 20, 1 << 19)


def buffer(runtime, size):
    at = ctypes.c_void_p()
    if runtime.cudaMalloc(ctypes.byref(at), ctypes.c_size_t(size)):
        raise MemoryError
    return at


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--log", required=True)
    parser.add_argument("runtimes", nargs=2, help="paths of libcudart")
    args = parser.parse_args()
    runtimes = [ctypes.CDLL(path) for path in args.runtimes]
    places = [(runtime, buffer(runtime, size), size) for runtime, size in zip(runtimes, BYTES)]
    with open(args.log, "a", buffering=1) as log:
        number = 0
        while True:
            for runtime, at, size in places:
                runtime.cudaMemset(at, 0, ctypes.c_size_t(size))
            runtimes[0].cudaDeviceSynchronize()
            log.write(f"step {number} 0\n")
            number += 1
            time.sleep(0.01)


if __name__ == "__main__":
    main()
