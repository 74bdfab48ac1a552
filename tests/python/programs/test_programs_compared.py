"""The comparison of tests/programs, which must not pass what differs."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

PLACE = Path(__file__).resolve().parents[2] / "programs"


@pytest.fixture(scope="module")
def judge():
    sys.path.insert(0, str(PLACE))
    try:
        yield importlib.import_module("judge")
    finally:
        sys.path.remove(str(PLACE))


def line(name: str, value: str) -> str:
    return f'noise\n{{"name": "{name}", "value": {value}}}\n'


@pytest.mark.parametrize(
    ("want", "have", "same"),
    [
        ("1.0", "1.00005", True),
        ("1.0", "1.0002", False),
        ("[1.0, 1e-9]", "[1.0, 2e-9]", True),  # beside a larger one
        ("[1.0, 2.0]", "[1.0]", False),
        ("[1, 2]", "[1, 3]", False),
        ("[true]", "[false]", False),
        ("NaN", "NaN", True),
        ("NaN", "0.0", False),
        ("Infinity", "Infinity", True),
        ('{"a": 1}', '{"b": 1}', False),
        ('"text"', '"other"', False),
    ],
)
def test_values(judge, want, have, same):
    found = judge.verdict(line("x", want), line("x", have), 1e-4)
    assert (found is None) == same


@pytest.mark.parametrize(
    ("want", "have", "same"),
    [
        ("0.0123", "0.0124", True),
        ("0.0123", "0.0126", False),
        ("3", "4", False),
    ],
)
def test_printed_numbers_are_compared_to_their_last_digit(
    judge, want, have, same
):
    def row(number):
        return line("x", f'[{{"text": "loss #", "printed": ["{number}"]}}]')

    assert (judge.verdict(row(want), row(have), 1e-4) is None) == same


def test_a_side_that_prints_less_differs(judge):
    both = line("a", "1") + line("b", "2")
    assert judge.verdict(both, line("a", "1"), 1e-4) == "1 lines, PyTorch 2"
    assert judge.verdict("", "", 1e-4) is not None
    assert judge.verdict(line("a", "1"), line("b", "1"), 1e-4) is not None
