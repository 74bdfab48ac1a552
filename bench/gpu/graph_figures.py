"""Measures CUDA graphs in one library; bench/gpu/graphs.py starts one for each.

    python -m hotaru graph_figures.py full|large|quick
    python graph_figures.py full|large|quick

A request is the name of a case, the answer a line of JSON for each figure and
an empty one at its end. What cannot be measured is a text that says why.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import sys
import warnings
from functools import partial
from pathlib import Path

import torch

# Behind this folder, which has a worker.py of its own.
sys.path.append(str(Path(__file__).resolve().parents[1]))

import graph_captures
import graph_cases
import graph_tables

SIZES = {
    "full": graph_cases.FULL,
    "large": graph_cases.LARGE,
    "quick": graph_cases.QUICK,
}
CASES = {
    "replay": graph_cases.replay,
    **{name: partial(graph_cases.inference, name) for name in graph_tables.NETWORKS},
    **{
        step: partial(graph_cases.training, *step.split(", "))
        for step in graph_tables.STEPS
    },
    "chain": graph_cases.chain,
    "moving": graph_cases.moving,
    "many": graph_captures.many,
    "loader": graph_captures.beside_a_loader,
}


def reason(error: Exception) -> str:
    """Its kind and the first line of its text."""
    return f"{type(error).__name__}: {error}".strip().splitlines()[0]


class Figure:
    """One figure of a case; once it failed it says so for good."""

    def __init__(self, prepare, error: str = "") -> None:
        self.prepare, self.turn, self.error = prepare, None, error

    def measure(self):
        """A number, several by name, or why there is none."""
        if self.error:
            return self.error
        try:
            if self.turn is None:
                self.turn = self.prepare()
            return self.turn()
        except Exception as error:
            self.error = reason(error)
            return self.error


def answers(figures: dict[str, Figure]):
    """Each figure's numbers by name."""
    for name, figure in figures.items():
        found = figure.measure()
        yield found if isinstance(found, dict) else {name: found}


def prepared(case: str, sizes) -> dict[str, Figure]:
    gc.collect()
    torch.cuda.empty_cache()
    try:
        made = CASES[case](sizes)
    except Exception as error:
        return {case: Figure(None, reason(error))}
    return {name: Figure(prepare) for name, prepare in made.items()}


def main() -> None:
    warnings.simplefilter("ignore")
    # Output of libraries must not come between answers.
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def say(value) -> None:
        with contextlib.suppress(BrokenPipeError):
            print(json.dumps(value), file=out, flush=True)

    sizes = SIZES[sys.argv[1]]
    device = torch.cuda.get_device_name()
    say({"version": torch.__version__, "device": device})
    case, figures = None, {}
    for line in sys.stdin:
        if line.strip() != case:
            figures.clear()
            case = line.strip()
            figures = prepared(case, sizes)
        for answer in answers(figures):
            say(answer)
        say({})


if __name__ == "__main__":
    main()
