"""Switches of PyTorch's fusion of operators that programs ask for."""

from __future__ import annotations

import contextlib

from .. import _C

__all__ = [
    "enable_onednn_fusion",
    "fuser",
    "onednn_fusion_enabled",
    "set_fusion_strategy",
]

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


# Switches that each of PyTorch's fusers has: on the CPU, on a GPU, NNC's.
_FUSERS = {
    "fuser0": (True, True, False),
    "fuser1": (True, True, True),
    "fuser2": (False, False, False),
    "fuser3": (True, False, True),
    "none": (False, False, False),
}


@contextlib.contextmanager
def fuser(name: str):
    """Sets the switches of a fuser within a block; code here is as it was.

    Args:
        name: "fuser0" to "fuser3", or "none".

    Exception: another name.
    """
    if name not in _FUSERS:
        raise Exception(f"unrecognized fuser option (name: {name})")
    ask = (
        _C._jit_can_fuse_on_cpu,
        _C._jit_can_fuse_on_gpu,
        _C._jit_texpr_fuser_enabled,
    )
    put = (
        _C._jit_override_can_fuse_on_cpu,
        _C._jit_override_can_fuse_on_gpu,
        _C._jit_set_texpr_fuser_enabled,
    )
    before = [question() for question in ask]
    try:
        for switch, value in zip(put, _FUSERS[name]):
            switch(value)
        yield
    finally:
        for switch, value in zip(put, before):
            switch(value)


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
