"""Functions of `nn.functional` as compiled code sees them, where Python's
differ: by an `out`, which compiled code lacks.
"""

from __future__ import annotations

from hotaru import Tensor


def normalize(
    input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12
) -> Tensor:
    norm = input.norm(p, [dim], keepdim=True)
    return input / norm.clamp_min(eps).expand_as(input)
