"""Ranges of sizes by PyTorch's names, and what asks for symbols in sizes."""

import copy
import math
import pickle

import pytest
from hotaru.fx.experimental import symbolic_shapes
from hotaru.utils._sympy.numbers import IntInfinity, int_oo, is_infinite
from hotaru.utils._sympy.value_ranges import ValueRangeError, ValueRanges

import hotaru as torch


def test_infinity_of_whole_numbers():
    assert IntInfinity() is int_oo
    for copied in (copy.deepcopy(int_oo), pickle.loads(pickle.dumps(int_oo))):
        assert copied is int_oo
    assert -int_oo < -(2**63) < 2**63 < int_oo
    below = -int_oo
    assert -below is int_oo
    assert pickle.loads(pickle.dumps(-int_oo)) is -int_oo
    assert (str(int_oo), str(-int_oo), f"{int_oo}") == ("int_oo", "-int_oo", "int_oo")
    assert int_oo == math.inf
    with pytest.raises(OverflowError):
        int(int_oo)
    assert [is_infinite(x) for x in (int_oo, -int_oo, math.inf, 3)] == [True] * 3 + [
        False
    ]


def test_ranges():
    some = ValueRanges(2, math.inf)
    assert repr(some) == "VR[2, int_oo]"
    assert isinstance(some.upper, IntInfinity)
    assert 2 in some
    assert 1 not in some
    assert some.issuperset(ValueRanges(3, 5))
    assert not ValueRanges(3, 5).issuperset(some)
    assert some & ValueRanges(-1, 5) == ValueRanges(2, 5)
    assert ValueRanges(0, 1) | ValueRanges(4, 5) == ValueRanges(0, 5)
    assert ValueRanges(4, 4).is_singleton()
    assert repr(ValueRanges.unknown_int()) == "VR[-int_oo, int_oo]"
    assert pickle.loads(pickle.dumps(some)) == some
    with pytest.raises(ValueRangeError, match=r"Invalid ranges \[3:2\]"):
        ValueRanges(3, 2)


def test_the_ranges_of_a_program():
    class Double(torch.nn.Module):
        def forward(self, x):
            return x * 2

    rows = torch.export.Dim("rows", min=2)
    program = torch.export.export(
        Double(), (torch.ones(3, 2),), dynamic_shapes=({0: rows},)
    )
    (bounds,) = program.range_constraints.values()
    assert isinstance(bounds, ValueRanges)
    assert isinstance(bounds.upper, IntInfinity)
    assert bounds.lower == 2
    assert "VR[2, int_oo]" in str(program)


def test_sizes_have_no_symbols():
    for value in (None, 3, torch.ones(2), [torch.ones(1), 2]):
        assert symbolic_shapes.free_symbols(value) == set()
        assert symbolic_shapes.free_unbacked_symbols(value) == set()
    with pytest.raises(RuntimeError, match="text"):
        raise symbolic_shapes.GuardOnDataDependentSymNode("a < b", "text")
