"""Where elements are not zero, and how the places lie in memory."""

from __future__ import annotations

import numpy as np
import pytest

import hotaru as torch


@pytest.mark.parametrize(
    "shape", [(3, 2), (4,), (2, 3, 2), (), (5, 70), (0, 3), (300, 300)]
)
@pytest.mark.parametrize("density", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("dtype", [torch.bool, torch.float32, torch.int64])
def test_places_of_a_dimension_are_neighbours(shape, density, dtype):
    """Whatever is the order of the elements in memory."""
    torch.manual_seed(0)
    x = (torch.rand(shape) < density).to(dtype)
    turned = x.mT.contiguous().mT if x.dim() > 1 else x[...]
    wanted = np.argwhere(x.numpy()).tolist()
    for y in (x, turned):
        places = y.nonzero()
        n = len(wanted)
        assert places.stride() == (1, n)
        assert places._base is None
        assert places.tolist() == wanted
        assert torch.argwhere(y).tolist() == wanted
        static = torch.nonzero_static(y, size=n + 2, fill_value=-3)
        assert static.is_contiguous()
        assert static.tolist() == [*wanted, *[[-3] * x.dim()] * 2]
        if x.dim() == 0:
            continue
        for d, column in enumerate(torch.where(y)):
            assert column.stride() == (1,)
            assert column.tolist() == [at[d] for at in wanted]
    out = torch.empty(0, dtype=torch.int64)
    assert torch.nonzero(x, out=out).tolist() == wanted
