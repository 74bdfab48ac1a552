"""Weights that stay in the quantised blocks of a GGUF file."""

from __future__ import annotations

from .. import _C
from ..nn import Module, Parameter

_linear_blocks = _C._operator("hotaru::linear_blocks")


class Blocks:
    """A tensor in the blocks in which it lies in its file.

    Attributes:
        data: its bytes, uint8, of its shape but for the last dimension, which
            is the bytes of a row. On the CPU they lie in the mapping.
        type: of the blocks, by the file's own name: "Q4_0", "Q8_0".
        shape: the sizes of the tensor.
    """

    def __init__(self, data: _C.Tensor, type: str, shape) -> None:
        self.data = data
        self.type = type
        self.shape = tuple(shape)

    def __repr__(self) -> str:
        return f"Blocks(type={self.type!r}, shape={self.shape})"

    def linear(self, bias: _C.Tensor | None = None) -> BlockLinear:
        """The linear map whose weight this is."""
        return BlockLinear(self, bias)


class BlockLinear(Module):
    """A linear map x Wᵀ + b, whose weight [out_features, in_features] stays in
    the blocks of a GGUF file.

    The input is float32 or a 16-bit float, and so is the result; sums are in
    float32. Q8_0 and Q4_0 are widened in registers, other types by panels of
    rows. There are gradients of the input and the bias.

    Args:
        weight: a matrix, as `safe_open(...).get_blocks(name)` gives it.
        bias: [out_features], or None.

    Raises:
        ValueError: the weight is no matrix.
    """

    blocks: _C.Tensor
    block_type: str

    def __init__(self, weight: Blocks, bias: _C.Tensor | None = None) -> None:
        super().__init__()
        if len(weight.shape) != 2:
            raise ValueError(
                f"BlockLinear: the weight should be a matrix, got {weight}"
            )
        self.out_features, self.in_features = weight.shape
        self.block_type = weight.type
        self.register_buffer("blocks", weight.data)
        if bias is not None and not isinstance(bias, Parameter):
            bias = Parameter(bias)
        self.register_parameter("bias", bias)

    def forward(self, input: _C.Tensor) -> _C.Tensor:
        return _linear_blocks(input, self.blocks, self.block_type, self.bias)

    def extra_repr(self) -> str:
        return (
            f"in_features={self.in_features}, "
            f"out_features={self.out_features}, type={self.block_type}, "
            f"bias={self.bias is not None}"
        )
