"""use_deterministic_algorithms: what is refused, warned of and filled."""

from __future__ import annotations

import math

import pytest

import hotaru as torch


@pytest.fixture(autouse=True)
def _as_it_was():
    yield
    torch.use_deterministic_algorithms(False)
    torch.utils.deterministic.fill_uninitialized_memory = True
    torch.set_warn_always(False)


def put():
    return torch.zeros(4).put_(torch.tensor([0]), torch.ones(1))


def test_modes():
    for number, name in enumerate(("default", "warn", "error")):
        torch.set_deterministic_debug_mode(name)
        assert torch.get_deterministic_debug_mode() == number
        assert torch.are_deterministic_algorithms_enabled() == (number > 0)
        assert torch.is_deterministic_algorithms_warn_only_enabled() == (number == 1)
    with pytest.raises(TypeError, match=r"argument .mode. .position 1. must be"):
        torch.use_deterministic_algorithms(1)
    with pytest.raises(RuntimeError, match="expected 0, 1, or 2, but got 5"):
        torch.set_deterministic_debug_mode(5)


def test_refused():
    put()
    torch.use_deterministic_algorithms(True)
    with pytest.raises(RuntimeError, match=r"^put_ does not have a determ"):
        put()
    x = torch.zeros(4).put_(torch.tensor([0]), torch.ones(1), accumulate=True)
    assert x[0] == 1
    pooled, places = torch.nn.functional.max_pool2d(
        torch.ones(1, 1, 4, 4), 2, return_indices=True
    )
    with pytest.raises(RuntimeError, match=r"^max_unpooling2d_forward_out does"):
        torch.nn.functional.max_unpool2d(pooled, places, 2)


def test_warned_of():
    torch.use_deterministic_algorithms(True, warn_only=True)
    with pytest.warns(UserWarning, match="put_ does not have a determin"):
        assert put()[0] == 1


@pytest.mark.parametrize(
    ("dtype", "largest"),
    [
        (torch.uint8, 255),
        (torch.int16, 32767),
        (torch.int64, 2**63 - 1),
        (torch.uint16, 65535),
        (torch.uint64, 2**64 - 1),
        (torch.bool, True),
    ],
)
def test_memory_is_filled(dtype, largest):
    torch.use_deterministic_algorithms(True)
    for made in (
        torch.empty(3, dtype=dtype),
        torch.empty_like(torch.zeros(3, dtype=dtype)),
        torch.empty_strided((3,), (2,), dtype=dtype),
        torch.zeros(1, dtype=dtype).new_empty(3),
        torch.zeros(0, dtype=dtype).resize_(3),
    ):
        assert made.tolist() == [largest] * 3


def test_floats_are_filled_with_nan():
    torch.use_deterministic_algorithms(True)
    grown = torch.ones(2).resize_(4).tolist()
    assert grown[:2] == [1.0, 1.0]
    assert all(map(math.isnan, grown[2:]))
    torch.utils.deterministic.fill_uninitialized_memory = False
    assert torch.ones(2).resize_(4).tolist() == [1.0, 1.0, 0.0, 0.0]
    with pytest.raises(RuntimeError, match="expected a bool, but got int"):
        torch.utils.deterministic.fill_uninitialized_memory = 1


def test_warnings_always():
    assert not torch.is_warn_always_enabled()
    torch.set_warn_always(True)
    assert torch.is_warn_always_enabled()
    for _ in range(2):
        with pytest.warns(UserWarning, match="not writable"):
            torch.frombuffer(b"abcd", dtype=torch.uint8)
