"""How long a call takes, and what processes that measure have in common."""

from __future__ import annotations

import json
import statistics
import sys
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


def serve(hello, answer):
    """Says hello, then answers each line of standard input with one: what
    `answer` gives, or the text of an error.
    """
    print(json.dumps(hello), flush=True)
    # Output of a library goes where it breaks no answer.
    answers, sys.stdout = sys.stdout, sys.stderr
    for line in sys.stdin:
        try:
            result = answer(json.loads(line))
        except Exception as error:
            text = f"{type(error).__name__}: {error}".strip()
            result = {"error": text.partition("\n")[0][:300]}
        print(json.dumps(result), file=answers, flush=True)
