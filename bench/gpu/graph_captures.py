"""Captures, as bench/gpu/graphs.py measures them: their time and memory, and
whether they go well beside a thread that pins memory. As graph_cases.py.
"""

from __future__ import annotations

import gc
import threading
import time
from functools import partial

import decoder
import torch
from graph_cases import MIB, Sizes, warmed_up
from torch.utils.data import DataLoader, Dataset


def many(sizes: Sizes) -> dict:
    layers, hidden, length = sizes.decoder
    most = max(sizes.batches)

    @torch.no_grad()
    def turn():
        torch.manual_seed(0)
        with torch.device("cuda"):
            model = decoder.Decoder(layers, hidden, most, length)
        model = model.eval().to(sizes.dtype)
        x = torch.zeros(most, 1, hidden, device="cuda", dtype=sizes.dtype)
        out = torch.empty_like(x)
        at = torch.tensor([length // 2], device="cuda")
        stream = torch.cuda.Stream()

        def step(batch):
            out[:batch].copy_(model(x[:batch], at))

        def capture(batch, pool):
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, pool=pool, stream=stream):
                step(batch)
            return graph

        for batch in sizes.batches:
            warmed_up(partial(step, batch), stream)
        before = memory()
        alone = capture(most, torch.cuda.graph_pool_handle())
        alone.replay()
        largest = memory()[0] - before[0]
        del alone
        before, begin = memory(), time.perf_counter()
        pool = torch.cuda.graph_pool_handle()
        # The largest first, so that the others lie where it does.
        graphs = [capture(b, pool) for b in sorted(sizes.batches)[::-1]]
        torch.cuda.synchronize()
        seconds = time.perf_counter() - begin
        for graph in graphs:
            graph.replay()
        torch.cuda.synchronize()
        replayed = time.perf_counter() - begin
        after = memory()
        return {
            "seconds": seconds,
            "replayed": replayed,
            "largest": largest / MIB,
            "all": (after[0] - before[0]) / MIB,
            "device": (after[1] - before[1]) / MIB,
        }

    return {"graphs": lambda: turn}


def memory() -> tuple[int, int]:
    """Bytes that the library holds, and that the device has given away."""
    gc.collect()
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    free, total = torch.cuda.mem_get_info()
    return torch.cuda.memory_reserved(), total - free


class Pictures(Dataset):
    """As many as anybody takes."""

    def __len__(self):
        return 1 << 30

    def __getitem__(self, i):
        return torch.full((3, 32, 32), float(i % 256))


class Capturer(threading.Thread):
    """Captures and replays until all is done or time is up."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.sizes = sizes
        self.x = torch.ones(1000, device="cuda")
        self.done = self.failures = 0
        self.reason = ""

    def run(self) -> None:
        end = time.monotonic() + self.sizes.capture_seconds
        while self.done < self.sizes.captures and time.monotonic() < end:
            self.done += 1
            try:
                self.capture()
            except Exception as error:
                self.failures += 1
                self.reason = self.reason or f"{type(error).__name__}: {error}"

    def capture(self) -> None:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            y = self.x * 2
        graph.replay()
        if not (y == 2).all().item():
            raise ValueError("a replay gave wrong numbers")


def beside_a_loader(sizes: Sizes) -> dict:
    def turn():
        capturer, batches = Capturer(sizes), 0
        loader = DataLoader(Pictures(), batch_size=16, num_workers=1, pin_memory=True)
        try:
            for batch in loader:
                # Only once memory is being pinned.
                if not batches:
                    capturer.start()
                batches += 1
                batch.cuda(non_blocking=True)
                if not capturer.is_alive():
                    break
        except Exception as error:
            if not batches:
                raise
            found = {"loader": f"{type(error).__name__}: {error}"}
        else:
            found = {}
        capturer.join()
        found |= {
            "captures": capturer.done,
            "failures": capturer.failures,
            "batches": batches,
        }
        if capturer.reason:
            found["first failure"] = capturer.reason
        return found

    return {"captures": lambda: turn}
