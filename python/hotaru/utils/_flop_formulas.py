"""How many floating point operations an operator takes, of shapes alone.

A multiplication and an addition count as two. Formulas take the shapes of an
operator's tensors in place of them, and the result's as `out_shape`.
"""

from __future__ import annotations

from math import prod


def mm_flop(a_shape, b_shape, *args, out_shape=None, **kwargs) -> int:
    """FLOPs of a product (m, k) by (k, n): 2 m k n."""
    m, k = a_shape
    _same(k, b_shape[0], "mm")
    return 2 * m * k * b_shape[1]


def addmm_flop(self_shape, a_shape, b_shape, out_shape=None, **kwargs) -> int:
    """FLOPs of the product; what is added to it is left out."""
    return mm_flop(a_shape, b_shape)


def bmm_flop(a_shape, b_shape, out_shape=None, **kwargs) -> int:
    """FLOPs of b products (m, k) by (k, n)."""
    _same(a_shape[0], b_shape[0], "bmm")
    return a_shape[0] * mm_flop(a_shape[1:], b_shape[1:])


def baddbmm_flop(self_shape, a_shape, b_shape, out_shape=None, **kwargs) -> int:
    """FLOPs of the products; what is added to them is left out."""
    return bmm_flop(a_shape, b_shape)


def conv_flop_count(x_shape, w_shape, out_shape, transposed=False) -> int:
    """FLOPs of a convolution: every weight meets every place of the smaller
    picture (the result's, of a transposed one the argument's). Padding counts.

    Args:
        x_shape, out_shape: (batch, channels, ...).
        w_shape: (channels, channels, ...), as for the operator.
    """
    places = (x_shape if transposed else out_shape)[2:]
    return 2 * x_shape[0] * prod(places) * prod(w_shape)


def conv_flop(
    x_shape,
    w_shape,
    _bias,
    _stride,
    _padding,
    _dilation,
    transposed,
    *args,
    out_shape=None,
    **kwargs,
) -> int:
    """FLOPs of `aten.convolution`."""
    return conv_flop_count(x_shape, w_shape, out_shape, transposed)


def conv_backward_flop(
    grad_out_shape,
    x_shape,
    w_shape,
    _bias,
    _stride,
    _padding,
    _dilation,
    transposed,
    _output_padding,
    _groups,
    output_mask,
    out_shape=None,
    **kwargs,
) -> int:
    """FLOPs of `aten.convolution_backward`: the gradient of the argument is a
    convolution of the other kind, that of the weight one of the argument with
    the gradient, batch and channels exchanged. The latter is counted as if
    there was one group, as PyTorch does.
    """
    count = 0
    if output_mask[0]:
        count += conv_flop_count(grad_out_shape, w_shape, x_shape, not transposed)
    if output_mask[1]:
        pair = (_exchanged(x_shape), _exchanged(grad_out_shape))
        picture, filters = reversed(pair) if transposed else pair
        count += conv_flop_count(picture, filters, _exchanged(w_shape))
    return count


def sdpa_flop_count(query_shape, key_shape, value_shape) -> int:
    """FLOPs of attention, (batch, heads, length, size): two products each."""
    b, h, length, size = query_shape
    places, out_size = key_shape[2], value_shape[3]
    _same(size, key_shape[3], "attention")
    _same(places, value_shape[2], "attention")
    return 2 * b * h * length * places * (size + out_size)


def sdpa_flop(
    query_shape, key_shape, value_shape, *args, out_shape=None, **kwargs
) -> int:
    """FLOPs of attention."""
    return sdpa_flop_count(query_shape, key_shape, value_shape)


def sdpa_backward_flop_count(
    grad_out_shape, query_shape, key_shape, value_shape
) -> int:
    """FLOPs of the derivative of fused attention: the weights once more, then
    two products for each of the two of the forward pass.
    """
    b, h, length, size = query_shape
    places, out_size = key_shape[2], value_shape[3]
    _same(out_size, grad_out_shape[3], "attention")
    return 2 * b * h * length * places * (3 * size + 2 * out_size)


def sdpa_backward_flop(
    grad_out_shape, query_shape, key_shape, value_shape, *args, out_shape=None, **kwargs
) -> int:
    """FLOPs of the derivative of fused attention."""
    return sdpa_backward_flop_count(grad_out_shape, query_shape, key_shape, value_shape)


def _same(a: int, b: int, name: str) -> None:
    if a != b:
        raise AssertionError(f"{name}: sizes {a} and {b} should be equal")


def _exchanged(shape) -> tuple:
    return (shape[1], shape[0], *shape[2:])
