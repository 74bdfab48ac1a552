"""Operators of PyTorch's backward formulas, made of hotaru's derivatives."""

from __future__ import annotations

from .. import _C, ops
from .._function_schema import parse_schema
from .._grad_mode import enable_grad
from . import keys, table

_CONVOLUTION = (
    "aten::convolution_backward(Tensor grad_output, Tensor input, "
    "Tensor weight, SymInt[]? bias_sizes, SymInt[] stride, SymInt[] padding, "
    "SymInt[] dilation, bool transposed, SymInt[] output_padding, "
    "SymInt groups, bool[3] output_mask) -> (Tensor, Tensor, Tensor)"
)


def convolution_backward(
    grad_output, input, weight, bias_sizes, stride, padding, dilation,
    transposed, output_padding, groups, output_mask,
):  # fmt: skip
    """The gradients of picture, weight and bias of a convolution, None for
    those that `output_mask` leaves out.
    """
    from ..autograd import grad

    create_graph = _C.is_grad_enabled()
    sizes = bias_sizes or [grad_output.shape[1]]
    bias = ops.zeros(sizes, dtype=weight.dtype, device=weight.device)
    with enable_grad():
        inputs = [
            x if create_graph and x.requires_grad
            else x.detach().requires_grad_()
            for x in (input, weight, bias)
        ]  # fmt: skip
        result = ops.convolution(
            *inputs, stride, padding, dilation, transposed, output_padding,
            groups,
        )  # fmt: skip
    wanted = [x for x, asked in zip(inputs, output_mask) if asked]
    if not wanted:
        return None, None, None
    found = iter(grad(result, wanted, grad_output, create_graph=create_graph))
    return tuple(next(found) if asked else None for asked in output_mask)


def install() -> None:
    """Defines them."""
    table.define(parse_schema(_CONVOLUTION), [], __file__)
    table.register(
        "aten::convolution_backward", keys.COMPOSITE, convolution_backward
    )
