"""Times a library on a CUDA device; one line of JSON, a figure by name.

    python worker.py hotaru|torch

Times are medians. Bandwidths count bytes read and written. The same statements
for both libraries; gpu_run.sh runs them in turns.
"""

from __future__ import annotations

import importlib
import json
import statistics
import sys
import time

import compute


def host_ns(torch, statement, calls=2000, rounds=15) -> float:
    """Time that the caller needs for a statement, the device kept short of
    work by a synchronisation between rounds.
    """
    for _ in range(200):
        statement()
    torch.cuda.synchronize()
    times = []
    for _ in range(rounds):
        begin = time.perf_counter_ns()
        for _ in range(calls):
            statement()
        times.append((time.perf_counter_ns() - begin) / calls)
        torch.cuda.synchronize()
    return statistics.median(times)


def device_ms(torch, statement, rounds=20) -> float:
    """Time on the device, between two events."""
    for _ in range(3):
        statement()
    times = []
    for _ in range(rounds):
        begin = torch.cuda.Event(enable_timing=True)
        end = torch.cuda.Event(enable_timing=True)
        begin.record()
        statement()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end))
    return statistics.median(times)


def bandwidths(torch, numbers, size) -> None:
    """Copies, elementwise operators and sums over `size` bytes an operand."""
    for name, item in (("float32", 4), ("bfloat16", 2)):
        dtype = getattr(torch, name)
        x = torch.ones(size // item, device="cuda", dtype=dtype)
        y, out = torch.ones_like(x), torch.empty_like(x)

        def put(what, operands, statement, name=name):
            ms = device_ms(torch, statement)
            numbers[f"{what} {name} TB/s"] = operands * size / ms / 1e9

        put("copy", 2, lambda out=out, x=x: out.copy_(x))
        put("add", 3, lambda out=out, x=x, y=y: torch.add(x, y, out=out))
        put("mul", 3, lambda out=out, x=x, y=y: torch.mul(x, y, out=out))
        put("exp", 2, lambda out=out, x=x: torch.exp(x, out=out))
        put("sum", 1, lambda x=x: x.sum())


def transfers(torch, numbers, size) -> None:
    """Pinned copies in both directions."""
    host = torch.ones(size // 4).pin_memory()
    device = torch.ones(size // 4, device="cuda")
    up = device_ms(torch, lambda: device.copy_(host, non_blocking=True))
    down = device_ms(torch, lambda: host.copy_(device, non_blocking=True))
    numbers["to device GB/s"] = size / up / 1e6
    numbers["to host GB/s"] = size / down / 1e6


def networks(torch, numbers, calls) -> None:
    """Time of a call among many of small networks at batch 1, eager."""
    nn = torch.nn
    mlp = nn.Sequential(
        nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10)
    )
    cnn = nn.Sequential(
        nn.Conv2d(1, 8, 3),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(8, 16, 3),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(16 * 11 * 11, 10),
    )
    for name, model, shape in (
        ("MLP", mlp, (1, 784)),
        ("CNN", cnn, (1, 1, 28, 28)),
        ("LSTM(128) step", nn.LSTM(128, 128), (1, 1, 128)),
    ):
        model = model.cuda().eval()
        x = torch.randn(shape, device="cuda")

        def call(model=model, x=x):
            with torch.no_grad():
                model(x)

        def step(model=model, x=x):
            out = model(x)
            out = out if isinstance(out, torch.Tensor) else out[0]
            out.sum().backward()

        numbers[f"{name} us"] = wall_us(torch, call, calls)
        model.train()
        numbers[f"{name} and gradients us"] = wall_us(torch, step, calls)


def wall_us(torch, statement, calls) -> float:
    """Time of a call, from one synchronisation to the next."""
    times = []
    for _ in range(5):
        begin = time.perf_counter()
        for _ in range(max(calls // 10, 1)):
            statement()
        torch.cuda.synchronize()
        times.append((time.perf_counter() - begin) / max(calls // 10, 1) * 1e6)
    return statistics.median(times[1:])


def main() -> None:
    begin = time.perf_counter()
    torch = importlib.import_module(sys.argv[1])
    imported = time.perf_counter()
    torch.ones(3, device="cuda").sum().item()
    first = time.perf_counter()
    soft = "soft" in torch.cuda.get_device_name()
    size = 1 << (16 if soft else 28)
    calls = 50 if soft else 2000
    numbers = {
        "import ms": (imported - begin) * 1e3,
        "first result ms": (first - imported) * 1e3,
    }
    x = torch.ones(4, device="cuda")
    numbers["add of 4 floats ns"] = host_ns(torch, lambda: x + x, calls)
    numbers["empty and free ns"] = host_ns(
        torch, lambda: torch.empty(4, device="cuda"), calls
    )
    bandwidths(torch, numbers, size)
    transfers(torch, numbers, size)
    networks(torch, numbers, calls)
    compute.measure(torch, numbers, soft, device_ms)
    print(json.dumps(numbers))


if __name__ == "__main__":
    main()
