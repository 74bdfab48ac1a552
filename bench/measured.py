"""How long a call takes."""

from __future__ import annotations

import statistics
import time

FIRST = 0.1  # a call that takes as long needs none before it


def measure(run, seconds):
    """Median seconds of a call, after one that warms the caches."""
    begin = time.perf_counter()
    run()
    first = time.perf_counter() - begin
    if first > FIRST:
        return first
    loops = max(1, round(2e-4 / first))
    samples, left = [], seconds
    while left > 0:
        begin = time.perf_counter()
        for _ in range(loops):
            run()
        taken = time.perf_counter() - begin
        samples.append(taken / loops)
        left -= taken
    return statistics.median(samples)
