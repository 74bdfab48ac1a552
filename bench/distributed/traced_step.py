"""One rank: profiles a data-parallel step into FOLDER/RANK.json.

Started by a launcher; for plot_overlap.py.
"""

from __future__ import annotations

import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.profiler import profile


def main() -> None:
    dist.init_process_group("gloo")
    torch.set_num_threads(1)
    torch.manual_seed(0)
    layers = [m for _ in range(8) for m in (nn.Linear(700, 700), nn.ReLU())]
    net = DistributedDataParallel(nn.Sequential(*layers), bucket_cap_mb=4)
    optimizer = torch.optim.SGD(net.parameters(), 0.01, momentum=0.9)
    x = torch.randn(512, 700)

    def step() -> None:
        optimizer.zero_grad()
        net(x).square().mean().backward()
        optimizer.step()

    for _ in range(5):
        step()
    dist.barrier()
    with profile() as prof:
        step()
    prof.export_chrome_trace(f"{sys.argv[1]}/{dist.get_rank()}.json")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
