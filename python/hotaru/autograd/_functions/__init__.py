"""Functions that old programs apply to tensors."""

from __future__ import annotations

import math

from ..function import Function


class Resize(Function):
    """A tensor's elements in another shape; `reshape` does the same."""

    @staticmethod
    def forward(ctx, tensor, sizes):
        """RuntimeError: `sizes` hold another number of elements."""
        count = math.prod(sizes)
        if tensor.numel() != count:
            raise RuntimeError(
                f"requested resize to {'x'.join(map(str, sizes))} ({count} "
                "elements in total), but the given tensor has a size of "
                f"{'x'.join(map(str, tensor.size()))} ({tensor.numel()} "
                "elements). autograd's resize can only change the shape of a "
                "given tensor, while preserving the number of elements. "
            )
        ctx.shape = tensor.size()
        return tensor.contiguous().view(*sizes)

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.contiguous().view(ctx.shape), None
