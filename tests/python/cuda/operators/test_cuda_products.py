"""Products by tensor cores, and what is made of products."""

from __future__ import annotations

import pytest
from nearness import assert_near

import hotaru as torch

F = torch.nn.functional
SIZES = [
    (12, 200, 136, 72),  # tiles that end amid rows, columns and depth
    (45, 128, 128, 40),
    (2, 256, 256, 2000),  # several splits
    (12, 193, 129, 65),  # ends amid a chunk of eight
]


def placed(x, device):
    """The same strides on the device, and numbers around that none may read."""
    rows, columns = x.size(1) + 1, x.size(2) + 1
    shape = (x.size(0), -(-rows // 8) * 8, -(-columns // 8) * 8)
    if x.stride(2) != 1:
        shape = (shape[0], shape[2], shape[1])
    whole = torch.full(shape, float("nan"), dtype=x.dtype, device=device)
    view = whole if x.stride(2) == 1 else whole.transpose(1, 2)
    view = view[:, : x.size(1), : x.size(2)]
    return view.copy_(x)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("a_across", [False, True])
@pytest.mark.parametrize("b_across", [False, True])
@pytest.mark.parametrize("size", SIZES)
def test_products_of_16_bits(cuda, dtype, a_across, b_across, size):
    batch, m, n, k = size
    torch.manual_seed(0)
    a = torch.randn(batch, m, k).to(getattr(torch, dtype))
    b = torch.randn(batch, k, n).to(getattr(torch, dtype))
    if a_across:
        a = a.transpose(1, 2).contiguous().transpose(1, 2)
    if b_across:
        b = b.transpose(1, 2).contiguous().transpose(1, 2)
    want = (a.double() @ b.double()).to(a.dtype)
    got = placed(a, cuda) @ placed(b, cuda)
    assert_near(torch, got, want, terms=k, scale=float(want.abs().max()))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_a_bias_and_its_factor_are_added_in_float(cuda, dtype):
    torch.manual_seed(0)
    kind = getattr(torch, dtype)
    made = [(45, 128, 130), (45, 128, 64), (45, 64, 130)]
    c, a, b = (torch.randn(*s).to(kind) for s in made)
    want = torch.baddbmm(c.double(), a.double(), b.double(), beta=3, alpha=0.5)
    got = torch.baddbmm(c.to(cuda), a.to(cuda), b.to(cuda), beta=3, alpha=0.5)
    assert_near(torch, got, want.to(kind), terms=65)


def test_nothing_but_numbers_makes_none(cuda):
    a = torch.ones(45, 128, 64, dtype=torch.float16, device=cuda)
    a[3, 5, 7] = float("nan")
    a[4, 6, 8] = float("inf")
    b = torch.ones(45, 64, 128, dtype=torch.float16, device=cuda)
    got = (a @ b).cpu()
    assert got.isnan().sum() == 128
    assert got[3, 5].isnan().all()
    assert got.isinf().sum() == 128
    assert got[4, 6].isinf().all()


CONVOLUTIONS = [
    ((3, 8, 20), (16, 4, 4), {"padding": 1, "groups": 2}),
    ((2, 16, 9, 8), (12, 16, 3, 2), {"stride": (1, 2), "dilation": (2, 1)}),
    ((2, 16, 9, 8), (12, 16, 1, 1), {}),
    ((2, 16, 9, 8), (12, 16, 1, 1), {"stride": 2}),
    ((2, 6, 5, 6, 7), (9, 6, 2, 3, 3), {"padding": 1}),
]
# Columns of one sample at a time.
LARGE = ((3, 16, 120, 120), (8, 16, 3, 3), {})


@pytest.mark.parametrize(
    ("case", "dtype"),
    [
        (case, dtype)
        for case in CONVOLUTIONS
        for dtype in ("float32", "float64", "bfloat16")
    ]
    + [(LARGE, "float64")],
)
def test_convolution_by_products(cuda, case, dtype):
    shape, kernel, arguments = case
    torch.manual_seed(0)
    kind = getattr(torch, dtype)
    x, w, b = (torch.randn(*s).to(kind) for s in (shape, kernel, kernel[:1]))
    f = [F.conv1d, F.conv2d, F.conv3d][len(shape) - 3]

    def run(place):
        leaves = [t.detach().to(place).requires_grad_() for t in (x, w, b)]
        y = f(*leaves, **arguments)
        torch.manual_seed(1)
        y.backward(torch.randn(y.shape).to(kind).to(place))
        return y.detach(), leaves[0].grad, leaves[1].grad

    want, got = run(torch.float64), run(cuda)
    terms = (w[0].numel() + 1, w[:, 0].numel(), want[0][:, 0].numel())
    for g, v, n in zip(got, want, terms):
        assert_near(torch, g, v.to(kind), terms=n)
