"""Tensors, dtypes, views and autograd against PyTorch 2.13.

The cases are in core_*_cases.py, what PyTorch made of them in
golden/core_*.json (see record_core_golden.py): values, dtypes, strides,
gradients, exceptions with their texts, warnings.
"""

from __future__ import annotations

import importlib
from pathlib import Path

import outcomes
import pytest

FAMILIES = ("core_dtype", "core_view", "core_autograd")

# Cases that differ from PyTorch, "family: name" a line: what hotaru lacks or
# words otherwise. Strict: one that starts to pass has to leave the list.
_LIST = Path(__file__).resolve().parent / "golden" / "core_differs.txt"


def _parameters():
    differs = set(_LIST.read_text().splitlines())
    for family in FAMILIES:
        cases = importlib.import_module(f"{family}_cases").CASES
        golden = outcomes.load(family)
        # A case without a record, or the reverse, is a mistake: it must show.
        for name in sorted({*cases, *golden}):
            label = f"{family}: {name}"
            marks = []
            if label.replace("\n", " ") in differs:
                reason = f"listed in {_LIST.name}"
                marks.append(pytest.mark.xfail(strict=True, reason=reason))
            yield pytest.param(
                cases.get(name), golden.get(name), id=label, marks=marks
            )


@pytest.mark.parametrize(("case", "want"), list(_parameters()))
def test_same_as_pytorch(hotaru, case, want):
    assert case is not None, "recorded, but there is no such case"
    assert want is not None, "not recorded: run record_core_golden.py"
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
