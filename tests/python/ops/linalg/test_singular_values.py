"""Singular values alone, which have a way of their own."""

from __future__ import annotations

import math

import pytest

import hotaru

EPS = 2.0**-52


def made_of(values, rows: int):
    """A matrix of these singular values."""
    hotaru.manual_seed(len(values))
    n = len(values)
    left = hotaru.linalg.qr(hotaru.randn(rows, n, dtype=hotaru.float64)).Q
    right = hotaru.linalg.qr(hotaru.randn(n, n, dtype=hotaru.float64)).Q
    return left * hotaru.tensor(values, dtype=hotaru.float64) @ right


@pytest.mark.parametrize("rows", [0, 7])
@pytest.mark.parametrize(
    "values",
    [
        [3.0, 2.0, 1.0],
        [1.0] * 40,
        [2.0**-k for k in range(60)],
        [1.0] * 20 + [0.0] * 13,
        [1e-9] * 5 + [1.0],
        [1.0 + k * 1e-14 for k in range(50)],
        [float(k) for k in range(1, 151)],
    ],
    ids=["few", "equal", "graded", "rank", "small", "near", "many"],
)
def test_they_are_those_that_the_matrix_was_made_of(values, rows):
    matrix = made_of(values, len(values) + rows)
    found = hotaru.linalg.svdvals(matrix)
    want = hotaru.tensor(sorted(values, reverse=True), dtype=hotaru.float64)
    # Rounding of the matrix itself: some eps of the largest value.
    assert float((found - want).abs().max()) < 200 * EPS * max(values)
    assert bool((found[:-1] >= found[1:]).all())


@pytest.mark.parametrize("scale", [2.0**-1000, 2.0**-500, 1.0, 2.0**900])
def test_bidiagonal_ones_keep_the_digits_of_small_values(scale):
    # Values of [a, 1; 0, b] with tiny b: their product is a b.
    matrix = hotaru.tensor([[0.5, 1.0], [0.0, 1e-12]], dtype=hotaru.float64)
    most, least = hotaru.linalg.svdvals(matrix * scale).tolist()
    assert most / scale * (least / scale) == pytest.approx(5e-13, rel=1e-14)


@pytest.mark.parametrize("dtype", [hotaru.float32, hotaru.float64])
@pytest.mark.parametrize("n", [1, 2, 3, 5, 33, 130])
def test_they_are_those_that_come_with_vectors(n, dtype):
    hotaru.manual_seed(n)
    matrix = hotaru.randn(2, n, n + 3, dtype=dtype)
    alone = hotaru.linalg.svdvals(matrix)
    together = hotaru.linalg.svd(matrix, full_matrices=False).S
    eps = EPS if dtype == hotaru.float64 else 2.0**-23
    bound = 20 * math.sqrt(n) * eps * float(together.max())
    assert float((alone - together).abs().max()) < bound


def test_whole_numbers_of_low_rank():
    matrix = hotaru.arange(400.0, dtype=hotaru.float64).reshape(20, 20)
    found = hotaru.linalg.svdvals(matrix)
    assert float(found[2]) < 1e-11
    assert float(found.square().sum()) == pytest.approx(
        float(matrix.square().sum()), rel=1e-13
    )
    assert hotaru.linalg.svdvals(hotaru.zeros(5, 4)).tolist() == [0] * 4
    assert hotaru.linalg.svdvals(hotaru.eye(6)).tolist() == [1] * 6
