"""Normalisation as compiled code sees it, where Python has an `out`."""

from __future__ import annotations

from hotaru import Tensor


def normalize(
    input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12
) -> Tensor:
    norm = input.norm(p, [dim], keepdim=True)
    return input / norm.clamp_min(eps).expand_as(input)
