"""Mixed precision against outcomes recorded from PyTorch 2.13.

The cases are in amp_*_cases.py: of every operator of the CPU's lists the dtypes
and values of its results, and what scopes, decorators and the scaler do.
"""

from __future__ import annotations

import outcomes

FAMILIES = ("amp_autocast", "amp_scope")

# Sums of 16-bit products are rounded in another order; dtypes are equal.
test_same_as_pytorch = outcomes.same_as_pytorch(FAMILIES, rtol=2e-2, atol=2e-2)


def test_records_are_current(oracle):
    outcomes.check_records(FAMILIES, oracle)
