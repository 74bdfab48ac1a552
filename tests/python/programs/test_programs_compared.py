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
    [("0.0123", "0.0124", True), ("0.0123", "0.0126", False), ("3", "4", False)],
)
def test_printed_numbers_are_compared_to_their_last_digit(judge, want, have, same):
    def row(number):
        return line("x", f'[{{"text": "loss #", "printed": ["{number}"]}}]')

    assert (judge.verdict(row(want), row(have), 1e-4) is None) == same


def test_a_side_that_prints_less_differs(judge):
    both = line("a", "1") + line("b", "2")
    assert judge.verdict(both, line("a", "1"), 1e-4) == "1 lines, PyTorch 2"
    assert judge.verdict("", "", 1e-4) is not None
    assert judge.verdict(line("a", "1"), line("b", "1"), 1e-4) is not None


@pytest.fixture
def golden(judge, monkeypatch, tmp_path):
    """The module with files of its own, and a program to record."""
    module = importlib.import_module("recorded")
    table = importlib.import_module("table")
    monkeypatch.setattr(module, "FOLDER", tmp_path / "golden")
    return module, table.Program("einops_layers-layers", "einops_layers")


def test_recorded_values_are_compared_like_printed_ones(judge, golden):
    module, program = golden
    text = line("x", "[0.123456789, 2.0]") + line("y", '{"a": [1, NaN]}')
    module.record(program, text)
    status, want, _, _ = module.recorded(program)
    assert status == 0
    assert judge.verdict(want, text, 1e-4) is None
    other = text.replace("2.0]", "2.1]")
    assert "PyTorch 2.0" in judge.verdict(want, other, 1e-4)
    assert judge.verdict(want, line("x", "[0.1234568, 2.0]"), 1e-4)  # no y


def test_values_of_another_script_are_refused(golden, monkeypatch):
    module, program = golden
    assert module.recorded(program)[0] != 0  # nothing is recorded yet
    module.record(program, line("x", "1.0"))
    assert module.recorded(program)[0] == 0
    other = module.PACKAGES.with_name("requirements-programs.txt")
    monkeypatch.setattr(module, "PACKAGES", other)
    status, _, error, _ = module.recorded(program)
    assert status != 0
    assert "--record" in error


def test_every_program_of_ci_is_recorded(judge):
    module, table = map(importlib.import_module, ("recorded", "table"))
    chosen = [p for p in table.PROGRAMS if p.ci]
    assert chosen
    stale = [p.name for p in chosen if module.recorded(p)[0]]
    assert not stale, "run tests/programs/run.py --ci --record"


def test_ci_has_the_versions_of_the_whole_set():
    folder = PLACE.parents[1] / "scripts"

    def pins(name: str) -> set:
        lines = (folder / name).read_text(encoding="utf-8").splitlines()
        return {one.strip() for one in lines if "==" in one}

    few, all_of_them = map(
        pins, ("requirements-programs-ci.txt", "requirements-programs.txt")
    )
    named = {one.split("==")[0] for one in all_of_them}
    assert {one for one in few if one.split("==")[0] in named} <= all_of_them
