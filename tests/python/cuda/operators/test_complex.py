"""Products, convolutions and multiplying scatters of complex numbers, as on the
CPU; gradients too.
"""

from __future__ import annotations

import pytest
from nearness import assert_near

import hotaru as torch

DTYPES = (torch.complex64, torch.complex128)


def on_both(cuda, f, *shapes, dtype):
    """Results and gradients of f on the CPU and on CUDA are near."""
    torch.manual_seed(1)
    given = [torch.randn(*shape, dtype=dtype) for shape in shapes]
    results = []
    for device in ("cpu", cuda):
        leaves = [x.to(device).detach().requires_grad_() for x in given]
        out = f(*leaves)
        out.abs().sum().backward()
        results.append([out.detach(), *(x.grad for x in leaves)])
    for want, got in zip(*results):
        assert got.device.type == "cuda"
        assert_near(torch, torch.view_as_real(got), torch.view_as_real(want))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("f", "shapes"),
    [
        (lambda a, b: a @ b, ((5, 7), (7, 3))),
        (lambda a, b: a @ b.mH, ((70, 40), (33, 40))),
        (lambda a, b: a @ b, ((2, 1, 5, 7), (3, 7, 4))),
        (lambda a, b: torch.bmm(a, b), ((6, 9, 2), (6, 2, 11))),
        (lambda a, b: a @ b, ((9,), (9, 4))),
        (lambda a, b: torch.vdot(a, b).reshape(1), ((9,), (9,))),
        (
            lambda a, b, c: torch.addmm(c, a, b, alpha=2 - 1j, beta=0.5j),
            ((5, 7), (7, 3), (3,)),
        ),
        (
            lambda a, b, c: torch.nn.functional.linear(a, b, c),
            ((2, 5, 7), (3, 7), (3,)),
        ),
    ],
    ids=range(8),
)
def test_products(cuda, f, shapes, dtype):
    on_both(cuda, f, *shapes, dtype=dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("x", "w", "options"),
    [
        ((2, 4, 9), (6, 2, 3), {"groups": 2, "padding": 1}),
        ((2, 3, 8, 7), (5, 3, 3, 2), {"stride": 2}),
        ((1, 2, 4, 5, 4), (3, 2, 2, 2, 2), {"dilation": 2}),
    ],
    ids=("1d", "2d", "3d"),
)
def test_convolutions(cuda, x, w, options, dtype):
    f = getattr(torch.nn.functional, f"conv{len(x) - 2}d")
    bias = (w[0],)
    on_both(cuda, lambda x, w, b: f(x, w, b, **options), *(x, w, bias), dtype=dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_transposed_convolution_and_unfolding(cuda, dtype):
    f = torch.nn.functional
    on_both(
        cuda,
        lambda x, w: f.conv_transpose2d(x, w, stride=2),
        *((2, 3, 4, 5), (3, 2, 3, 3)),
        dtype=dtype,
    )
    on_both(
        cuda, lambda x: f.fold(f.unfold(x, 3), (6, 7), 3), (2, 3, 6, 7), dtype=dtype
    )


@pytest.mark.parametrize("dtype", DTYPES)
def test_multiplying_scatters(cuda, dtype):
    """All factors of equal indices count."""
    torch.manual_seed(2)
    x, source = (torch.randn(*s, dtype=dtype) for s in ((5, 40), (300, 40)))
    source = source / source.abs()
    index = torch.randint(0, 5, (300, 40))
    want = x.scatter(0, index, source, reduce="multiply")
    got = x.to(cuda).scatter(0, index.to(cuda), source.to(cuda), reduce="multiply")
    assert_near(torch, torch.view_as_real(got), torch.view_as_real(want))


@pytest.mark.parametrize("dtype", DTYPES)
def test_variances(cuda, dtype):
    torch.manual_seed(3)
    x = torch.randn(30, 70, dtype=dtype) + (2 - 3j)
    for dims in (None, 0, 1):
        for f in (torch.var_mean, torch.std_mean):
            both = zip(f(x.to(cuda), dims), f(x, dims))
            for got, want in both:
                if want.is_complex():
                    got, want = map(torch.view_as_real, (got, want))
                assert_near(torch, got, want)
    assert torch.isnan(torch.var(torch.ones(1, dtype=dtype, device=cuda)))


@pytest.mark.parametrize("real", [torch.float32, torch.float64])
def test_draws_are_those_of_the_parts(cuda, real):
    dtype = torch.complex64 if real == torch.float32 else torch.complex128
    for shape in ((5000,), (7, 3)):
        torch.cuda.manual_seed(4)
        got = torch.rand(shape, dtype=dtype, device=cuda)
        torch.cuda.manual_seed(4)
        want = torch.rand((*shape, 2), dtype=real, device=cuda)
        assert torch.view_as_real(got).equal(want)
        torch.cuda.manual_seed(5)
        got = torch.randn(shape, dtype=dtype, device=cuda)
        torch.cuda.manual_seed(5)
        want = torch.empty((*shape, 2), dtype=real, device=cuda)
        want.normal_(0, 0.5**0.5)
        assert torch.view_as_real(got).equal(want)
