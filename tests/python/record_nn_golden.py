"""Records the outcomes of all nn cases under PyTorch.

    python tests/python/record_nn_golden.py

Needs PyTorch 2.13 (CPU) and rewrites tests/python/golden/nn_*.json.
"""

from __future__ import annotations

import importlib

import outcomes
import torch

FAMILIES = (
    "nn_layer", "nn_call", "nn_base", "nn_optim", "nn_data", "nn_worker",
)  # fmt: skip


def main() -> None:
    for family in FAMILIES:
        cases = importlib.import_module(f"{family}_cases").CASES
        found = {
            name: outcomes.outcome(case, torch) for name, case in cases.items()
        }
        outcomes.store(family, found)
        print(f"{family}: {len(found)} cases")


if __name__ == "__main__":
    main()
