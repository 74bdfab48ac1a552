"""Which way of computing attention is taken on CUDA, and who chooses."""

from __future__ import annotations

import warnings

import pytest
from hotaru.nn.attention import SDPBackend, sdpa_kernel

import hotaru as torch

attention = torch.nn.functional.scaled_dot_product_attention
FLASH, EFFICIENT, MATH, CUDNN = (
    SDPBackend.FLASH_ATTENTION,
    SDPBackend.EFFICIENT_ATTENTION,
    SDPBackend.MATH,
    SDPBackend.CUDNN_ATTENTION,
)


@pytest.fixture
def make(cuda):
    def make(*shape, dtype=torch.float32):
        shape = shape or (2, 3, 10, 16)
        return torch.randn(*shape, dtype=dtype, device=cuda).requires_grad_()

    return make


def fused(*arguments, **options) -> bool:
    name = attention(*arguments, **options).grad_fn.name()
    return name == "ScaledDotProductFlashAttentionBackward0"


def heard_before_error(*arguments, **options) -> list[str]:
    """The warnings before the error that nothing serves."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        with pytest.raises(
            RuntimeError, match=r"^No available kernel\. Aborting execution\.$"
        ):
            attention(*arguments, **options)
    return [str(w.message) for w in heard]


def refusals(kinds, *arguments, **options) -> list[str]:
    with sdpa_kernel(kinds):
        return heard_before_error(*arguments, **options)


def test_kinds(make):
    x = make()
    assert fused(x, x, x)
    for kinds in (FLASH, EFFICIENT, [FLASH, MATH], [EFFICIENT, CUDNN, MATH]):
        with sdpa_kernel(kinds):
            assert fused(x, x, x)
    for kinds in (MATH, [MATH, CUDNN]):
        with sdpa_kernel(kinds):
            assert not fused(x, x, x)
    assert fused(x, x, x)


def test_priority(make):
    x = make()
    with sdpa_kernel([MATH, FLASH], set_priority=True):
        assert not fused(x, x, x)
        with sdpa_kernel([FLASH, MATH], set_priority=True):
            assert fused(x, x, x)
    with sdpa_kernel([MATH, FLASH]):  # the order is none
        assert fused(x, x, x)


def test_switches(make):
    x = make()
    switches = torch.backends.cuda
    try:
        switches.enable_flash_sdp(False)
        assert fused(x, x, x)
        switches.enable_mem_efficient_sdp(False)
        assert not fused(x, x, x)
        switches.enable_flash_sdp(True)
        switches.enable_math_sdp(False)
        assert fused(x, x, x)
        switches.enable_flash_sdp(False)
        # cuDNN's, which is not called, is left.
        assert "does not call cuDNN" in heard_before_error(x, x, x)[5]
        switches.enable_cudnn_sdp(False)
        with pytest.raises(RuntimeError, match="No viable backend for scaled_"):
            attention(x, x, x)
    finally:
        switches.enable_flash_sdp(True)
        switches.enable_mem_efficient_sdp(True)
        switches.enable_math_sdp(True)
        switches.enable_cudnn_sdp(True)
    assert fused(x, x, x)


def test_what_kernels_do_not_serve(make):
    x = make()
    mask = torch.zeros(10, 10, device=x.device)
    wide, double = make(1, 2, 5, 129), make(dtype=torch.float64)
    cases = [
        (double, double, double, None, {}, "dtype"),
        (wide, wide, wide, None, {}, "at most 128 elements"),
        (x, x, x, mask.clone().requires_grad_(), {}, "wants a gradient"),
        (x, x, x, None, {"dropout_p": 0.5}, "dropout"),
        (x, make(1, 3, 10, 16), x, None, {}, "same batch size and heads"),
        (
            make(1, 2, 3, 4, 5),
            make(1, 2, 3, 4, 5),
            make(1, 2, 3, 4, 5),
            None,
            {},
            "at most 4 dimensions",
        ),
    ]
    for q, k, v, m, options, why in cases:
        assert not fused(q, k, v, m, **options)
        said = refusals([FLASH, EFFICIENT], q, k, v, m, **options)
        assert said[0] == "Memory efficient kernel not used because:"
        assert said[2] == "Flash attention kernel not used because:"
        assert said[1] == said[3]
        assert why in said[1]
        assert said[4:] == [
            "cuDNN attention kernel not used because:",
            "cuDNN attention has been runtime disabled.",
        ]
    with torch.no_grad(), sdpa_kernel(FLASH):  # then the mask wants none
        attention(x, x, x, mask.clone().requires_grad_())
    said = refusals(EFFICIENT, x, x, x, dropout_p=0.1)
    assert said[3] == "Flash attention has been runtime disabled."
    said = refusals(CUDNN, x, x, x)
    assert said[1] == "Memory Efficient attention has been runtime disabled."
    assert "does not call cuDNN" in said[5]


def test_shapes_that_do_not_fit_raise_as_on_the_cpu(make):
    x = make()
    for other in (make(2, 3, 10, 15), make(2, 2, 10, 16)):
        texts = []
        for device in ("cpu", x.device):
            with pytest.raises(RuntimeError) as error:
                attention(x.to(device), other.to(device), other.to(device))
            texts.append(str(error.value))
        assert texts[0] == texts[1]


def test_the_cpu_has_one_way():
    x = torch.randn(1, 2, 3, 4)
    want = attention(x, x, x)
    for kinds in (FLASH, EFFICIENT, MATH, CUDNN):
        with sdpa_kernel(kinds):
            assert attention(x, x, x).equal(want)


def test_ways_agree(make):
    q, k, v = make(2, 3, 70, 16), make(2, 3, 80, 16), make(2, 3, 80, 24)
    with sdpa_kernel(MATH):
        want = attention(q, k, v)
    # Weights are off by at most some hundred roundoffs here, as each sum of
    # theirs has at most 80 terms of magnitudes below ten.
    assert float((attention(q, k, v) - want).abs().max()) <= 500 * 2**-24
