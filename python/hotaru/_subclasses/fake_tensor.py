"""Tensors without values on devices that have memory: hotaru has none, its
meta device is what stands for them.
"""

from __future__ import annotations


def is_fake(x: object) -> bool:
    """Whether it is a fake tensor: never. Tensors of the meta device are not
    fake, in PyTorch either.
    """
    return False


class UnsupportedFakeTensorException(RuntimeError):  # noqa: N818
    """A call that has no fake counterpart; for programs that catch it."""
