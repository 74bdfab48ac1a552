"""Look-ups in tables as compiled code sees them."""

from __future__ import annotations

import hotaru as torch
from hotaru import Tensor


def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    row = -1
    if padding_idx is not None:
        rows = weight.size(0)
        if padding_idx < -rows or padding_idx >= rows:
            raise AssertionError("Padding_idx must be within num_embeddings")
        row = padding_idx % rows
    if max_norm is not None:
        input = input.contiguous()
        with torch.no_grad():
            torch.embedding_renorm_(weight, input, max_norm, norm_type)
    return torch.embedding(weight, input, row, scale_grad_by_freq, sparse)
