"""Numbers, draws and lists at the edge of what tensors hold; texts and values
are PyTorch 2.13's.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import hotaru as torch

BELOW = -(2**63) - 1


def test_integers_beyond_int64():
    assert torch.tensor(BELOW, dtype=torch.bool).item() is True
    assert torch.tensor(BELOW, dtype=torch.float64).item() == float(BELOW)
    assert torch.tensor([math.nan, 2**70]).tolist()[1] == 2.0**70
    with pytest.raises(ValueError, match="Overflow when unpacking long long"):
        torch.tensor(BELOW)


def test_truth_of_complex_numbers():
    made = torch.tensor([0j, 1e-323j, 1 + 2j, 1e-324j], dtype=torch.bool)
    assert made.tolist() == [False, True, True, False]


def test_lists_that_hold_themselves():
    first, second = [], [0]
    first.append(first)
    second.append(second)
    with pytest.raises(ValueError, match="too many dimensions 'list'"):
        torch.tensor(first)
    with pytest.raises(TypeError, match="self-referential lists are incompat"):
        torch.tensor(second)


@pytest.mark.parametrize("count", [0, 2])
@pytest.mark.parametrize("kind", [int, float])
def test_numbers_of_several_elements(kind, count):
    text = "only one element tensors can be converted to Python scalars"
    with pytest.raises(ValueError, match=text):
        kind(torch.zeros(count))


@pytest.mark.parametrize(
    ("dtype", "name", "digits"),
    [
        ("float16", "c10::Half", 11),
        ("bfloat16", "c10::BFloat16", 8),
        ("float32", "float", 24),
        ("float64", "double", 53),
    ],
)
def test_draws_of_integers_that_floats_leave_out(dtype, name, digits):
    x = torch.zeros(2, dtype=getattr(torch, dtype))
    torch.set_warn_always(True)
    try:
        with pytest.warns(UserWarning, match="out of bounds") as told:
            x.random_(-(2**digits) - 1, 2**digits + 2)
    finally:
        torch.set_warn_always(False)
    assert [str(w.message).partition(" can support")[0] for w in told] == [
        f"{what} is out of bounds [-(2^{digits}), 2^{digits}]. Due to "
        f"precision limitations {name}"
        for what in ("from", "to - 1")
    ]


@pytest.mark.parametrize("dtype", ["int64", "bool", "uint16"])
def test_no_complex_dtype_for_integers(dtype):
    with pytest.raises(RuntimeError, match="Unknown Complex ScalarType for"):
        getattr(torch, dtype).to_complex()


def test_order_of_dimensions_that_is_ambiguous():
    x = torch.empty(2, 2, 1, 2)
    assert x.dim_order() == (0, 1, 2, 3)
    with pytest.raises(RuntimeError, match="does not have unique dim order"):
        x.dim_order(ambiguity_check=True)
    assert torch.empty(2, 3).dim_order(ambiguity_check=True) == (0, 1)
    with pytest.raises(TypeError, match="must be a bool or a list of memory"):
        x.dim_order(ambiguity_check="yes")


@pytest.mark.parametrize(
    ("size", "stride", "order"),
    [
        # Orders of PyTorch 2.13.
        ((2, 3, 4), (12, 0, 1), (0, 1, 2)),
        ((2, 3, 4), (0, 0, 0), (0, 1, 2)),
        ((2, 3, 4), (1, 0, 12), (2, 1, 0)),
        ((1, 3, 1), (1, 1, 3), (0, 1, 2)),
        ((2, 3, 4, 5), (60, 1, 15, 3), (0, 2, 3, 1)),
        ((3, 2), (2, 2), (0, 1)),
        ((3,), (0,), (0,)),
        ((), (), ()),
    ],
)
def test_order_of_dimensions_that_are_expanded(size, stride, order):
    assert torch.zeros(200).as_strided(size, stride).dim_order() == order


def test_functions_on_elements():
    with pytest.raises(TypeError, match="must be real number, not str"):
        torch.zeros(2).apply_(lambda value: "no")
    z = torch.zeros(2, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"Can't call map2_\(\) on Variable"):
        torch.zeros(2).map2_(torch.zeros(2), z, lambda a, b, c: a)


def test_out_overloads():
    a, out = torch.tensor(2), torch.tensor(0)
    add = torch.ops.aten.add
    assert add.out(a, a, out=out) is out
    assert out.item() == 4
    with pytest.raises(RuntimeError, match="missing value for argument 'out'"):
        add.out(a, a)
    with pytest.raises(RuntimeError, match="Unknown keyword argument 'out'"):
        add.Tensor(a, a, out=out)
    with pytest.raises(AttributeError, match="no overload name 'no_out'"):
        add.no_out  # noqa: B018


def test_linear_maps_go_back_again():
    x = torch.randn(1, 2, 4, requires_grad=True)
    y = torch.nn.functional.interpolate(x, size=12, mode="linear")
    theta = torch.randn(1, 2, 3, requires_grad=True)
    grid = torch.affine_grid_generator(theta, [1, 1, 3, 5], False)
    assert type(grid.grad_fn).__name__ == "AffineGridGeneratorBackward0"
    for out, leaf in ((y, x), (grid, theta)):
        out.backward(torch.ones_like(out))
        once = leaf.grad.clone()
        out.backward(torch.ones_like(out))
        assert torch.equal(leaf.grad, 2 * once)
    assert torch.autograd.gradcheck(
        lambda t: torch.affine_grid_generator(t, [2, 1, 3, 4, 2], True),
        [torch.randn(2, 3, 4, dtype=torch.float64, requires_grad=True)],
    )


def test_empty_pictures():
    c = torch.zeros(0, 6, 2, 2)
    assert torch.channel_shuffle(c, 3).shape == c.shape
    assert torch.native_channel_shuffle(torch.arange(6.0).view(1, 6, 1), 3)[
        0, :, 0
    ].tolist() == [0, 2, 4, 1, 3, 5]
    for shape in ((3, 0, 3, 4), (0, 3, 4), (3, 3, 0, 4)):
        with pytest.raises(RuntimeError, match="Expected 3D or 4D"):
            torch.nn.functional.unfold(torch.zeros(shape), (2, 3))
    assert torch.cat([torch.empty(0), torch.empty(0)], dim=1).shape == (0,)


def test_plain_convolutions_by_name():
    x, w = torch.randn(1, 2, 4, 5, 6), torch.randn(3, 2, 2, 2, 3)
    nn = torch.ops.aten
    assert torch.equal(
        nn.slow_conv3d(x, w, [2, 2, 3], padding=[1, 0, 1]),
        torch.conv3d(x, w, padding=[1, 0, 1]),
    )
    with pytest.raises(RuntimeError, match="2D kernel_size expected"):
        nn.thnn_conv2d(x[0], w[:, :, 0], kernel_size=[])


@pytest.mark.parametrize(
    "call",
    [
        lambda x, n: x + n,
        lambda x, n: n + x,
        lambda x, n: n * x * 2,
        lambda x, n: (x == n) * 2,
        lambda x, n: x.add_(n),
        lambda x, n: x.fill_(n + 1),
    ],
)
@pytest.mark.parametrize("kind", [np.longdouble, np.clongdouble])
def test_long_doubles_of_numpy_are_numbers(hotaru, call, kind):
    dtype = hotaru.float32 if kind is np.longdouble else hotaru.complex64
    found = call(hotaru.ones(2, dtype=dtype), kind(1))
    assert isinstance(found, hotaru.Tensor)
    assert found.tolist() == [2, 2]


@pytest.mark.parametrize("exponent", [True, False])
def test_powers_of_bools(hotaru, exponent):
    x = hotaru.tensor([True, False])
    want = hotaru.tensor([True, not exponent])
    for found in (x.pow(exponent), x**exponent, x.clone().pow_(exponent)):
        assert found.dtype is hotaru.bool
        assert hotaru.equal(found, want)


@pytest.mark.parametrize(
    ("name", "bits", "low", "high"),
    [
        ("qint8", 8, -128, 127),
        ("quint8", 8, 0, 255),
        ("qint32", 32, -(2**31), 2**31 - 1),
        ("quint4x2", 8, 0, 255),
        ("quint2x4", 8, 0, 255),
        ("int16", 16, -(2**15), 2**15 - 1),
        ("uint64", 64, 0, 2**64 - 1),
    ],
)
def test_limits_of_integers(name, bits, low, high):
    info = torch.iinfo(type=getattr(torch, name))
    assert (info.bits, info.min, info.max) == (bits, low, high)
    assert info.dtype == name
    assert repr(info).endswith(f"dtype={name})")
    with pytest.raises(TypeError, match="requires a floating point input"):
        torch.finfo(type=getattr(torch, name))
