"""hotaru's operators against outcomes recorded from PyTorch 2.13.

The cases are in ops_*_cases.py, what PyTorch made of them in golden/ops_*.json
(see record_golden.py): values, dtypes, shapes, errors, names of nodes, first
and second gradients.
"""

from __future__ import annotations

import outcomes
import pytest

FAMILIES = (
    "ops_reduce", "ops_order", "ops_index", "ops_join", "ops_matmul",
    "ops_conv", "ops_pool", "ops_window", "ops_norm", "ops_loss", "ops_rnn",
)  # fmt: skip
DRAWS = ("ops_random",)


@pytest.mark.parametrize("golden", outcomes.parameters(FAMILIES))
def test_same_as_pytorch(hotaru, golden):
    outcomes.check(golden, hotaru)


@pytest.mark.parametrize("golden", outcomes.parameters(DRAWS))
def test_same_draws_as_pytorch(hotaru, golden):
    """Equal bit for bit; what is left is rounding in 8 digits."""
    outcomes.check(golden, hotaru, rtol=2e-7, atol=1e-12)


def test_records_are_current(oracle):
    """The stored outcomes are what an installed PyTorch does."""
    outcomes.check_records(FAMILIES + DRAWS, oracle)
