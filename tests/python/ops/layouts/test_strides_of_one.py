"""Strides of dimensions of one element: copies and new tensors like another
keep them, as they keep all strides of what is dense.
"""

import pytest

import hotaru as torch

LAYOUTS = {
    "turned": lambda: torch.zeros(1, 3).t(),
    "permuted": lambda: torch.zeros(4, 1, 2).permute(1, 0, 2),
    "every second": lambda: torch.zeros(2, 4)[::2],
    "empty": lambda: torch.zeros(0, 4).t(),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    "f",
    [
        torch.clone,
        torch.empty_like,
        torch.zeros_like,
        torch.rand_like,
        lambda x: x.to(torch.float64),
        lambda x: x.half().float(),
        lambda x: torch.full_like(x, 2.0, dtype=torch.int64),
    ],
)
def test_copies_keep_them(f, layout):
    x = LAYOUTS[layout]()
    assert f(x).stride() == x.stride()
    row_major = x.clone(memory_format=torch.contiguous_format)
    assert row_major.stride() == torch.zeros(x.shape).stride()
