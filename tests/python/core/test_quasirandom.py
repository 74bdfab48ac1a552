"""Sobol sequences; the numbers of this file are PyTorch 2.13's."""

from __future__ import annotations

import pytest
from hotaru.quasirandom import SobolEngine

import hotaru as torch


@pytest.mark.parametrize(
    ("dimension", "weighted", "last"),
    [
        (1111, 278153197384456, [536870912, 453038080, 612448256, 754974731]),
        (21201, 5294328622270240, [536870912, 353554432, 459831296, 254952011]),
    ],
)
def test_direction_numbers(dimension, weighted, last):
    numbers = SobolEngine(dimension).sobolstate
    assert (numbers * torch.arange(1, 31)).sum() == weighted
    assert numbers[-1, [0, 17, 18, 29]].tolist() == last


def test_points_go_on_where_the_last_ones_ended():
    engine = SobolEngine(2)
    assert engine.draw(2).tolist() == [[0, 0], [0.5, 0.5]]
    want = [[0.75, 0.25], [0.25, 0.75], [0.375, 0.375]]
    assert engine.draw(3).tolist() == want
    assert engine.reset().fast_forward(2).draw(3).tolist() == want
    engine.reset().fast_forward(1).fast_forward(1)
    out = torch.empty(0, dtype=torch.float64)
    assert engine.draw(3, out=out, dtype=torch.float64) is out
    assert out.tolist() == want
    assert engine.draw(0).shape == (0, 2)


def test_scrambled_points_are_those_of_the_seed():
    engine = SobolEngine(3, scramble=True, seed=7)
    assert engine.shift.tolist() == [214182645, 183537049, 804615878]
    numbers = [816589273, 758585655, 346029292, 926222805]
    assert engine.sobolstate[2, :4].tolist() == numbers
    whole = (engine.draw(2).double() * 2**30).long().tolist()
    first = [214182640, 183537056, 804615872]  # in float32
    assert whole == [first, [743252992, 763961856, 525950752]]
    torch.manual_seed(3)
    shift = SobolEngine(2, scramble=True).shift
    assert shift.tolist() == [73513868, 241083994]


def test_powers_of_two_are_balanced():
    engine = SobolEngine(4, scramble=True, seed=1)
    points = engine.draw_base2(6)
    for axis in range(4):
        cells = (points[:, axis] * 64).long()
        assert cells.sort().values.tolist() == list(range(64))
    engine.draw(1)
    with pytest.raises(ValueError, match=r"n=65\+2\*\*1=67"):
        engine.draw_base2(1)


def test_what_there_is_not():
    for dimension in (0, 21202):
        with pytest.raises(ValueError, match=r"is \[1, 21201\]"):
            SobolEngine(dimension)
    with pytest.raises(NotImplementedError, match=r"no points of .*float16"):
        SobolEngine(2).draw(dtype=torch.float16)
    with pytest.raises(RuntimeError, match="negative dimension -1"):
        SobolEngine(2).draw(0)
    text = "SobolEngine(dimension=2, scramble=True, seed=3)"
    assert repr(SobolEngine(2, True, 3)) == text
