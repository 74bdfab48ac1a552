"""Records the outcomes of the core's cases under PyTorch.

    python tests/python/record_core_golden.py

Needs PyTorch 2.13 (CPU) and rewrites tests/python/golden/core_*.json.
"""

from __future__ import annotations

import importlib

import outcomes
import torch
from test_conformance_core import FAMILIES


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
