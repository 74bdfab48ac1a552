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
    ],
)
def test_kernels_have_pytorchs_names(hotaru, call, dtype, name):
    x = hotaru.tensor([1, 0]).to(getattr(hotaru, dtype))
    with pytest.raises(NotImplementedError) as error:
        eval(f"torch.{call}", {"torch": hotaru, "x": x})
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
    ],
)
def test_other_texts(hotaru, call, dtype, text):
    x = hotaru.tensor([1, 0]).to(getattr(hotaru, dtype))
    with pytest.raises(RuntimeError, match=text):
        eval(f"torch.{call}", {"torch": hotaru, "x": x})


def test_signs_of_complex_numbers_go_by_another_name(hotaru):
    x = hotaru.tensor([3 + 4j])
    assert hotaru.sgn(x).tolist() == [pytest.approx(0.6 + 0.8j)]
