"""Where the elements of triangles lie, as on the CPU."""

from __future__ import annotations

import pytest

import hotaru as torch


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32"])
@pytest.mark.parametrize("f", [torch.tril_indices, torch.triu_indices])
def test_indices_of_triangles(cuda, f, dtype):
    kind = getattr(torch, dtype)
    for rows, columns in (
        (1, 1),
        (3, 3),
        (2, 7),
        (7, 2),
        (0, 3),
        (3, 0),
        (40, 33),
        (1, 90),
    ):
        for offset in (-50, -7, -2, -1, 0, 1, 3, 6, 50):
            want = f(rows, columns, offset, dtype=kind)
            got = f(rows, columns, offset, dtype=kind, device=cuda)
            assert got.cpu().equal(want), (rows, columns, offset)


def test_indices_of_large_triangles(cuda):
    """Rows come from a square root, which must not miss one."""
    n = 1500
    for f in (torch.tril_indices, torch.triu_indices):
        for offset in (-700, 0, 3):
            want = f(n, n + 1, offset)
            assert f(n, n + 1, offset, device=cuda).cpu().equal(want)
