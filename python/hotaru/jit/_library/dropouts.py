"""Dropout as compiled code sees them."""

from __future__ import annotations

import hotaru as torch
from hotaru import Tensor


def _check_p(p: float) -> None:
    if p < 0.0 or p > 1.0:
        raise ValueError(
            f"dropout probability has to be between 0 and 1, but got {p}"
        )


def dropout(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    _check_p(p)
    if inplace:
        return torch.dropout_(input, p, training)
    return torch.dropout(input, p, training)


def alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    _check_p(p)
    if inplace:
        return torch.alpha_dropout_(input, p, training)
    return torch.alpha_dropout(input, p, training)


def feature_alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    _check_p(p)
    if inplace:
        return torch.feature_alpha_dropout_(input, p, training)
    return torch.feature_alpha_dropout(input, p, training)


def _channels(input: Tensor, p: float, training: bool, inplace: bool) -> Tensor:
    _check_p(p)
    if inplace:
        return torch.feature_dropout_(input, p, training)
    return torch.feature_dropout(input, p, training)


def _batched_channels(
    input: Tensor, axes: int, p: float, training: bool, inplace: bool
) -> Tensor:
    if input.dim() == axes + 2:
        return _channels(input, p, training, inplace)
    return _channels(input.unsqueeze(0), p, training, inplace).squeeze(0)


def dropout1d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    if input.dim() != 2 and input.dim() != 3:
        raise RuntimeError(
            "dropout1d: Expected 2D or 3D input, but received a "
            f"{input.dim()}D input."
        )
    return _batched_channels(input, 1, p, training, inplace)


def dropout2d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    return _channels(input, p, training, inplace)


def dropout3d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    return _batched_channels(input, 3, p, training, inplace)
