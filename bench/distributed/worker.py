"""One rank of a benchmark: times collectives and steps, rank 0 prints JSON.

Runs under PyTorch and hotaru alike, started by their launchers.
"""

from __future__ import annotations

import copy
import json
import statistics
import sys
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import fully_shard
from torch.nn.parallel import DistributedDataParallel

SIZES = {"4 B": 4, "4 kB": 4096, "1 MB": 1 << 20, "25 MB": 25 << 20}


class Block(nn.Module):
    """Two convolutions beside a shortcut, as in ResNet-18."""

    def __init__(self, given: int, made: int, stride: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(given, made, 3, stride, 1, bias=False),
            nn.BatchNorm2d(made),
            nn.ReLU(),
            nn.Conv2d(made, made, 3, 1, 1, bias=False),
            nn.BatchNorm2d(made),
        )
        self.shortcut = nn.Identity()
        if stride != 1 or given != made:
            self.shortcut = nn.Sequential(
                nn.Conv2d(given, made, 1, stride, bias=False), nn.BatchNorm2d(made)
            )

    def forward(self, x):
        return torch.relu(self.body(x) + self.shortcut(x))


def resnet18() -> tuple:
    """ResNet-18 and a batch of four pictures of 64 x 64."""
    layers = [
        nn.Conv2d(3, 64, 7, 2, 3, bias=False),
        nn.BatchNorm2d(64),
        nn.ReLU(),
        nn.MaxPool2d(3, 2, 1),
    ]
    given = 64
    for made in (64, 128, 256, 512):
        layers += [Block(given, made, 1 + (made > 64)), Block(made, made, 1)]
        given = made
    head = (nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 1000))
    x = torch.randn(4, 3, 64, 64)
    return nn.Sequential(*layers, *head), x, torch.randint(1000, (4,))


class SmallGPT(nn.Module):
    """Four layers of width 256 over 64 tokens."""

    def __init__(self, width: int = 256, words: int = 1000) -> None:
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.blocks = nn.ModuleList(
            nn.TransformerEncoderLayer(
                width, 8, 4 * width, 0.0, "gelu", batch_first=True, norm_first=True
            )
            for _ in range(4)
        )
        self.head = nn.Linear(width, words)
        mask = nn.Transformer.generate_square_subsequent_mask(64)
        self.register_buffer("mask", mask)

    def forward(self, x):
        y = self.embed(x)
        for block in self.blocks:
            y = block(y, src_mask=self.mask, is_causal=True)
        return self.head(y).flatten(0, 1)


def gpt() -> tuple:
    """The network and four sequences."""
    x = torch.randint(1000, (4, 64))
    return SmallGPT(), x, torch.randint(1000, (4 * 64,))


def median_us(f, seconds: float) -> float:
    """Median time of repeated calls; every rank makes equally many."""
    begin = time.perf_counter()
    for _ in range(3):
        f()
    each = (time.perf_counter() - begin) / 3
    count = torch.tensor([int(min(max(seconds / each, 5), 2000))])
    dist.broadcast(count, 0)
    times = []
    for _ in range(int(count)):
        begin = time.perf_counter()
        f()
        times.append(time.perf_counter() - begin)
    return statistics.median(times) * 1e6


def collectives(seconds: float) -> dict[str, float]:
    out = {}
    for name, size in SIZES.items():
        x = torch.zeros(size // 4)
        out[f"all_reduce {name}"] = median_us(lambda x=x: dist.all_reduce(x), seconds)
    x = torch.zeros(1 << 18)
    parts = [torch.zeros(1 << 18) for _ in range(dist.get_world_size())]
    out["broadcast 1 MB"] = median_us(lambda: dist.broadcast(x, 0), seconds)
    out["all_gather 1 MB"] = median_us(lambda: dist.all_gather(parts, x), seconds)
    out["barrier"] = median_us(dist.barrier, seconds)
    return out


def step_of(model, x, y):
    """One iteration of training."""
    optimizer = torch.optim.SGD(model.parameters(), 0.001)

    def step() -> None:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()

    return step


def sharded(net):
    """The same with parameters that the ranks share."""
    for block in net.blocks:
        fully_shard(block)
    return fully_shard(net)


def in_turns_us(tasks: dict, seconds: float) -> dict[str, float]:
    """Medians of calls that take turns, as what else a machine does changes
    from one second to the next; each until all ranks have ended it, so that
    the slower rank's computation is not taken for waiting.
    """
    for f in tasks.values():
        f()
    begin = time.perf_counter()
    for f in tasks.values():
        f()
    count = torch.tensor([int(seconds / (time.perf_counter() - begin))])
    dist.broadcast(count, 0)
    times: dict = {name: [] for name in tasks}
    for _ in range(max(int(count), 5)):
        for name, f in tasks.items():
            dist.barrier()
            begin = time.perf_counter()
            f()
            dist.barrier()
            times[name].append(time.perf_counter() - begin)
    return {name: statistics.median(t) * 1e6 for name, t in times.items()}


def steps(seconds: float) -> dict[str, float]:
    """A step with and without the other ranks, and what lies between."""
    out = {}
    for make in (resnet18, gpt):
        torch.manual_seed(0)
        net, x, y = make()
        name = f"step of {make.__name__}"
        count = sum(p.numel() for p in net.parameters())
        # As few at once as a bucket of 25 MB holds.
        gradients = torch.zeros(count).split(25 << 18)
        tasks = {
            f"{name} alone": step_of(net, x, y),
            name: step_of(DistributedDataParallel(copy.deepcopy(net)), x, y),
            f"all_reduce of {make.__name__}": lambda g=gradients: [
                dist.all_reduce(part) for part in g
            ],
        }
        out |= in_turns_us(tasks, 16 * seconds)
    net, x, y = gpt()
    out["step of gpt, fully_shard"] = median_us(
        step_of(sharded(net), x, y), 4 * seconds
    )
    return out


def main() -> None:
    seconds = float(sys.argv[1])
    dist.init_process_group("mpi" if "mpi" in sys.argv else "gloo")
    torch.set_num_threads(1)
    times = collectives(seconds)
    if "steps" in sys.argv:
        times |= steps(seconds)
    if dist.get_rank() == 0:
        print(json.dumps(times), flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
