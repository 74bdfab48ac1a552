"""Norms of a weight, and weights of given norms."""

from __future__ import annotations

from .._C import Tensor
from .._overrides import overridable as _overridable

__all__ = ["_weight_norm", "norm_except_dim"]


def norm_except_dim(v: Tensor, pow: float = 2, dim: int = 0) -> Tensor:
    """Norms over all axes but `dim`, which are kept with size 1.

    Over all axes, and without any, where `dim` is -1.
    """
    if dim == -1:
        return v.norm(pow)
    if dim == 0:
        shape = (v.size(0), *[1] * (v.dim() - 1))
        return v.reshape(v.size(0), -1).norm(pow, 1).view(shape)
    if dim == v.dim() - 1:
        shape = (*[1] * (v.dim() - 1), v.size(-1))
        return v.reshape(-1, v.size(-1)).norm(pow, 0).view(shape)
    return norm_except_dim(v.transpose(0, dim), pow, 0).transpose(0, dim)


def _weight_norm(v: Tensor, g: Tensor, dim: int = 0) -> Tensor:
    """The direction `v` with the norms `g`, along axis `dim`."""
    if v.device != g.device:
        raise RuntimeError(
            "weight_norm: expected v_in and g_in to be on the same device, but "
            f"v_in is on {v.device} and g_in is on {g.device}"
        )
    return v * (g / norm_except_dim(v, 2, dim))


_overridable(globals(), ("norm_except_dim",), "hotaru")
