"""Measures the memory of one call of each model: eager, and as a graph.

    .venv/bin/python -m hotaru bench/memory.py

Bytes of tensors above 1 KiB, counted by the allocator. Eager: the most that a
call needs at a time beyond weights and input. Graph: what it keeps between
calls (intermediate values, result, its copy of the input; beside it weights in
another form) and what a replay adds. Prints a table.
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parent))

import models


def peak(call) -> int:
    """Bytes that a call takes at most, its result included."""
    call()
    before = torch.cpu.memory_allocated()
    torch.cpu.reset_peak_memory_stats()
    call()
    return torch.cpu.max_memory_allocated() - before


def measure(name: str) -> list[int]:
    """The figures of a model's row."""
    with torch.no_grad():
        model, inputs = models.make(name)
        eager = peak(lambda: model(*inputs))
        before = torch.cpu.memory_allocated()
        graph = torch.cpu.Graph()
        copies = [x.clone() for x in inputs]
        with torch.cpu.graph(graph):
            out = model(*copies)
        graph.replay()
        weights = graph._plan()["kept"]
        keeps = torch.cpu.memory_allocated() - before - weights
        added = peak(graph.replay)
        del out
    return [eager, keeps, weights, added]


def main() -> None:
    print("| | eager, at most | graph keeps | weights again | a replay adds |")
    print("| --- | --- | --- | --- | --- |")
    for name in models.MODELS:
        print(f"| {name} |", " | ".join(f"{n:,}" for n in measure(name)), "|")


if __name__ == "__main__":
    main()
