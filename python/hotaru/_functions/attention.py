"""Parts of multi-head attention in one call."""

from __future__ import annotations

import math

from .. import _C
from .._C import Tensor, ops

__all__ = [
    "_masked_softmax",
    "_native_multi_head_attention",
    "_transform_bias_rescale_qkv",
    "_transformer_encoder_layer_fwd",
]

_native_multi_head_attention = ops._native_multi_head_attention
_transformer_encoder_layer_fwd = ops._transformer_encoder_layer_fwd


def _masked_softmax(
    self: Tensor, mask: Tensor, dim: int | None = None, mask_type: int | None = None
) -> Tensor:
    """Softmax along `dim` (the last) with zeros where a boolean mask is True,
    NaN where it is True all along.

    `mask_type`: 0 for masks (L, L) and 1 for (B, L), of scores (B, H, L, L),
    2 or None for one of the scores' shape. RuntimeError for another shape.
    """
    if mask.dtype != _C.bool:
        raise RuntimeError("Mask should be a boolean tensor")
    if mask_type in (0, 1) and mask.dim() == 2 and self.dim() == 4:
        length = self.size(2)
        shape = (length, length) if mask_type == 0 else (self.size(0), length)
        if tuple(mask.shape) != shape:
            name = "(L, L)" if mask_type == 0 else "(B, L)"
            raise RuntimeError(
                f"For mask_type == {mask_type} mask shape should be {name}"
            )
        if mask_type == 1:
            mask = mask.view(self.size(0), 1, 1, length)
    elif mask.shape != self.shape:
        raise RuntimeError("For mask_type == 2 mask shape should match input shape")
    masked = self.masked_fill(mask, -math.inf)
    return masked.softmax(-1 if dim is None else dim)


def _transform_bias_rescale_qkv(
    qkv: Tensor, qkv_bias: Tensor, num_heads: int
) -> tuple[Tensor, Tensor, Tensor]:
    """Query / √(head size), key and value by heads (N, H, L, D / H), of (N, L,
    3 D) without the bias (3 D).
    """
    batch, length, width = qkv.shape
    size = width // 3 // num_heads
    parts = (qkv + qkv_bias).view(batch, length, 3, num_heads, size)
    query, key, value = parts.permute(2, 0, 3, 1, 4).unbind(0)
    scaled = query / math.sqrt(size)
    return scaled.contiguous(), key.contiguous(), value.contiguous()
