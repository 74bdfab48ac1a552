"""Meanings of `reduction=` of losses, and the flags that came before it."""

from __future__ import annotations

import warnings


def get_enum(reduction: str) -> int:
    """The number by which operators know a reduction.

    ValueError for another name; "elementwise_mean" is an old one of "mean",
    and warns.
    """
    if reduction == "none":
        return 0
    if reduction == "mean":
        return 1
    if reduction == "sum":
        return 2
    if reduction == "elementwise_mean":
        warnings.warn(
            "reduction='elementwise_mean' is deprecated. "
            "Please use reduction='mean' instead.",
            stacklevel=2,
        )
        return 1
    raise ValueError(f"{reduction} is not a valid value for reduction")


def legacy_get_string(
    size_average: bool | None,
    reduce: bool | None,
    emit_warning: bool = True,
) -> str:
    """The reduction that the two old flags stood for; None is True."""
    if reduce is None or reduce:
        mean = size_average is None or size_average
        reduction = "mean" if mean else "sum"
    else:
        reduction = "none"
    if emit_warning:
        warnings.warn(
            "size_average and reduce args will be deprecated, please use "
            f"reduction='{reduction}' instead.",
            stacklevel=2,
        )
    return reduction


def legacy_get_enum(
    size_average: bool | None,
    reduce: bool | None,
    emit_warning: bool = True,
) -> int:
    """The number of `legacy_get_string`."""
    return get_enum(legacy_get_string(size_average, reduce, emit_warning))
