"""Records the outcomes of all operator cases under PyTorch.

    python tests/python/record_ops_golden.py

Needs PyTorch 2.13 (CPU) and rewrites tests/python/golden/ops_*.json.
"""

from __future__ import annotations

import importlib

import outcomes
import torch

FAMILIES = (
    "ops_reduce", "ops_order", "ops_index", "ops_join", "ops_random",
    "ops_matmul", "ops_conv", "ops_pool", "ops_window", "ops_norm", "ops_loss",
    "ops_rnn",
)  # fmt: skip


def main() -> None:
    torch.set_num_threads(1)
    for family in FAMILIES:
        cases = importlib.import_module(f"{family}_cases").CASES
        found = {
            name: outcomes.outcome(case, torch) for name, case in cases.items()
        }
        outcomes.store(family, found)
        print(f"{family}: {len(found)} cases")


if __name__ == "__main__":
    main()
