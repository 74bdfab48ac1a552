"""Multi-head attention in one call, as PyTorch has it for evaluation."""

from __future__ import annotations

import math

from . import _C
from ._C import Tensor, ops

__all__ = [
    "_masked_softmax", "_native_multi_head_attention",
    "_transform_bias_rescale_qkv",
]  # fmt: skip


def _masked_softmax(
    self: Tensor,
    mask: Tensor,
    dim: int | None = None,
    mask_type: int | None = None,
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
        raise RuntimeError(
            "For mask_type == 2 mask shape should match input shape"
        )
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


def _native_multi_head_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim: int,
    num_head: int,
    qkv_weight: Tensor,
    qkv_bias: Tensor,
    proj_weight: Tensor,
    proj_bias: Tensor,
    mask: Tensor | None = None,
    need_weights: bool = True,
    average_attn_weights: bool = True,
    mask_type: int | None = None,
) -> tuple[Tensor, Tensor | None]:
    """Attention of (N, L, E) over (N, S, E) with packed weights (3 E, E).

    Args:
        query, key, value, embed_dim, num_head: what attends to what.
        qkv_weight, qkv_bias, proj_weight, proj_bias: maps in front and behind.
        mask: forbids where it is not 0; needs `mask_type`: 0 for (L, S), 1 for
            keys (N, S), 2 for (N, H, L, S).
        need_weights: whether to return the weights of attention.
        average_attn_weights: their mean over all heads.

    Returns:
        The result (N, L, E), and weights (N, L, S) or (N, H, L, S) or None.

    Raises:
        RuntimeError: shapes that do not go together; a mask of no type.
    """
    _check(query, embed_dim, num_head, qkv_weight, qkv_bias)
    if mask is not None and mask_type is None:
        raise RuntimeError("Mask Type should be defined")
    projected = (
        ops.linear(each, weight, bias)
        for each, weight, bias in zip(
            (query, key, value), qkv_weight.chunk(3), qkv_bias.chunk(3)
        )
    )
    q, k, v = (
        each.unflatten(-1, [num_head, -1]).transpose(1, 2) for each in projected
    )
    scores = ops.matmul(q / math.sqrt(q.size(-1)), k.transpose(-2, -1))
    if mask is not None:
        if mask_type == 1:
            mask = mask.view(mask.size(0), 1, 1, mask.size(-1))
        scores = scores.masked_fill(mask.to(_C.bool), -math.inf)
    weights = scores.softmax(-1)
    joined = ops.matmul(weights, v).transpose(1, 2).flatten(2)
    output = ops.linear(joined, proj_weight, proj_bias)
    if not need_weights:
        return output, None
    return output, weights.mean(1) if average_attn_weights else weights


def _check(query, embed_dim, num_head, qkv_weight, qkv_bias) -> None:
    if query.dim() != 3:
        raise RuntimeError(f"expected 3-D `query`, got {query.dim()}-D tensor")
    width = query.size(2)
    if embed_dim != width:
        raise RuntimeError(
            f"passed-in embed_dim {embed_dim} didn't match last dim of query "
            f"{width}"
        )
    if embed_dim % num_head != 0:
        raise RuntimeError("`embed_dim` must divide evenly by `num_heads`")
    if qkv_weight.size(0) != 3 * width:
        raise RuntimeError("expected `qkv_weight` first dim to be 3x embed_dim")
    if qkv_bias.size(0) != 3 * width:
        raise RuntimeError(
            "expected `qkv_bias` first dim and first dim of query to be equal"
        )
