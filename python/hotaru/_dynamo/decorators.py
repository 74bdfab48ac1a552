"""What files say of tensors whose sizes a compiler was told about."""

from __future__ import annotations


class _DimRange:
    """A dimension and the sizes it may have, as PyTorch's files of jagged
    tensors hold it. Nothing here looks at it.
    """

    __slots__ = ("dim", "max", "min")

    def __setstate__(self, state) -> None:
        self.dim, self.min, self.max = state

    def __getstate__(self):
        return [self.dim, self.min, self.max]
