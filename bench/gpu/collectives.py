"""NCCL with one rank: the host's time of a call, and of a step of DDP.

`collectives.py hotaru|torch`; a line of JSON for each figure. One rank moves
nothing: what is measured is the way to the library.
"""

from __future__ import annotations

import importlib
import json
import statistics
import sys
import time

NAME = sys.argv[1]
torch = importlib.import_module(NAME)
dist = importlib.import_module(f"{NAME}.distributed")
CALLS = 200


def told(what: str, **figures) -> None:
    print(json.dumps({"name": NAME, "what": what, **figures}), flush=True)


def per_call(f) -> float:
    """Microseconds, the median of rounds."""
    for _ in range(10):
        f()
    torch.cuda.synchronize()
    rounds = []
    for _ in range(7):
        begin = time.perf_counter()
        for _ in range(CALLS):
            f()
        torch.cuda.synchronize()
        rounds.append((time.perf_counter() - begin) / CALLS * 1e6)
    return round(statistics.median(rounds), 2)


def calls(count: int) -> dict[str, float]:
    """Microseconds of each call, of a tensor with so many elements."""
    x = torch.ones(count, device="cuda")
    out = torch.empty_like(x)
    return {
        "all_reduce": per_call(lambda: dist.all_reduce(x)),
        "asynchronous": per_call(lambda: dist.all_reduce(x, async_op=True).wait()),
        "all_gather": per_call(lambda: dist.all_gather_into_tensor(out, x)),
    }


def main() -> None:
    dist.init_process_group(
        "nccl",
        store=dist.HashStore(),
        rank=0,
        world_size=1,
        device_id=torch.device("cuda", 0),
    )
    told("version", nccl=list(torch.cuda.nccl.version()))
    for count in (1, 1 << 10, 1 << 18, 25 << 18):
        told("us of a call", bytes=4 * count, **calls(count))
    nn = torch.nn
    layers = [m for _ in range(8) for m in (nn.Linear(256, 256), nn.ReLU())]
    model = nn.Sequential(*layers).cuda()
    parallel = nn.parallel.DistributedDataParallel(model, device_ids=[0])
    x = torch.randn(32, 256, device="cuda")

    def step(net) -> None:
        model.zero_grad()
        net(x).sum().backward()

    told(
        "us of a step",
        alone=per_call(lambda: step(model)),
        parallel=per_call(lambda: step(parallel)),
    )
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
