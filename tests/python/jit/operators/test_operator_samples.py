"""Operators by Python, compiled and traced: the same bits three times.

The programs are those of record_operators.py: PyTorch's own samples of every
operator as a function, a method and in place. What PyTorch compiles compiles
here, and what it traces is traced.
"""

from __future__ import annotations

import json
from pathlib import Path

import operator_programs
import pytest

import hotaru as torch

HERE = Path(__file__).parent
PROGRAMS = json.loads((HERE.parents[1] / "golden" / "jit_operators.json").read_text())
PARTS = 8


def not_compiled() -> dict:
    """Entries of which a sample does not compile, here as in PyTorch."""
    lines = (HERE / "not_compiled.txt").read_text().splitlines()
    rows = [x.partition(": ") for x in lines if x and not x.startswith("#")]
    return {name: reason for name, _, reason in rows}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("part", range(PARTS))
def test_compiled_and_traced_operators_are_those_of_python(part):
    known, wrong = not_compiled(), []
    for name, source, specs, script, trace in PROGRAMS[part::PARTS]:
        found = operator_programs.outcomes(torch, source, specs)
        if found is None:
            wrong.append(f"{source}: refused by Python")
            continue
        if found[0] and (found[0] == "differs" or not script):
            wrong.append(f"{source}compiled: {found[0]}")
        elif found[0] and name not in known:
            wrong.append(f"{source}compiled, not on the list: {found[0]}")
        if found[1] and (found[1] == "differs" or not trace):
            wrong.append(f"{source}traced: {found[1]}")
    assert not wrong, "\n".join(wrong)


def test_the_list_names_entries_that_pytorch_does_not_compile_either():
    known = not_compiled()
    assert all(reason for reason in known.values())
    refused = {name for name, _, _, script, _ in PROGRAMS if script}
    assert not set(known) - refused
