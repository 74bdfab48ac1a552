"""`torch.quasirandom.SobolEngine`: PyTorch's points, bit for bit."""

from __future__ import annotations

import pytest
from hotaru.quasirandom import SobolEngine

import hotaru as torch


def checksum(t) -> int:
    """Sums up whole numbers, each with a weight by its place."""
    weights = torch.arange(t.numel()) % 1009 + 1
    return int((t.flatten().to(torch.int64) * weights).sum())


# PyTorch 2.13's.
@pytest.mark.parametrize(
    ("dimension", "wanted"),
    [
        (1, 2147483616),
        (2, 1059669313162),
        (40, 282118432143885),
        (21201, 172414472927956657),
    ],
)
def test_direction_numbers(dimension, wanted):
    state = SobolEngine(dimension).sobolstate
    assert state.shape == (dimension, SobolEngine.MAXBIT)
    assert state.dtype == torch.int64
    assert checksum(state) == wanted


@pytest.mark.parametrize(
    ("scrambled", "wanted", "last"),
    [
        (
            False,
            [
                0,
                15032385536,
                117843165184,
                53671429668864,
                701631561728,
                1881818473168896,
                307477086208,
            ],
            8550088704,
        ),
        (
            True,
            [
                10532000744,
                21583246672,
                123197487220,
                53708313810193,
                679915487127,
                1879084182579193,
                310981803335,
            ],
            10055696292,
        ),
    ],
)
def test_draws_go_on_where_the_last_one_ended(scrambled, wanted, last):
    engine = SobolEngine(7, scramble=scrambled, seed=5)
    found = [
        checksum(engine.draw(n, dtype=torch.float64) * 2**30)
        for n in (1, 1, 3, 64, 7, 1000, 5)
    ]
    assert found == wanted
    assert checksum(engine.quasi) == last
    assert engine.num_generated == 1081


def test_all_dimensions():
    assert checksum(SobolEngine(21201).draw(20) * 2**24) == 1705303180574720


def test_scrambling():
    engine = SobolEngine(40, scramble=True, seed=5)
    assert checksum(engine.sobolstate) == 285854082441809
    assert checksum(engine.shift) == 456700484208
    assert repr(engine) == "SobolEngine(dimension=40, scramble=True, seed=5)"


def test_scrambling_without_a_seed_takes_the_global_generator():
    torch.manual_seed(3)
    engine = SobolEngine(2, scramble=True)
    assert engine.draw(2).mul(2**24).tolist() == [
        [1148654.25, 3766937.5],
        [10426794.0, 12131336.0],
    ]
    assert torch.rand(1).item() == 0.47289592027664185


def test_blocks_do_not_show(monkeypatch):
    whole = SobolEngine(3).draw(300)
    monkeypatch.setattr("hotaru.quasirandom._BLOCK", 16)
    engine = SobolEngine(3)
    parts = [engine.draw(n) for n in (5, 250, 45)]
    assert torch.equal(torch.cat(parts), whole)


@pytest.mark.parametrize(("before", "skipped"), [(0, 1), (0, 37), (3, 12)])
def test_fast_forward_and_reset(before, skipped):
    wanted = SobolEngine(5).draw(before + skipped + 4)[before + skipped :]
    engine = SobolEngine(5)
    if before:
        engine.draw(before)
    assert engine.fast_forward(skipped) is engine
    assert torch.equal(engine.draw(4), wanted)
    assert torch.equal(engine.reset().draw(4), SobolEngine(5).draw(4))


def test_balanced_draws():
    engine = SobolEngine(3)
    assert torch.equal(engine.draw_base2(3), SobolEngine(3).draw(8))
    engine.draw_base2(3)
    with pytest.raises(ValueError, match=r"n=16\+2\*\*3=24"):
        engine.draw_base2(3)


def test_places_and_dtypes():
    out = torch.ones(1)
    engine = SobolEngine(2)
    assert engine.draw(2, out=out) is out
    assert out.tolist() == [[0, 0], [0.5, 0.5]]
    assert engine.draw(dtype=torch.float64).dtype == torch.float64
    with pytest.raises(NotImplementedError, match="not implemented for"):
        engine.draw(2, dtype=torch.int64)
    with pytest.raises(RuntimeError, match="negative dimension -2"):
        SobolEngine(2).draw(-1)


@pytest.mark.parametrize("dimension", [0, 21202])
def test_dimensions_are_bounded(dimension):
    with pytest.raises(ValueError, match=r"\[1, 21201\]"):
        SobolEngine(dimension)


def test_a_generator_of_no_device_is_the_cpus():
    with torch.device("meta"):
        generator = torch.Generator(device=None)
    assert generator.device == torch.device("cpu")
    draws = torch.rand(2, generator=generator.manual_seed(3))
    assert torch.equal(draws, torch.rand(2, generator=torch.manual_seed(3)))
