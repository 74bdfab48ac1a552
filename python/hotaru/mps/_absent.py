"""The error of whatever needs one of Apple's devices."""

from __future__ import annotations

from typing import NoReturn


def needs_device(step: str) -> NoReturn:
    """Raises PyTorch's error of builds without MPS.

    Args:
        step: of PyTorch's back end, as its error says it.
    """
    raise RuntimeError(
        f"Cannot execute {step}() without MPS backend. (hotaru has none: give "
        '"cpu", and ask torch.backends.mps.is_available() before)'
    )
