"""The shape of a tensor."""

from __future__ import annotations

from . import _C


class Size(tuple):
    """A tuple of integers that prints as PyTorch's and counts elements."""

    __slots__ = ()

    def numel(self) -> int:
        """The product of the sizes."""
        total = 1
        for size in self:
            total *= size
        return total

    def __repr__(self) -> str:
        return f"torch.Size([{', '.join(map(str, self))}])"

    def __getitem__(self, index):
        item = tuple.__getitem__(self, index)
        return Size(item) if isinstance(index, slice) else item

    def __add__(self, other):
        return Size(tuple.__add__(self, tuple(other)))

    def __reduce__(self):
        return (Size, (tuple(self),))


_C._set_size_type(Size)
