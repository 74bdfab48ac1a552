"""hotaru's operators against outcomes recorded from PyTorch 2.13.

The cases are in ops_*_cases.py, what PyTorch made of them in golden/ops_*.json
(see record_ops_golden.py): values, dtypes, shapes, errors, names of nodes,
first and second gradients.
"""

from __future__ import annotations

import importlib

import outcomes
import pytest

FAMILIES = (
    "ops_reduce", "ops_order", "ops_index", "ops_join", "ops_random",
    "ops_matmul", "ops_conv", "ops_pool", "ops_window", "ops_norm", "ops_loss",
    "ops_rnn",
)  # fmt: skip

# Random draws are equal bit for bit; what is left is rounding in 8 digits.
TOLERANCE = {"ops_random": {"rtol": 2e-7, "atol": 1e-12}}


def _parameters():
    for family in FAMILIES:
        cases = importlib.import_module(f"{family}_cases").CASES
        golden = outcomes.load(family)
        # A case without a record, or the reverse, is a mistake: it must show.
        for name in sorted({*cases, *golden}):
            tolerance = TOLERANCE.get(family, {})
            values = (cases.get(name), golden.get(name), tolerance)
            yield pytest.param(*values, id=f"{family}: {name}")


@pytest.mark.parametrize(("case", "want", "tolerance"), list(_parameters()))
def test_same_as_pytorch(hotaru, case, want, tolerance):
    assert case is not None, "recorded, but there is no such case"
    assert want is not None, "not recorded: run record_ops_golden.py"
    got = outcomes.outcome(case, hotaru)
    assert outcomes.difference(got, want, **tolerance) is None


def test_records_are_current(oracle):
    """The stored outcomes are what an installed PyTorch does."""
    if not oracle.__version__.startswith("2.13"):
        pytest.skip(f"recorded from PyTorch 2.13, this is {oracle.__version__}")
    for family in FAMILIES:
        cases = importlib.import_module(f"{family}_cases").CASES
        golden = outcomes.load(family)
        for name, case in cases.items():
            got = outcomes.outcome(case, oracle)
            assert outcomes.difference(got, golden[name]) is None, name
