"""Dropout: zeroes random elements or channels while training.

Functions return at their ends alone: the compiler puts such in place of calls,
and freezing sees that they write to nothing.
"""

from __future__ import annotations

import warnings

from ... import Tensor, ops


def dropout(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Zeroes elements with probability `p`, scales others by 1 / (1 - p)."""
    check_probability(p)
    if inplace:
        out = ops.dropout_(input, p, training)
    else:
        out = ops.dropout(input, p, training)
    return out


def alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """Dropout that keeps mean and variance, for networks of SELUs."""
    check_probability(p)
    if inplace:
        out = ops.alpha_dropout_(input, p, training)
    else:
        out = ops.alpha_dropout(input, p, training)
    return out


def feature_alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """`alpha_dropout` of whole channels."""
    check_probability(p)
    if inplace:
        out = ops.feature_alpha_dropout_(input, p, training)
    else:
        out = ops.feature_alpha_dropout(input, p, training)
    return out


def dropout1d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Zeroes whole channels of (N, C, L) or (C, L)."""
    check_probability(p)
    if input.dim() not in (2, 3):
        raise RuntimeError(
            "dropout1d: Expected 2D or 3D input, but received a "
            f"{input.dim()}D input. Note that dropout1d exists to provide "
            "channel-wise dropout on inputs with 1 spatial dimension, a "
            "channel dimension, and an optional batch dimension (i.e. "
            "2D or 3D inputs)."
        )
    return _unbatched_channels(input, p, training, inplace, 3)


def dropout2d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Zeroes whole channels of (N, C, H, W)."""
    check_probability(p)
    if input.dim() not in (3, 4):
        warnings.warn(
            f"dropout2d: Received a {input.dim()}-D input to dropout2d, which "
            "is deprecated and will result in an error in a future release. To "
            "retain the behavior and silence this warning, please use dropout "
            "instead. Note that dropout2d exists to provide channel-wise "
            "dropout on inputs with 2 spatial dimensions, a channel dimension, "
            "and an optional batch dimension (i.e. 3D or 4D inputs).",
            stacklevel=2,
        )
    if input.dim() == 3:
        warnings.warn(
            "dropout2d: Received a 3D input to dropout2d and assuming that "
            "channel-wise "
            "1D dropout behavior is desired - input is interpreted as shape "
            "(N, C, L), where C is the channel dim. This behavior will change "
            "in a future release to interpret the input as one without a batch "
            "dimension, i.e. shape (C, H, W). To maintain the 1D channel-wise "
            "dropout behavior, please switch to using dropout1d instead.",
            stacklevel=2,
        )
    return _channels(input, p, training, inplace)


def dropout3d(
    input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False
) -> Tensor:
    """Zeroes whole channels of (N, C, D, H, W) or (C, D, H, W)."""
    check_probability(p)
    if input.dim() not in (4, 5):
        warnings.warn(
            f"dropout3d: Received a {input.dim()}-D input to dropout3d, which "
            "is deprecated and will result in an error in a future release. To "
            "retain the behavior and silence this warning, please use dropout "
            "instead. Note that dropout3d exists to provide channel-wise "
            "dropout on inputs with 3 spatial dimensions, a channel dimension, "
            "and an optional batch dimension (i.e. 4D or 5D inputs).",
            stacklevel=2,
        )
    return _unbatched_channels(input, p, training, inplace, 5)


def _unbatched_channels(
    input: Tensor, p: float, training: bool, inplace: bool, rank: int
) -> Tensor:
    """Drops channels of inputs that may be unbatched, of `rank` dimensions."""
    if input.dim() == rank:
        out = _channels(input, p, training, inplace)
    elif inplace:
        out = _channels(input.unsqueeze_(0), p, training, True).squeeze_(0)
    else:
        out = _channels(input.unsqueeze(0), p, training, False).squeeze(0)
    return out


def _channels(input: Tensor, p: float, training: bool, inplace: bool) -> Tensor:
    if inplace:
        out = ops.feature_dropout_(input, p, training)
    else:
        out = ops.feature_dropout(input, p, training)
    return out


def check_probability(p: float) -> None:
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
