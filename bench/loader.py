"""Measures DataLoader beside PyTorch: batches from two workers, in one run.

    .venv/bin/python bench/loader.py --peer .venv-peers/bin/python

The two libraries take turns, round by round, in processes of their own that
run this very file. The consumer copies each batch out, as a training step or a
GPU would, so that the memory is read. Figures are medians over the rounds;
ratios are those of the rounds (hotaru's throughput over PyTorch's).
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

# Shape of a sample, samples a batch, batches, whether batches are kept.
TASKS = {
    "images 3x224x224, 32 a batch": ((3, 224, 224), 32, 60, False),
    "the same, every batch kept": ((3, 224, 224), 32, 40, True),
    "vectors of 1000, 256 a batch": ((1000,), 256, 400, False),
    "images 1x28x28, 64 a batch": ((1, 28, 28), 64, 400, False),
}
# Seconds in place of MB/s: the name, and how it is printed.
OVERHEAD = "a batch of one number"
FIRST = "first batch"
TIMES = {OVERHEAD: (1e6, "µs"), FIRST: (1e3, "ms")}


def measure(workers: int) -> dict:
    """MB/s of each task, seconds of the rest."""
    import numpy as np
    import torch
    from torch.utils.data import DataLoader, Dataset

    class Samples(Dataset):
        def __init__(self, shape, count):
            self.rows = torch.rand(64, *shape)
            self.count = count

        def __len__(self):
            return self.count

        def __getitem__(self, i):
            return self.rows[i % 64], i

    found = {}
    for name, (shape, size, batches, keep) in TASKS.items():
        samples = Samples(shape, size * batches)
        out = np.empty((size, *shape), np.float32)
        start = time.perf_counter()
        kept = []
        begin = first = None
        for batch, _ in DataLoader(samples, size, num_workers=workers):
            np.copyto(out, batch.numpy())
            if keep:
                kept.append(batch)
            if begin is None:  # the start of the workers is measured apart
                begin = time.perf_counter()
                first = begin - start
        seconds = time.perf_counter() - begin
        found[name] = out.nbytes * (batches - 1) / seconds / 1e6
        found[FIRST] = min(first, found.get(FIRST, first))
        kept.clear()
    batches = iter(DataLoader(range(5000), 1, num_workers=workers))
    next(batches)
    start = time.perf_counter()
    count = sum(1 for _ in batches)
    found[OVERHEAD] = (time.perf_counter() - start) / count
    return found


def run(command: list[str], workers: int) -> dict:
    """One round in a process of its own."""
    done = subprocess.run(
        [*command, __file__, "--measure", "--workers", str(workers)],
        stdout=subprocess.PIPE,
        check=True,
        env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"},
    )
    return json.loads(done.stdout)


def main() -> None:
    """Takes turns and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer", type=Path, help="python that has PyTorch")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--measure", action="store_true")
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(options.workers)))
        return
    commands = [[sys.executable, "-m", "hotaru"]]
    if options.peer:
        commands.append([str(options.peer)])
    rounds = []
    for number in range(options.rounds):
        turn = list(enumerate(commands))
        if number % 2:  # who goes first changes
            turn.reverse()
        found = {i: run(command, options.workers) for i, command in turn}
        rounds.append([found[i] for i in range(len(commands))])
    print(f"{options.workers} workers | hotaru | PyTorch | ratio")
    for name in [*TASKS, *TIMES]:
        values = [[one[name] for one in found] for found in rounds]
        columns = [statistics.median(column) for column in zip(*values)]
        scale, unit = TIMES.get(name, (1, "MB/s"))
        texts = [f"{column * scale:.3g} {unit}" for column in columns]
        if len(columns) == 2:
            ratios = [ours / theirs for ours, theirs in values]
            ratio = statistics.median(ratios)
            texts.append(f"{1 / ratio if name in TIMES else ratio:.2f}")
        print(f"{name} | " + " | ".join(texts))


if __name__ == "__main__":
    main()
