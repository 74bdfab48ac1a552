"""Switches that demand the same results of operators in each run."""

from __future__ import annotations

from .. import _C

__all__ = [
    "are_deterministic_algorithms_enabled",
    "get_deterministic_debug_mode",
    "is_deterministic_algorithms_warn_only_enabled",
    "set_deterministic_debug_mode",
    "use_deterministic_algorithms",
]

_MODES = ("default", "warn", "error")


def _check_bool(value, what: str) -> None:
    if not isinstance(value, bool):
        raise TypeError(
            f"_set_deterministic_algorithms(): argument {what} must be bool, "
            f"not {type(value).__name__}"
        )


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Asks for the same results in each run; operators without are errors.

    On the CPU results are the same with as many threads anyway. On CUDA what
    adds by atomics does it in one order instead, or raises. Memory from
    `empty` and its kin is filled with NaN or the largest integer, unless
    `utils.deterministic.fill_uninitialized_memory` is False. For the whole
    process.

    Args:
        warn_only: such operators warn and run.
    """
    _check_bool(mode, "'mode' (position 1)")
    _check_bool(warn_only, "'warn_only'")
    _C._set_determinism(mode, warn_only)


def are_deterministic_algorithms_enabled() -> bool:
    """True if use_deterministic_algorithms() was told so."""
    return _C._get_determinism()[0]


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """True if such operators warn only."""
    return _C._get_determinism()[1]


def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """The same by a number or a name: 0 "default", 1 "warn", 2 "error"."""
    if isinstance(debug_mode, str):
        if debug_mode not in _MODES:
            raise RuntimeError(
                "invalid value of debug_mode, expected one of `default`, "
                f"`warn`, `error`, but got {debug_mode}"
            )
        debug_mode = _MODES.index(debug_mode)
    if not isinstance(debug_mode, int):
        raise TypeError(f"debug_mode must be str or int, but got {type(debug_mode)}")
    if debug_mode not in (0, 1, 2):
        raise RuntimeError(
            f"invalid value of debug_mode, expected 0, 1, or 2, but got {debug_mode}"
        )
    _C._set_determinism(debug_mode > 0, debug_mode == 1)


def get_deterministic_debug_mode() -> int:
    """0, 1 or 2."""
    required, warn_only = _C._get_determinism()
    return (1 if warn_only else 2) if required else 0
