"""The errors of whatever needs an MTIA device."""

from __future__ import annotations

from typing import NoReturn


def needs_device(step: str) -> NoReturn:
    """Raises PyTorch's error of builds without MTIA.

    Args:
        step: of PyTorch's back end, as its error says it.
    """
    raise RuntimeError(
        f"Cannot execute {step}() without MTIA backend. (hotaru has none: give "
        '"cpu" or "cuda", and ask torch.mtia.is_available() before)'
    )


def begin() -> NoReturn:
    """Raises PyTorch's error of a program that begins to use the device."""
    raise AssertionError(
        "Torch not compiled with MTIA enabled. (hotaru has no such devices: "
        'give "cpu" or "cuda")'
    )
