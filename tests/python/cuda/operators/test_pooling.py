"""Pooling and interpolation on CUDA, beside the CPU's results."""

from __future__ import annotations

import pytest
from nearness import DTYPES, random

WINDOWS = [
    {"kernel_size": 2},
    {"kernel_size": 3, "stride": 2, "padding": 1},
    {"kernel_size": 3, "stride": 1},
    {"kernel_size": 3, "stride": 2, "ceil_mode": True},
    {"kernel_size": 2, "stride": 3},
]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("windows", WINDOWS, ids=str)
def test_max_pool(hotaru, near, dims, windows, dtype):
    f = getattr(hotaru.nn.functional, f"max_pool{dims}d")
    # Few values, so that some are equal.
    x = random(hotaru, 2, 3, *(7, 8, 6)[:dims], dtype=dtype).round()
    # The CPU rounds gradients after each term.
    sums = {"terms": 3**dims, "scale": 3**dims, "each": True}
    near(lambda a: f(a, **windows), x, **sums)
    near(
        lambda a: f(
            a,
            dilation=2,
            return_indices=True,
            **{**windows, "kernel_size": 2, "padding": 1},
        ),
        x,
        **sums,
    )


def test_max_pool_of_special_values(hotaru, near):
    nan, inf = float("nan"), float("inf")
    x = hotaru.tensor([[[nan, 1, -inf, -inf, inf, 2, nan, nan]]])
    f = hotaru.nn.functional.max_pool1d

    def positions(a):
        return f(a, 2, 1, return_indices=True)[1]

    near(positions, x, gradients=False)
    near(lambda a: f(a, 2, 1).isnan(), x, gradients=False)
    near(lambda a: f(a, 4, 1, 2).nan_to_num(), x, gradients=False)


def test_pooling_of_integers(hotaru, near):
    x = (random(hotaru, 2, 3, 9, 9) * 50).to(hotaru.int64)
    f = hotaru.nn.functional
    near(lambda a: f.max_pool2d(a, 3, 2, 1, return_indices=True), x, gradients=False)
    near(lambda a: f.avg_pool2d(a, 2), x, gradients=False)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("windows", WINDOWS, ids=str)
def test_avg_pool(hotaru, near, dims, windows, dtype):
    if dims == 3 and dtype in ("float16", "bfloat16"):
        pytest.skip("not implemented on the CPU")
    f = getattr(hotaru.nn.functional, f"avg_pool{dims}d")
    x = random(hotaru, 2, 3, *(7, 8, 6)[:dims], dtype=dtype)
    near(lambda a: f(a, **windows), x)
    near(lambda a: f(a, count_include_pad=False, **windows), x)
    if dims > 1:
        near(lambda a: f(a, divisor_override=5, **windows), x, scale=10.0)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("size", [1, 2, 3, 7, 10])
def test_adaptive_pools(hotaru, near, size, dims, dtype):
    f = hotaru.nn.functional
    average = getattr(f, f"adaptive_avg_pool{dims}d")
    largest = getattr(f, f"adaptive_max_pool{dims}d")
    x = random(hotaru, 2, 3, *(7, 8, 6)[:dims], dtype=dtype)
    near(lambda a: average(a, size), x, terms=400)
    near(lambda a: largest(a, size), x, terms=8, scale=8, each=True)


def test_pools_of_nothing(hotaru, near):
    f = hotaru.nn.functional
    x = random(hotaru, 0, 3, 8, 8)
    near(lambda a: f.max_pool2d(a, 2), x)
    near(lambda a: f.avg_pool2d(a, 2), x)
    near(lambda a: f.adaptive_max_pool2d(a, 2), x)


def test_fractional_pool_and_unpool(hotaru, near):
    f = hotaru.nn.functional
    x = random(hotaru, 2, 3, 9, 10)
    samples = hotaru.rand(2, 3, 2)
    near(
        lambda a: f.fractional_max_pool2d(
            a, 3, (4, 5), _random_samples=samples.to(a.device), return_indices=True
        ),
        x,
    )

    def there_and_back(a):
        y, indices = f.max_pool2d(a, 2, return_indices=True)
        return f.max_unpool2d(y, indices, 2)

    near(there_and_back, random(hotaru, 2, 3, 8, 10))


def test_unpool_finds_indices_outside(hotaru, cuda):
    x = hotaru.ones(1, 1, 2, 2, device=cuda)
    index = hotaru.tensor([[[[0, 3], [16, 5]]]], device=cuda)
    y = hotaru.nn.functional.max_unpool2d(x, index, 2)
    with pytest.raises(
        RuntimeError, match=r"invalid max index: 16 \(output volumes are of size 4x4\)"
    ):
        y.cpu()
    hotaru.ones(2, device=cuda).cpu()


INTERPOLATIONS = [
    ((9,), {"size": 4, "mode": "nearest"}),
    ((5,), {"size": 11, "mode": "nearest-exact"}),
    ((7,), {"size": 12, "mode": "linear"}),
    ((7,), {"size": 1, "mode": "linear", "align_corners": True}),
    ((5, 9), {"size": (10, 9), "mode": "nearest"}),
    ((5, 9), {"scale_factor": (1.7, 0.4), "mode": "bilinear"}),
    ((5, 9), {"size": (7, 3), "mode": "bilinear", "align_corners": True}),
    ((5, 9), {"size": (3, 20), "mode": "bicubic"}),
    ((5, 9), {"size": (5, 9), "mode": "bicubic"}),
    ((5, 9), {"size": (2, 4), "mode": "bilinear", "antialias": True}),
    ((9, 5), {"size": (4, 8), "mode": "bicubic", "antialias": True}),
    ((7, 9), {"size": (3, 13), "mode": "lanczos", "antialias": True}),
    ((5, 31), {"size": (4, 2), "mode": "lanczos", "antialias": True}),
    ((9, 5), {"size": (9, 5), "mode": "lanczos", "antialias": True}),
    ((4, 5, 3), {"size": (8, 3, 7), "mode": "trilinear"}),
    ((4, 5, 3), {"scale_factor": 0.6, "mode": "nearest-exact"}),
]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("size", "options"), INTERPOLATIONS, ids=str)
def test_interpolation(hotaru, near, size, options, dtype):
    if "antialias" in options and dtype in ("float16", "bfloat16"):
        pytest.skip("not implemented on the CPU")
    x = random(hotaru, 2, 3, *size, dtype=dtype)
    interpolate = hotaru.nn.functional.interpolate
    # Positions are rounded, too: a pixel has as much to say as they are large.
    near(lambda a: interpolate(a, **options), x, terms=64, scale=20)


def test_interpolation_of_bytes(hotaru, near):
    x = (hotaru.rand(2, 3, 5, 7) * 255).to(hotaru.uint8)
    interpolate = hotaru.nn.functional.interpolate
    near(lambda a: interpolate(a, scale_factor=2), x, gradients=False)
