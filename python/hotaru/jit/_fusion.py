"""Switches of PyTorch's fusion of operators that programs ask for."""

from __future__ import annotations

__all__ = ["enable_onednn_fusion", "onednn_fusion_enabled", "set_fusion_strategy"]

_BEHAVIOURS = ("STATIC", "DYNAMIC")
_strategy: list[tuple[str, int]] = [("STATIC", 2), ("DYNAMIC", 10)]


def set_fusion_strategy(strategy: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """How often a compiler may make code for certain shapes ("STATIC") and
    strides ("DYNAMIC"), in turn. Returns what was set before.

    It is a permission: code here is for all shapes.

    Raises:
        ValueError: another behaviour.
        TypeError: no list of pairs of a text and a number.
    """
    global _strategy
    try:
        wanted = [(name, int(depth)) for name, depth in strategy]
    except (TypeError, ValueError):
        raise TypeError(
            "set_fusion_strategy(): expected a list of pairs such as "
            f"('STATIC', 2), not {strategy!r}"
        ) from None
    for name, _ in wanted:
        if name not in _BEHAVIOURS:
            raise ValueError(
                f"FusionBehavior only supported 'STATIC' or 'DYNAMIC', got: {name}"
            )
    before, _strategy = _strategy, wanted
    return before


def onednn_fusion_enabled() -> bool:
    """False: that library is not there."""
    return False


def enable_onednn_fusion(enabled: bool) -> None:
    """RuntimeError: it shall be turned on, see `onednn_fusion_enabled`."""
    if enabled:
        raise RuntimeError(
            "enable_onednn_fusion: there is no oneDNN; kernels are hotaru's "
            "own, and jit.freeze makes a module as fast as it gets"
        )
