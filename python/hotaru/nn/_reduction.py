"""Meanings of `reduction=` of losses, and the flags that came before it."""

from __future__ import annotations

import warnings


def check_reduction(reduction: str) -> None:
    """ValueError for an unknown one, and for an old name of "mean"."""
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")


def get_enum(reduction: str) -> int:
    """The number by which operators know a reduction.

    ValueError for another name; "elementwise_mean" is an old one of "mean",
    and warns.
    """
    if reduction == "elementwise_mean":
        warnings.warn(
            "reduction='elementwise_mean' is deprecated. "
            "Please use reduction='mean' instead.",
            stacklevel=2,
        )
        return 1
    check_reduction(reduction)
    if reduction == "none":
        return 0
    return 1 if reduction == "mean" else 2


def legacy_get_string(
    size_average: bool | None, reduce: bool | None, emit_warning: bool = True
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
    size_average: bool | None, reduce: bool | None, emit_warning: bool = True
) -> int:
    """The number of `legacy_get_string`."""
    return get_enum(legacy_get_string(size_average, reduce, emit_warning))
