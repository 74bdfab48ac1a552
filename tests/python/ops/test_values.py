"""Values and dtypes at the edges of operators; PyTorch 2.13 computed them."""

from __future__ import annotations

import math

import pytest

NAN, INF = math.nan, math.inf


def same(got, wanted):
    """Nested lists are equal, NaN to NaN."""
    if isinstance(wanted, list):
        return len(got) == len(wanted) and all(map(same, got, wanted))
    return got == wanted or (got != got and wanted != wanted)


def test_isin_among_nan(hotaru):
    t = hotaru.tensor
    x = t([1.0, 5.0, 3.0, NAN])
    for tests in ([NAN, 5.0, NAN, 3.0, 1.0], [5.0, NAN, 1.0, 3.0]):
        assert hotaru.isin(x, t(tests)).tolist() == [True, True, True, False]
    assert hotaru.isin(x, t([NAN])).tolist() == [False] * 4
    assert hotaru.isin(t([1, 5, 3]), t([5]), invert=True).tolist() == [1, 0, 1]
    assert hotaru.isin(hotaru.zeros(0), t([5.0])).shape == (0,)


def test_logit_of_integers(hotaru):
    for dtype in (hotaru.uint8, hotaru.int64, hotaru.bool):
        y = hotaru.tensor([0, 1], dtype=dtype).logit()
        assert y.dtype == hotaru.float32
        assert y.tolist() == [-INF, INF]


@pytest.mark.parametrize("bounds", [(-5, 300), (None, 300), (None, 2**40)])
@pytest.mark.parametrize("dtype", ["uint8", "int8"])
def test_clamping_by_what_the_dtype_lacks(hotaru, dtype, bounds):
    x = hotaru.tensor([0, 100], dtype=getattr(hotaru, dtype))
    with pytest.raises(RuntimeError, match="without overflow"):
        x.clamp(*bounds)
    with pytest.raises(RuntimeError, match="without overflow"):
        x.clamp_(*bounds)
    assert x.tolist() == [0, 100]


def test_clamping_by_nan(hotaru):
    x = hotaru.tensor([1.0, -2.0, INF], requires_grad=True)
    for y in (x.clamp(NAN), x.clamp(None, NAN), x.clamp(0, NAN), x.clamp_min(NAN)):
        assert same(y.tolist(), [NAN] * 3)
    assert same(hotaru.nn.functional.hardtanh(x, NAN, 1.0).tolist(), [NAN] * 3)
    x.clamp(min=NAN).sum().backward()
    assert x.grad.tolist() == [0] * 3
    assert same(hotaru.tensor([1, 2]).clamp(NAN).tolist(), [NAN] * 2)


LINSPACES = [
    ((-3.7, 3.7, 6), "int64", [-3, -1, 0, 0, 1, 3]),
    ((0, 10, 4), "int32", [0, 3, 6, 10]),
    ((-7, 7, 5), "uint8", [249, 188, 128, 67, 7]),
    ((0, 10, 4), "float16", [0.0, 3.333984375, 6.6640625, 10.0]),
    ((0, 10, 4), "bfloat16", [0.0, 3.328125, 6.6875, 10.0]),
    ((5, 5, 3), "int64", [5, 5, 5]),
    ((0, 100, 1), "int64", [0]),
    ((0, 100, 0), "int64", []),
]


@pytest.mark.parametrize(("bounds", "dtype", "wanted"), LINSPACES)
def test_linspace(hotaru, bounds, dtype, wanted):
    y = hotaru.linspace(*bounds, dtype=getattr(hotaru, dtype))
    assert y.tolist() == wanted


@pytest.mark.parametrize("make", ["linspace", "logspace"])
@pytest.mark.parametrize(
    ("end", "dtype"), [(300, "uint8"), (128, "int8"), (2**40, "float16")]
)
def test_spaces_refuse_bounds_that_overflow(hotaru, make, end, dtype):
    with pytest.raises(RuntimeError, match="without overflow"):
        getattr(hotaru, make)(0, end, 4, dtype=getattr(hotaru, dtype))


def test_logspace_of_integers(hotaru):
    space = hotaru.logspace
    y = space(0, 3, 4, dtype=hotaru.int64)
    assert y.dtype == hotaru.int64
    assert y.tolist() == [1, 10, 100, 1000]
    assert space(0, 3, 4, base=-2, dtype=hotaru.int32).tolist() == [1, -2, 4, -8]
    assert space(0, 1, 4, dtype=hotaru.int64).tolist() == [1, 2, 4, 10]
    assert space(0, 1, 4).tolist() == [1, 2.1544346809387207, 4.6415886878967285, 10]


ARANGES = [
    ((3.1,), "int32", [0, 1, 2, 3]),
    ((0.5, 3.1, 0.7), "int32", [0, 0, 0, 0]),
    ((0, -3.5, -1), "uint8", [0, 255, 254, 253]),
    ((0, 3, 1.5), "int32", [0, 1]),
    ((-0.5, 2.9), "int32", [0, 1, 2, 3]),
    ((0, 3.1), "int64", [0, 1, 2]),
    (
        (5.5, 0, -1.2),
        "float32",
        [
            5.5,
            4.300000190734863,
            3.0999999046325684,
            1.899999976158142,
            0.699999988079071,
        ],
    ),
]


@pytest.mark.parametrize(("args", "dtype", "wanted"), ARANGES)
def test_arange(hotaru, args, dtype, wanted):
    assert hotaru.arange(*args, dtype=getattr(hotaru, dtype)).tolist() == wanted


def test_arange_without_a_step(hotaru):
    for step in (0, 0.0, NAN):
        with pytest.raises(RuntimeError, match="step must be nonzero"):
            hotaru.arange(0, 5, step)
    with pytest.raises(ValueError, match="step must be nonzero"):
        hotaru.arange(0, 1, 0.3, dtype=hotaru.int64)


@pytest.mark.parametrize("name", ["fmax", "fmin"])
def test_extremes_keep_dtypes(hotaru, name):
    f = getattr(hotaru, name)
    for a, b, wanted in (
        ("int64", "int64", "int64"),
        ("bool", "bool", "bool"),
        ("uint8", "int8", "int16"),
        ("int32", "float32", "float32"),
        ("float16", "int64", "float16"),
    ):
        x = hotaru.tensor([1, 0], dtype=getattr(hotaru, a))
        y = hotaru.tensor([0, 1], dtype=getattr(hotaru, b))
        z = f(x, y)
        assert z.dtype == getattr(hotaru, wanted)
        assert z.tolist() == [int(name == "fmax")] * 2
    assert f(hotaru.tensor([NAN]), hotaru.tensor([2.0])).tolist() == [2]


def test_ldexp_keeps_the_dtype_of_its_first(hotaru):
    t = hotaru.tensor
    three = t([3], dtype=hotaru.uint8)
    for x, dtype in (
        (t(1.5, dtype=hotaru.float64), hotaru.float64),
        (t([1.5], dtype=hotaru.float16), hotaru.float16),
        (t([2]), hotaru.float32),
    ):
        y = hotaru.ldexp(x, three)
        assert y.dtype == dtype
        assert y.tolist() == [8 * x.item()]


def test_multi_margin_loss_has_the_shape_of_its_target(hotaru):
    loss = hotaru.nn.functional.multi_margin_loss
    x, t = hotaru.tensor([0.1, 0.2, 0.4]), hotaru.tensor
    for input, target, shape in (
        (x, t(1), ()),
        (x, t([1]), (1,)),
        (x[None], t([1]), (1,)),
        (x[None], t(1), ()),
    ):
        assert loss(input, target, reduction="none").shape == shape
        assert loss(input, target).shape == ()


def test_ravel_is_contiguous(hotaru):
    for x in (hotaru.arange(10)[::2], hotaru.tensor([3]).expand(4)):
        assert x.ravel().is_contiguous()
        assert x.ravel().tolist() == x.tolist()
    x = hotaru.zeros(2, 3)
    assert x.ravel().data_ptr() == x.data_ptr()


@pytest.mark.parametrize(
    ("mode", "padding_mode", "wanted"),
    [
        ("bilinear", "zeros", [NAN, NAN, NAN, 0, NAN]),
        ("bicubic", "zeros", [NAN, NAN, NAN, 0, NAN]),
        ("bicubic", "border", [NAN, NAN, NAN, 10, NAN]),
        ("bicubic", "reflection", [NAN, NAN, NAN, 7, NAN]),
    ],
)
def test_grid_sample_at_nan(hotaru, mode, padding_mode, wanted):
    points = [[NAN, 0.0], [0.0, NAN], [INF, 0.0], [1e30, 0.0], [NAN, 5.0]]
    grid = hotaru.tensor(points, requires_grad=True)
    x = hotaru.arange(1, 17.0).reshape(1, 1, 4, 4).requires_grad_()
    y = hotaru.nn.functional.grid_sample(
        x, grid[None, None], mode=mode, padding_mode=padding_mode, align_corners=True
    )
    assert same(y.flatten().tolist(), wanted)
    y.sum().backward()
    assert not x.grad.isnan().any()
    assert grid.grad[0].isnan().all()


def test_rrelu_draws_where_it_needs_to(hotaru):
    rrelu = hotaru.nn.functional.rrelu
    for dtype in (hotaru.float32, hotaru.float64):
        hotaru.manual_seed(42)
        x = hotaru.tensor([-8.0, -2, 3], dtype=dtype, requires_grad=True)
        y = rrelu(x, 0.0, 1.0, True)
        wanted = [-0.46523588899, -0.12582033484, 3]
        assert y.tolist() == pytest.approx(wanted, abs=1e-7)
        assert hotaru.rand(1).item() == 0.3904482126235962
        y.sum().backward()
        assert x.grad.tolist() == pytest.approx([0.0581544861, 0.0629101674, 1])


PICTURE = [[0, 255, 0, 255], [255, 255, 0, 0], [0, 0, 255, 9], [233, 17, 255, 0]]


@pytest.mark.parametrize(
    ("mode", "antialias", "wanted"),
    [
        ("bicubic", False, [[170, 86], [128, 69], [84, 154]]),
        ("bicubic", True, [[150, 111], [132, 67], [105, 118]]),
        ("bilinear", False, [[149, 107], [128, 66], [104, 129]]),
        ("bilinear", True, [[142, 113], [128, 75], [112, 112]]),
    ],
)
def test_bytes_are_interpolated_in_bytes(hotaru, mode, antialias, wanted):
    x = hotaru.tensor([[PICTURE]], dtype=hotaru.uint8)
    resize = hotaru.nn.functional.interpolate
    y = resize(x, size=(3, 2), mode=mode, antialias=antialias)
    assert y[0, 0].tolist() == wanted


def test_bytes_do_not_overshoot(hotaru):
    x = hotaru.tensor([[PICTURE]], dtype=hotaru.uint8)
    y = hotaru.nn.functional.interpolate(x, size=(7, 5), mode="bicubic")
    assert y[0, 0].tolist() == [
        [0, 208, 128, 47, 255],
        [103, 242, 127, 15, 168],
        [252, 255, 127, 0, 15],
        [128, 127, 141, 103, 0],
        [2, 0, 151, 224, 0],
        [146, 18, 145, 225, 0],
        [255, 56, 139, 210, 0],
    ]


def test_operators_beside_numpy_arrays(hotaru):
    numpy = pytest.importorskip("numpy", reason="numpy is not installed here")
    t, a = hotaru.tensor([1.0, 2.0]), numpy.array([2.0, 2.0])
    for equal in (t == a, a == t):
        assert equal.dtype == hotaru.bool
        assert equal.tolist() == [False, True]
    for quotient, wanted in ((a / t, [2, 1]), (t / a, [0.5, 1])):
        assert quotient.dtype == hotaru.float64
        assert quotient.tolist() == wanted
    assert isinstance(t - a, hotaru.Tensor)
    assert isinstance(numpy.sin(t), hotaru.Tensor)
    assert (t == numpy.array(["a", "b"])) is False
    with pytest.raises(RuntimeError, match="must match the size"):
        t == numpy.zeros(3)  # noqa: B015


def test_distances_of_halves(hotaru):
    """The squares of 16-bit differences do not have to fit 16 bits."""
    x = hotaru.full((10000,), 30.0, dtype=hotaru.float16)
    assert hotaru.dist(x, -x).item() == 6000
    y, z = hotaru.tensor([1.0, 2, 3]), hotaru.tensor([1.0, 0, 7])
    for p, wanted in ((0, 2), (1, 6), (INF, 4)):
        assert hotaru.dist(y, z, p).item() == wanted


def test_logaddexp2_near_and_far(hotaru):
    t = hotaru.tensor
    y = hotaru.logaddexp2(t([-1.0, INF, -INF, 3.0]), t([-30.0, INF, -INF, 3.0]))
    near = -1 + math.log2(1 + 2**-29)
    assert y.tolist() == [pytest.approx(near, rel=1e-7), INF, -INF, 4]
    small = hotaru.logaddexp2(t([-1.0]), t([-1.0001]))
    wanted = math.log2(2**-1.0 + 2 ** float(t([-1.0001])[0]))
    assert small.item() == pytest.approx(wanted, abs=1e-7)


def test_layer_norm_of_a_long_row(hotaru):
    """Rounding errors do not grow with the row: 3e-6 of values about 4."""
    n = 1 << 23
    x = (hotaru.arange(n) % 1000).float() * 0.01 + 100
    y = hotaru.nn.functional.layer_norm(x, (n,))
    wide = x.double()
    centred = wide - wide.mean()
    wanted = centred / (centred.square().mean() + 1e-5).sqrt()
    assert (y.double() - wanted).abs().max() < 3e-6


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_attention_of_large_scores(hotaru, dtype):
    """One rounding of the result: half a unit of the largest value."""
    dtype = getattr(hotaru, dtype)
    hotaru.manual_seed(0)
    q, k, v = ((hotaru.randn(1, 2, 64, 64) * 6).to(dtype) for _ in range(3))
    attend = hotaru.nn.functional.scaled_dot_product_attention
    wanted = attend(q.double(), k.double(), v.double())
    error = (attend(q, k, v).double() - wanted).abs()
    assert (error <= hotaru.finfo(dtype).eps * wanted.abs() / 2 + 1e-3).all()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_transposed_convolutions_round_once(hotaru, dtype):
    dtype = getattr(hotaru, dtype)
    hotaru.manual_seed(0)
    x, w = (hotaru.randn(2, 16, 12, 12).to(dtype), hotaru.randn(16, 8, 5, 5).to(dtype))
    conv = hotaru.nn.functional.conv_transpose2d
    wanted = conv(x.double(), w.double())
    error = (conv(x, w).double() - wanted).abs()
    assert (error <= hotaru.finfo(dtype).eps * wanted.abs() / 2 + 1e-4).all()


FAR = 2**63 - 1


@pytest.mark.parametrize(
    ("dtype", "wanted"),
    [("int64", [-(2**63)] * 6 + [3, -3]), ("int16", [0] * 6 + [3, -3])],
)
def test_casts_of_numbers_that_integers_lack(hotaru, dtype, wanted):
    x = hotaru.tensor([INF, -INF, NAN, 1e300, -1e300, 9.3e18, 3.9, -3.9])
    assert x.to(getattr(hotaru, dtype)).tolist() == wanted


def test_powers_wrap_around(hotaru):
    base = hotaru.tensor([255, -3, 181], dtype=hotaru.int16)
    exponent = hotaru.tensor([4, 5, 2], dtype=hotaru.int16)
    assert (base**exponent).tolist() == [-1023, -243, 32761]
    base = hotaru.tensor([255, 3], dtype=hotaru.uint8)
    exponent = hotaru.tensor([255, 200], dtype=hotaru.uint8)
    assert (base**exponent).tolist() == [255, 161]


def test_integers_are_summed_in_int64_and_cut_at_the_end(hotaru):
    t = hotaru.tensor
    x = t([[100, 100], [3, 4]], dtype=hotaru.int8)
    assert x.sum(1, dtype=hotaru.int8).tolist() == [-56, 7]
    assert t([200, 2], dtype=hotaru.uint8).prod(dtype=hotaru.uint8) == 144
    assert t([1, 2]).sum(dtype=hotaru.bool).tolist() is True
    total = hotaru.zeros((), dtype=hotaru.int32)
    assert hotaru.sum(t([1, 2]), 0, out=total).dtype == hotaru.int32
    assert total == 3


def test_truth_of_bytes(hotaru):
    byte, char = hotaru.uint8, hotaru.int8
    assert str(hotaru.tensor([0, 2], dtype=byte).any()) == (
        "tensor(1, dtype=torch.uint8)"
    )
    assert not hotaru.tensor([0, 2], dtype=char).all()
    assert hotaru.tensor([0, 2, -1], dtype=char).count_nonzero() == 2


def test_norms_of_every_order(hotaru):
    x = hotaru.tensor([3.0, -4.0, 0.0])
    orders = (0, 1, 2, INF, -INF)
    assert [x.norm(p).item() for p in orders] == [2, 7, 5, 4, 0]
    assert math.isnan(hotaru.linalg.vector_norm(x, NAN).item())


def test_shifts_and_turns_of_any_size(hotaru):
    x = hotaru.ones(3, requires_grad=True)
    hotaru.roll(x, -FAR - 1).mul(hotaru.arange(3.0)).sum().backward()
    assert x.grad.tolist() == [1, 2, 0]
    x = hotaru.ones(2, 2, requires_grad=True)
    weights = hotaru.arange(4.0).reshape(2, 2)
    hotaru.rot90(x, -FAR - 1).mul(weights).sum().backward()
    assert x.grad.tolist() == [[0, 1], [2, 3]]
    with pytest.raises(IndexError):
        hotaru.rot90(x, 1, (FAR, -FAR - 1))
    for offset in (FAR, -FAR - 1):
        assert weights.diagonal(offset).tolist() == []
        with pytest.raises(RuntimeError, match="larger than int64 can count"):
            hotaru.diag_embed(hotaru.ones(2), offset)


def test_steps_of_any_size(hotaru):
    x = hotaru.arange(8.0).reshape(2, 4)
    assert x[0, ::FAR].tolist() == [0]
    assert x[:1, :: 2**62][:, ::4].tolist() == [[0]]
    assert x[0].unfold(0, 4, FAR).tolist() == [[0, 1, 2, 3]]
    with pytest.raises(RuntimeError, match="overflowed"):
        x.as_strided((1, 1), (2**62, 1))


def test_angles_beyond_the_fast_ones(hotaru):
    got = hotaru.tensor([1e30, INF, -1e6]).sin().tolist()
    wanted = [-0.791163444519043, NAN, 0.3499935]
    for a, b in zip(got, wanted):
        assert a == pytest.approx(b, rel=1e-6, nan_ok=True)


def test_pooling_by_the_largest_step(hotaru):
    x = hotaru.arange(16.0).reshape(1, 1, 4, 4)
    values, where = hotaru.nn.functional.max_pool2d(
        x, 2, stride=(1, 2**31 - 1), return_indices=True
    )
    assert values.flatten().tolist() == [5, 9, 13]
    assert where.flatten().tolist() == [5, 9, 13]


def test_bilinear_of_scalars(hotaru):
    one = hotaru.tensor(1.0)
    with pytest.raises(RuntimeError, match="at least 1 dimension"):
        hotaru.nn.functional.bilinear(one, one, hotaru.ones(1, 1, 1))


def test_memory_that_a_tensor_grows_into_is_zero(hotaru):
    x = hotaru.ones(3, dtype=hotaru.float64).resize_(50_000)
    assert x[:3].tolist() == [1, 1, 1]
    assert x[3:].count_nonzero() == 0


@pytest.mark.parametrize(
    "call",
    [
        "torch.ones(3).index_fill_(0, i, 1e300)",
        "torch.ones(3, dtype=torch.uint8).index_fill_(0, i, 300)",
        "torch.ones(3, dtype=torch.uint8).scatter_(0, i, 300)",
        "F.threshold(torch.ones(3, dtype=torch.uint8), 1, 300)",
        "F.pad(torch.ones(3, dtype=torch.uint8), (1, 1), value=300)",
    ],
)
def test_numbers_that_the_dtype_lacks(hotaru, call):
    names = {"torch": hotaru, "F": hotaru.nn.functional, "i": hotaru.tensor([0])}
    with pytest.raises(RuntimeError, match="without overflow"):
        eval(call, names)


@pytest.mark.parametrize(
    "call",
    [
        "x.scatter_(0, i, 1.)",
        "x.scatter_(0, i, one)",
        "x.scatter_add_(0, i, one)",
        "x.index_add_(0, i, one)",
        "x.index_copy_(0, i, one)",
        "x.masked_scatter_(torch.tensor([True, False, True]), torch.ones(3))",
    ],
)
def test_elements_that_share_memory_are_not_written(hotaru, call):
    names = {
        "torch": hotaru,
        "x": hotaru.ones(1).expand(3),
        "i": hotaru.tensor([0]),
        "one": hotaru.ones(1),
    }
    with pytest.raises(RuntimeError, match="refers to a single memory"):
        eval(call, names)


def test_dimensions_of_scalars_are_named_once(hotaru):
    x = hotaru.tensor(5.0)
    assert x.sum((0,)) == 5
    for call in (x.sum, x.mean, x.var, x.flip):
        with pytest.raises(RuntimeError, match="dim 0 appears multiple times"):
            call((0, -1))


def test_no_elements_of_a_scalar_are_one(hotaru):
    values, indices = hotaru.tensor(5.0).topk(0)
    assert (values.item(), indices.item()) == (5.0, 0)


@pytest.mark.filterwarnings("ignore:where received a uint8")
def test_where_has_gradients_for_masks_of_bytes(hotaru):
    x = hotaru.ones(3, requires_grad=True)
    mask = hotaru.tensor([1, 0, 2], dtype=hotaru.uint8)
    hotaru.where(mask, x, x * 2).sum().backward()
    assert x.grad.tolist() == [1, 2, 1]


def test_complex_numbers_have_no_bounds_that_are_nan(hotaru):
    with pytest.raises(NotImplementedError, match="clamp is not supported"):
        hotaru.ones(2, dtype=hotaru.complex64).clamp(NAN)


def test_where_of_a_condition_alone(hotaru):
    torch = hotaru
    x = torch.tensor([[0, 3], [5, 0]])
    rows, columns = torch.where(x)
    assert rows.tolist() == [0, 1]
    assert columns.tolist() == [1, 0]
    assert [p.tolist() for p in torch.where(torch.tensor(True))] == [[0]]
    assert x.where(x > 3, 7).tolist() == [[7, 7], [5, 7]]


def test_what_is_new_was_not_changed(hotaru):
    torch = hotaru
    for made in (torch.rand(2), torch.randn(2), torch.randint(3, (2,))):
        assert made._version == 0
    assert torch.rand(2).uniform_()._version == 1


def test_gradient_of_complex_outlives_its_parts(hotaru):
    t = hotaru.ones(1, 3, requires_grad=True)
    # The parts are gone before the gradient asks for their shapes.
    z = hotaru.complex(t * 1, (t * 2).sum(1, keepdim=True).expand(4, 1) * 1)
    for n in range(8):
        hotaru.empty(n + 1, 7)
    hotaru.view_as_real(z).sum().backward()
    assert t.grad.tolist() == [[28.0, 28.0, 28.0]]


def test_numbers_at_the_ends_of_their_range(hotaru):
    rows = hotaru.ones(2, 3)
    with pytest.raises(RuntimeError, match=r"correction -9.* out of range"):
        hotaru.cov(rows, correction=-(2**63) + 1)
    ramp = hotaru.arange(4.0).view(1, 1, 4)
    for name in ("upsample_linear1d", "upsample_nearest1d"):
        arguments = [ramp, [3], *([False] if "linear" in name else [])]
        grown = getattr(hotaru.ops.aten, name)(*arguments, 1e-310)
        assert grown[0, 0, 1:].tolist() == [3.0, 3.0]


def test_equal_finds_a_difference_anywhere(hotaru):
    torch = hotaru
    x = torch.arange(100000)
    assert torch.equal(x, x.clone())
    for i in (0, 2047, 2048, 18431, 18432, 99999):
        y = x.clone()
        y[i] = -1
        assert not torch.equal(x, y), i
    assert torch.equal(x.double()[::2], x[::2])
    square = torch.randn(300, 300)
    turned = square.clone()
    turned[299, 0] = 9
    assert not torch.equal(square.t(), turned.t())
    nan = torch.full((5000,), float("nan"))
    assert not torch.equal(nan, nan)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int64"])
def test_all_and_any_of_numbers_that_look_like_zero(hotaru, dtype):
    torch = hotaru
    zeros = torch.zeros(40, 301, dtype=getattr(torch, dtype))
    some = zeros.clone()
    # -0.0 is zero; the smallest number and NaN are not.
    some[3] = -0.0 if zeros.is_floating_point() else 0
    some[5, 300] = 1
    if zeros.is_floating_point():
        some[7, 0] = torch.finfo(some.dtype).smallest_normal / 2
        some[9, 17] = float("nan")
    wanted = [
        row in ((5, 7, 9) if some.is_floating_point() else (5,)) for row in range(40)
    ]
    assert some.any(1).tolist() == wanted
    assert some.any().item()
    assert not zeros.any().item()
    full = some[5:6].clone().fill_(3)
    assert full.all().item()
    full[0, 150] = zeros[0, 0] * -1
    assert not full.all().item()
    assert full.all(0).sum().item() == 300


def test_sums_of_integers_wrap(hotaru):
    torch = hotaru
    largest = torch.iinfo(torch.int64).max
    x = torch.full((3, 1000), largest)
    expected = (largest * 1000 + 2**63) % 2**64 - 2**63
    assert x.sum(1).tolist() == [expected] * 3
    assert torch.arange(10_001).sum().item() == 50_005_000


@pytest.mark.parametrize("threads", [1, 2])
def test_nonzero_in_order_whoever_finds_them(hotaru, threads):
    torch = hotaru
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        x = (torch.arange(300 * 7 * 129) % 5 == 2).view(300, 7, 129)
        found = x.nonzero()
        flat = found[:, 0] * 7 * 129 + found[:, 1] * 129 + found[:, 2]
        assert torch.equal(flat, torch.arange(2, x.numel(), 5))
        turned = x.transpose(0, 2)[:, :, 1:]
        assert torch.equal(turned.nonzero(), turned.contiguous().nonzero())
        wide = x.view(300, -1).float()
        assert torch.equal(wide.nonzero()[:, 0] * 903 + wide.nonzero()[:, 1], flat)
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize("times", [2, 3, 16, 17])
@pytest.mark.parametrize("dtype", ["uint8", "float32", "complex128"])
def test_repeated_elements(hotaru, times, dtype):
    torch = hotaru
    x = torch.arange(5 * 6 * 70).view(5, 6, 70).to(getattr(torch, dtype))
    wanted = [v for v in x[1:, ::2].flatten().tolist() for _ in range(times)]
    found = x[1:, ::2].repeat_interleave(times, 2)
    assert found.shape == (4, 3, 70 * times)
    assert found.flatten().tolist() == wanted


def test_a_number_to_the_power_of_a_tensor(hotaru):
    torch = hotaru
    x = torch.tensor([-1.0, 0.0, 2.0], requires_grad=True)
    (2**x).sum().backward()
    expected = [math.log(2) * 2**e for e in (-1, 0, 2)]
    assert x.grad.tolist() == pytest.approx(expected, rel=1e-6)
    x.grad = None
    (0**x)[1:].sum().backward()
    assert x.grad.tolist()[1:] == [0, 0]
    assert (2 ** torch.tensor([3, 4])).dtype == torch.int64
    (first,) = torch.autograd.grad((3**x).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    expected = [math.log(3) ** 2 * 3**e for e in (-1, 0, 2)]
    assert second.tolist() == pytest.approx(expected, rel=1e-6)


def test_long_dot_products_whatever_the_threads(hotaru):
    torch = hotaru
    x, y = torch.randn(200_001), torch.randn(200_001)
    before = torch.get_num_threads()
    found = []
    for threads in (1, 2):
        torch.set_num_threads(threads)
        found.append(torch.dot(x, y).item())
    torch.set_num_threads(before)
    assert found[0] == found[1]
    expected = (x.double() * y.double()).sum().item()
    assert found[0] == pytest.approx(expected, abs=1e-2)
    strided = torch.randn(400_002)
    expected = (strided[::2].double() * y.double()).sum().item()
    assert torch.dot(strided[::2], y).item() == pytest.approx(expected, abs=1e-2)


@pytest.mark.parametrize("n", [1, 7, 8, 31, 32, 33, 1000, 5000])
def test_sums_of_complex_rows(hotaru, n):
    torch = hotaru
    z = torch.complex(torch.arange(float(3 * n)), -torch.ones(3 * n)).view(3, n)
    wanted = [complex(sum(range(row * n, row * n + n)), -n) for row in range(3)]
    assert z.sum(1).tolist() == pytest.approx(wanted)
    counted = torch.randint(0, 3, (4, n)).float()
    assert counted.count_nonzero(1).tolist() == [
        sum(v != 0 for v in row) for row in counted.tolist()
    ]
    assert (counted != 0).sum(1).tolist() == counted.count_nonzero(1).tolist()
    assert (counted.t() != 0).sum(0).tolist() == (counted != 0).sum(1).tolist()
    holes = counted.clone()
    holes[counted == 1] = NAN
    wanted = [sum(v for v in row if v != 1) for row in counted.tolist()]
    assert holes.nansum(1).tolist() == wanted
    columns = counted.t().contiguous()
    assert (columns.norm(2, 0) ** 2).tolist() == pytest.approx(
        [sum(v * v for v in row) for row in counted.tolist()], rel=1e-5
    )
