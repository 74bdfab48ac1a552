"""Products of integers wrap, whatever their layout and size."""

from __future__ import annotations

import numpy as np
import pytest

import hotaru as torch

TYPES = ["int8", "uint8", "int16", "int32", "int64"]


def draw(random, dtype: str, *shape: int) -> np.ndarray:
    """All of the dtype's values, so that nearly every sum wraps."""
    info = np.iinfo(dtype)
    return random.integers(info.min, info.max, shape, dtype, endpoint=True)


def layouts(x: np.ndarray) -> list:
    """A matrix by rows, by columns, and with gaps."""
    t = torch.tensor(x)
    wide = torch.zeros((x.shape[0], 2 * x.shape[1]), dtype=t.dtype)
    wide[:, ::2] = t
    return [t, t.t().contiguous().t(), wide[:, ::2]]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(
    "shape", [(1, 1, 1), (1, 33, 70), (4, 9, 17), (14, 64, 32), (31, 130, 66)]
)
def test_products_wrap_as_numpys(dtype, shape):
    m, k, n = shape
    random = np.random.default_rng(m * k * n)
    a, b, c = (draw(random, dtype, *s) for s in ((m, k), (k, n), (m, n)))
    with np.errstate(over="ignore"):
        wanted = a @ b
        added = (c * np.array(3, dtype) + wanted * np.array(2, dtype)).astype(dtype)
    for left in layouts(a):
        for right in layouts(b):
            assert (left @ right).numpy().tolist() == wanted.tolist()
            got = torch.addmm(torch.tensor(c), left, right, beta=3, alpha=2)
            assert got.numpy().tolist() == added.tolist()


@pytest.mark.parametrize("dtype", TYPES)
def test_batches_vectors_and_nothing(dtype):
    random = np.random.default_rng(3)
    a, b = draw(random, dtype, 3, 5, 40), draw(random, dtype, 3, 40, 19)
    with np.errstate(over="ignore"):
        wanted = a @ b
        column = a[0] @ b[0, :, 0]
    assert (torch.tensor(a) @ torch.tensor(b)).numpy().tolist() == (wanted.tolist())
    got = torch.tensor(a[0]) @ torch.tensor(b[0])[:, 0]
    assert got.numpy().tolist() == column.tolist()
    kind = torch.tensor(a).dtype
    none = torch.zeros((5, 0), dtype=kind) @ torch.zeros((0, 4), dtype=kind)
    assert none.shape == (5, 4)
    assert not none.any()
    assert (
        torch.zeros((0, 3), dtype=kind) @ torch.zeros((3, 2), dtype=kind)
    ).shape == (0, 2)


@pytest.mark.parametrize("threads", [1, 2])
def test_threads_give_the_same_sums(threads):
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        random = np.random.default_rng(4)
        for dtype in ("int32", "int64"):
            a, b = draw(random, dtype, 150, 600), draw(random, dtype, 600, 90)
            with np.errstate(over="ignore"):
                wanted = a @ b
            assert ((torch.tensor(a) @ torch.tensor(b)).numpy() == wanted).all()
    finally:
        torch.set_num_threads(before)
