"""Dtypes that an operator has no kernel for: PyTorch's names of the kernels."""

from __future__ import annotations

import pytest

SCALAR_TYPES = {
    "bool": "Bool",
    "uint8": "Byte",
    "int64": "Long",
    "float32": "Float",
    "complex64": "ComplexFloat",
}
MISSING = "\"{}\" not implemented for '{}'"


@pytest.mark.parametrize(
    ("call", "dtype", "name"),
    [
        ("abs(x)", "bool", "abs_cpu"),
        ("bitwise_not(x)", "float32", "bitwise_not_cpu"),
        ("floor(x)", "bool", "floor_vml_cpu"),
        ("round(x)", "complex64", "round_vml_cpu"),
        ("erf(x)", "complex64", "erf_vml_cpu"),
        ("lgamma(x)", "complex64", "lgamma_vml_cpu"),
        ("frac(x)", "int64", "frac_cpu"),
        ("logit(x)", "complex64", "logit_cpu"),
        ("digamma(x)", "complex64", "digamma"),
        ("atan2(x, x)", "complex64", "atan2_cpu"),
        ("gcd(x, x)", "float32", "gcd_cpu"),
        ("hypot(x, x)", "int64", "hypot_cpu"),
        ("logaddexp(x, x)", "int64", "logaddexp_cpu"),
        ("remainder(x, x)", "bool", "remainder_cpu"),
        ("bitwise_left_shift(x, x)", "float32", "lshift_cpu"),
        ("lt(x, x)", "complex64", "lt_cpu"),
        ("logcumsumexp(x, 0)", "int64", "logcumsumexp_out_cpu"),
        ("cummax(x, 0)", "complex64", "cummax_cpu"),
        ("nn.functional.elu(x)", "int64", "elu_cpu"),
        ("nn.functional.selu(x)", "int64", "elu_cpu"),
        ("nn.functional.silu(x)", "int64", "silu_cpu"),
        ("nn.functional.mish(x)", "bool", "mish_cpu"),
        ("nn.functional.hardswish(x)", "int64", "hardswish_cpu"),
        ("nn.functional.softplus(x)", "uint8", "softplus_cpu"),
        ("nn.functional.leaky_relu(x)", "int64", "leaky_relu_cpu"),
        ("nn.functional.logsigmoid(x)", "int64", "log_sigmoid_cpu"),
        ("nn.functional.hardshrink(x)", "int64", "hardshrink_cpu"),
        ("nn.functional.softshrink(x)", "int64", "softshrink_check"),
        ("nn.functional.gelu(x)", "int64", "GeluKernelImpl"),
        ("nn.functional.glu(x)", "int64", "glu_cpu"),
        ("nn.functional.threshold(x, 1, 2)", "bool", "threshold_cpu"),
        ("arange(2, dtype=x.dtype)", "bool", "arange_cpu"),
        ("linspace(0, 1, 2, dtype=x.dtype)", "bool", "linspace_cpu"),
        ("randperm(2, out=x)", "complex64", "randperm"),
        ("arange(2, out=x)", "complex64", "arange_cpu"),
        ("rand(2, out=x)", "int64", "check_uniform_bounds"),
        ("randn(2, out=x)", "int64", "normal_kernel_cpu"),
        ("lerp(x, x, 0.5)", "int64", "lerp_kernel_scalar"),
        ("clamp(x, x, x)", "bool", "clamp_cpu"),
        ("logaddexp2(x, x)", "int64", "logaddexp2_cpu"),
        ("cross(m, m)", "bool", "cross"),
        ("round(x, decimals=1)", "int64", "round_cpu"),
        ("nn.functional.mse_loss(x, x)", "complex64", "mse_cpu"),
        ("nn.functional.smooth_l1_loss(x, x)", "complex64", "smooth_l1_cpu"),
        ("nn.functional.huber_loss(x, x)", "complex64", "huber_cpu"),
        (
            "nn.functional.binary_cross_entropy_with_logits(x, x)",
            "int64",
            "log_sigmoid_cpu",
        ),
        (
            "nn.functional.multi_margin_loss(m, torch.tensor([0, 1, 2]))",
            "int64",
            "multi_margin_loss_cpu_kernel",
        ),
        ("nn.functional.max_pool1d(m[None], 2)", "int64", "max_pool1d_impl"),
        ("nn.functional.avg_pool2d(m[None], 2)", "uint8", "avg_pool2d"),
        (
            "nn.functional.interpolate(m[None], scale_factor=2)",
            "int64",
            "compute_indices_weights_nearest",
        ),
        ("nn.functional.rms_norm(x, (2,))", "int64", "rms_norm"),
        ("nn.functional.pad(m[None], (1, 1), 'reflect')", "bool", "reflection_pad1d"),
        ("nn.functional.unfold(m[None], 2)", "int64", "im2col_out_cpu"),
        (
            "nn.functional.fold(torch.ones(4, 4).to(m), (3, 3), 2)",
            "int64",
            "col2im_out_cpu",
        ),
    ],
)
def test_kernels_have_pytorchs_names(hotaru, call, dtype, name):
    x = hotaru.tensor([1, 0]).to(getattr(hotaru, dtype))
    m = hotaru.ones(3, 3).to(x.dtype)
    with pytest.raises(NotImplementedError) as error:
        eval(f"torch.{call}", {"torch": hotaru, "x": x, "m": m})
    assert MISSING.format(name, SCALAR_TYPES[dtype]) in str(error.value)


@pytest.mark.parametrize(
    ("call", "dtype", "text"),
    [
        ("ceil(x)", "complex64", "ceil is not supported for complex inputs"),
        ("sign(x)", "complex64", "Please use torch.sgn instead."),
        ("signbit(x)", "complex64", "signbit is not implemented for complex"),
        ("deg2rad(x)", "complex64", "deg2rad is not supported for complex"),
        ("maximum(x, x)", "complex64", "maximum not implemented for complex"),
        ("fmin(x, x)", "complex64", "fmin not implemented for complex"),
        ("clamp(x, 0, 1)", "complex64", "clamp is not supported for complex"),
        ("relu(x)", "complex64", "clamp is not supported for complex types"),
        ("relu(x)", "bool", "Boolean inputs not supported for relu"),
        ("positive(x)", "bool", "on a bool tensor is not supported"),
        ("heaviside(x, x)", "complex64", "heaviside is not yet implemented"),
        ("clamp(x, x, x)", "complex64", "clamp is not supported for complex"),
        ("nn.functional.kl_div(x, x)", "int64", "Integral inputs not supported"),
        (
            "nn.functional.dropout(x, 0.5)",
            "int64",
            "result type Float can't be cast to the desired output type Long",
        ),
        (
            "nn.functional.hardtanh(x)",
            "uint8",
            "cannot do hardtanh on an unsigned type with negative limits",
        ),
        ("Tensor.abs_(x)", "complex64", "In-place abs is not supported for"),
        ("max(x, 0)", "complex64", r"max\(\): does not support complex input"),
        ("min(x, 0)", "complex64", r"min\(\): does not support complex input"),
        ("nansum(x, 0)", "complex64", "nansum on CPU does not support complex"),
        ("nanmean(x)", "complex64", "nansum on CPU does not support complex"),
        ("nanmean(x)", "int64", "floating point or complex dtype but got Long"),
        ("sort(x)", "complex64", "Sort does not support complex dtypes on CPU"),
        ("isposinf(x)", "complex64", "isposinf does not support complex"),
        ("randint(3, (2,), out=x)", "complex64", "check_random_bounds handles"),
        ("normal(2.0, x)", "complex64", "standard deviation to be non-complex"),
        (
            "ones(2, out=x, dtype=torch.float32)",
            "int64",
            r"dtype Float does not match dtype of out parameter \(Long\)",
        ),
    ],
)
def test_other_texts(hotaru, call, dtype, text):
    x = hotaru.tensor([1, 0]).to(getattr(hotaru, dtype))
    with pytest.raises(RuntimeError, match=text):
        eval(f"torch.{call}", {"torch": hotaru, "x": x})


def test_signs_of_complex_numbers_go_by_another_name(hotaru):
    x = hotaru.tensor([3 + 4j])
    assert hotaru.sgn(x).tolist() == [pytest.approx(0.6 + 0.8j)]


def test_out_says_in_what_dtype_is_made(hotaru):
    """Not in the default dtype, and cast afterwards."""
    out = hotaru.zeros(64, dtype=hotaru.float64)
    hotaru.rand(64, out=out)
    assert not hotaru.equal(out, out.float().double())
    out = hotaru.zeros(64, dtype=hotaru.complex64)
    hotaru.randn(64, out=out)
    assert hotaru.view_as_real(out).ne(0).all()
    out = hotaru.zeros(2, dtype=hotaru.int32)
    assert hotaru.arange(2**31 - 2, 2**31, out=out).tolist() == [2**31 - 2, 2**31 - 1]


def test_a_complex_normal_has_both_parts_around_its_mean(hotaru):
    hotaru.manual_seed(0)
    x = hotaru.zeros(2, dtype=hotaru.complex64).normal_(2.0)
    # PyTorch's numbers.
    assert x.tolist() == [
        pytest.approx(3.089648723602295 + 1.792514443397522j),
        pytest.approx(0.45936325192451477 + 2.4019415378570557j),
    ]


@pytest.mark.parametrize(
    "call",
    [
        "sort(x, 5)",
        "sort(x, stable=True, dim=5)",
        "argsort(x, 5)",
        "nansum(x, 5)",
        "nanmean(x, 5)",
        "max(x, 5)",
        "min(x, 5)",
        "amax(x, 5)",
        "median(x, 5)",
        "mode(x, 5)",
        "kthvalue(x, 1, 5)",
        "topk(x, 1, 5)",
        "aminmax(x, dim=5)",
    ],
)
def test_dimensions_are_looked_at_before_dtypes(hotaru, call):
    x = hotaru.ones(2, 2, dtype=hotaru.complex64)
    with pytest.raises(IndexError) as raised:
        eval(f"torch.{call}", {"torch": hotaru, "x": x})
    assert str(raised.value) == (
        "Dimension out of range (expected to be in range of [-2, 1], but got 5)"
    )


@pytest.mark.parametrize("dtype", ["float32", "complex64", "int64"])
@pytest.mark.parametrize("name", ["cummax", "cummin"])
@pytest.mark.parametrize("dim", [2, 1, -2])
def test_scans_of_a_number_have_one_dimension(hotaru, name, dim, dtype):
    x = hotaru.ones((), dtype=getattr(hotaru, dtype))
    with pytest.raises(IndexError) as raised:
        getattr(hotaru, name)(x, dim)
    assert str(raised.value) == (
        f"{name}(): Expected reduction dim -1 or 0 for scalar but got {dim}"
    )
    if dtype != "complex64":
        assert getattr(hotaru, name)(x, -1).indices.item() == 0


@pytest.mark.parametrize(
    ("call", "text"),
    [
        ("amax(x, -1)", "amax(): Expected reduction dim -1 to have"),
        ("amin(x, 1)", "amin(): Expected reduction dim 1 to have"),
        ("amax(x, (0, -1))", "amax(): Expected reduction dim -1 to have"),
        ("amin(x[0], -1)", "amin(): Expected reduction dim -1 to have"),
        ("max(x, -1)", "max(): Expected reduction dim 1 to have"),
        ("hash_tensor(x, -1)", "hash_tensor: Expected reduction dim -1 to have"),
    ],
)
def test_dimensions_without_elements_are_named_as_given(hotaru, call, text):
    with pytest.raises(IndexError) as raised:
        eval(f"torch.{call}", {"torch": hotaru, "x": hotaru.ones(2, 0)})
    assert str(raised.value) == f"{text} non-zero size."
