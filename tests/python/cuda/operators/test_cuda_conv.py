"""Convolutions as products that gather their operands."""

from __future__ import annotations

import math

import pytest
from nearness import assert_near

import hotaru as torch

F = torch.nn.functional
FORMATS = {4: torch.channels_last, 5: torch.channels_last_3d}


def convolve(x, w, b, options):
    return [F.conv1d, F.conv2d, F.conv3d][x.dim() - 3](x, w, b, **options)


def check(cuda, x, w, options, dtype, last=False, bias=True):
    """The result and all gradients, beside the CPU's in double."""
    torch.manual_seed(0)
    kind = getattr(torch, dtype)
    made = [torch.randn(*s).to(kind) for s in (x, w, w[:1])]
    y = convolve(*made, options)
    made.append(torch.randn(y.shape).to(kind))
    form = FORMATS.get(len(x)) if last else torch.contiguous_format

    def run(place):
        x, w, b, g = (t.detach().to(place) for t in made)
        x, w, g = (t.to(memory_format=form) for t in (x, w, g))
        leaves = [t.requires_grad_() for t in ([x, w, b] if bias else [x, w])]
        y = convolve(*leaves, *([] if bias else [None]), options)
        return [y.detach(), *torch.autograd.grad(y, leaves, g)]

    want, got = run(torch.float64), run(cuda)
    assert got[0].is_contiguous(memory_format=form) or dtype == "float64"
    pixels = y[:, 0].numel()
    terms = [math.prod(w[1:]) + 1, math.prod(w) // w[1], pixels, pixels]
    for g, v, n in zip(got, want, terms):
        assert_near(torch, g, v.to(kind), terms=n)


# Sizes of x and w that end amid small tiles (32 squared, 32 products).
SMALL = [
    ((3, 9, 37), (11, 9, 4), {"padding": 2}),
    ((2, 16, 41), (24, 8, 3), {"groups": 2, "stride": 3, "padding": 1}),
    ((2, 10, 9, 8), (12, 10, 3, 2), {"stride": (1, 2), "dilation": (2, 1)}),
    ((2, 10, 9, 8), (12, 10, 3, 3), {"stride": 2, "dilation": 2, "padding": 3}),
    (
        (2, 10, 8, 9),
        (9, 10, 3, 3),
        {"stride": (3, 2), "dilation": (2, 3), "padding": (2, 4)},
    ),
    ((1, 48, 5, 6), (60, 12, 2, 2), {"groups": 4, "padding": (1, 0)}),
    ((2, 36, 7, 7), (36, 36, 1, 1), {"stride": 2}),
    ((2, 17, 6, 5), (20, 17, 1, 1), {"padding": 1}),
    ((2, 16, 6, 5), (24, 8, 1, 1), {"groups": 2}),
    ((1, 8, 5, 6, 7), (9, 8, 2, 3, 3), {"padding": 1, "stride": (1, 2, 1)}),
    (
        (1, 16, 4, 5, 6),
        (16, 8, 3, 2, 1),
        {"padding": (2, 0, 1), "groups": 2, "dilation": (1, 2, 1)},
    ),
    ((40, 8, 13), (8, 8, 33), {"padding": 16}),  # more places than bits
    ((2, 12, 90), (20, 12, 40), {"stride": 3, "padding": 7, "dilation": 2}),
    ((1, 9, 20, 24), (10, 9, 16, 15), {"stride": 2, "padding": (9, 4)}),
    ((2, 16, 200), (8, 16, 64), {"stride": 4}),  # long, but nothing beside x
]


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize(("x", "w", "options"), SMALL, ids=str)
def test_small_tiles(cuda, x, w, options, last, dtype):
    if last and len(x) == 3:
        pytest.skip("one dimension has no such layout")
    check(cuda, x, w, options, dtype, last)


# Sizes whose tiles fill a third of 132 processors: large ones, of 16 bits on
# tensor cores. Channels that chunks of eight do not divide, and some they do.
LARGE = [
    (
        (3, 128, 13, 17),
        (129, 128, 3, 3),
        {"padding": 1},
        ("float32", "float64", "bfloat16"),
    ),
    (
        (3, 250, 19, 18),
        (512, 125, 3, 3),
        {"stride": 2, "padding": 1, "groups": 2},
        ("float16",),
    ),
    (
        (2, 128, 330),
        (48, 128, 9),
        {"dilation": 2, "padding": 4},
        ("float32", "bfloat16"),
    ),
    ((6, 100, 60), (40, 100, 40), {"stride": 2, "padding": 25}, ("bfloat16",)),
    ((2, 64, 6, 7, 8), (40, 64, 3, 3, 2), {"padding": 1}, ("float64", "float16")),
]


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize(
    ("x", "w", "options", "dtype"),
    [(*case[:3], dtype) for case in LARGE for dtype in case[3]],
    ids=str,
)
def test_large_tiles(cuda, x, w, options, last, dtype):
    if last and len(x) == 3:
        pytest.skip("one dimension has no such layout")
    check(cuda, x, w, options, dtype, last, bias=not last)


def test_what_is_no_number_stays_where_it_is(cuda):
    """Neither what fills up tiles and chunks nor what lies beside a picture is
    multiplied with anything but zeros.
    """
    for dtype in (torch.float32, torch.float16):
        x = torch.randn(2, 12, 30, 26).to(dtype)
        w = torch.randn(130, 12, 3, 3).to(dtype)
        x[0, 11, 29, 25] = float("nan")
        x[1, 0, 0, 0] = float("inf")
        want = F.conv2d(x.double(), w.double(), padding=1)
        got = F.conv2d(x.to(cuda), w.to(cuda), padding=1).cpu()
        assert got.isfinite().equal(want.isfinite())


def test_the_same_bits_each_time(cuda):
    """Long sums are split, and the parts added in their order."""
    x = torch.randn(3, 8, 40, 40).to(cuda)
    w = torch.randn(16, 8, 3, 3).to(cuda).requires_grad_()
    runs = []
    for _ in range(3):
        y = F.conv2d(x, w)
        runs.append(torch.autograd.grad(y.square().sum(), w)[0].cpu())
    assert runs[0].equal(runs[1])
    assert runs[0].equal(runs[2])
    want = w.detach().cpu().double().requires_grad_()
    y = F.conv2d(x.cpu().double(), want)
    want = torch.autograd.grad(y.square().sum(), want)[0].float()
    assert_near(torch, runs[0].to(cuda), want, terms=3 * 38 * 38)
