"""spawned_ranks.py FILE: two ranks of torch.multiprocessing.spawn, which are told so by an argument; the
second joins the first when FILE is there."""
import os
import sys
import time

import torch
import torch.distributed as dist
from torch import multiprocessing, nn
from torch.nn.parallel import DistributedDataParallel


def rank_main(rank, file):
    torch.set_num_threads(1)
    while rank and not os.path.exists(file):
        time.sleep(0.05)
    store = dist.TCPStore("127.0.0.1", 0, 2, True, wait_for_workers=False) if not rank else None
    port = f"{file}.port"
    if store:
        with open(f"{port}.new", "w") as out:
            out.write(str(store.port))
        os.rename(f"{port}.new", port)
    else:
        with open(port) as text:
            store = dist.TCPStore("127.0.0.1", int(text.read()), 2, False)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=2)
    model = DistributedDataParallel(nn.Linear(64, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    while True:
        optimizer.zero_grad()
        model(torch.ones(16, 64)).sum().backward()
        optimizer.step()
        time.sleep(0.005)


if __name__ == "__main__":
    multiprocessing.spawn(rank_main, (sys.argv[1],), nprocs=2)
