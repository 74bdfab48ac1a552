"""hotaru's nn, optim and data against outcomes recorded from PyTorch 2.13.

The cases are in nn_*_cases.py, what PyTorch made of them in golden/nn_*.json
(see record_nn_golden.py): weights, texts, results, gradients, errors, warnings.
"""

from __future__ import annotations

import importlib
import os
from pathlib import Path

import outcomes
import pytest

FAMILIES = (
    "nn_layer", "nn_call", "nn_base", "nn_optim", "nn_data", "nn_worker",
)  # fmt: skip

# Ids of cases that need what the native side does not have yet. Strict: a case
# that starts to pass has to be taken off the list.
_LIST = Path(__file__).resolve().parent / "golden" / "not_yet.txt"
OVER_TORCH = os.environ.get("HOTARU_OVER_TORCH") == "1"
if OVER_TORCH:  # workers send batches through native shared memory
    FAMILIES = tuple(family for family in FAMILIES if family != "nn_worker")
NOT_YET = set(_LIST.read_text().splitlines()) if _LIST.exists() else set()


def _parameters():
    for family in FAMILIES:
        cases = importlib.import_module(f"{family}_cases").CASES
        golden = outcomes.load(family)
        # A case without a record, or the reverse, is a mistake: it must show.
        for name in sorted({*cases, *golden}):
            label = f"{family}: {name}"
            marks = []
            if label in NOT_YET and not OVER_TORCH:
                reason = f"listed in {_LIST.name}"
                marks.append(pytest.mark.xfail(strict=True, reason=reason))
            yield pytest.param(
                cases.get(name), golden.get(name), id=label, marks=marks
            )


@pytest.mark.parametrize(("case", "want"), list(_parameters()))
def test_same_as_pytorch(hotaru, case, want):
    assert case is not None, "recorded, but there is no such case"
    assert want is not None, "not recorded: run record_nn_golden.py"
    got = outcomes.outcome(case, hotaru)
    assert outcomes.difference(got, want) is None


def test_records_are_current(oracle):
    """The stored outcomes are what PyTorch does, where it is installed."""
    if not oracle.__version__.startswith("2.13"):
        pytest.skip(f"recorded from PyTorch 2.13, this is {oracle.__version__}")
    for family in FAMILIES:
        cases = importlib.import_module(f"{family}_cases").CASES
        golden = outcomes.load(family)
        for name, case in cases.items():
            got = outcomes.outcome(case, oracle)
            assert outcomes.difference(got, golden[name]) is None, name
