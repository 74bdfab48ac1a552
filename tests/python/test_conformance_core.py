"""Tensors, dtypes, views and autograd against PyTorch 2.13.

The cases are in core_*_cases.py, what PyTorch made of them in
golden/core_*.json (see record_golden.py): values, dtypes, strides, gradients,
exceptions with their texts, warnings.
"""

from __future__ import annotations

import outcomes
import pytest

FAMILIES = ("core_dtype", "core_view", "core_autograd")

# What hotaru lacks or words otherwise.
DIFFERS = outcomes.listed("core_differs.txt")


@pytest.mark.parametrize("golden", outcomes.parameters(FAMILIES, DIFFERS))
def test_same_as_pytorch(hotaru, golden):
    outcomes.check(golden, hotaru)


def test_records_are_current(oracle):
    """The stored outcomes are what an installed PyTorch does."""
    outcomes.check_records(FAMILIES, oracle)
