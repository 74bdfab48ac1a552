"""The shape of a tensor."""

from __future__ import annotations

from numbers import Number

from .. import _C


class Size(tuple):
    """A tuple of integers that prints as PyTorch's and counts elements."""

    __slots__ = ()

    def __new__(cls, sizes=()):
        made = tuple.__new__(cls, sizes)
        for i, size in enumerate(made):
            if type(size) is not int:
                return tuple.__new__(cls, _as_ints(made, i))
        return made

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
        return tuple.__new__(Size, item) if isinstance(index, slice) else item

    def __add__(self, other):
        if not isinstance(other, tuple):
            return _joined_by(other, self)
        return Size(tuple.__add__(self, other))

    def __radd__(self, other):
        if not isinstance(other, tuple):
            return NotImplemented  # a list takes it in place
        return Size(tuple.__add__(other, self))

    def __mul__(self, times):
        kind = type(times)
        # An array, which has an index too, multiplies the sizes themselves.
        if not hasattr(kind, "__index__") or hasattr(kind, "__array_finalize__"):
            if hasattr(kind, "__rmul__") and not isinstance(times, Number):
                return NotImplemented
            raise TypeError(
                f"can't multiply sequence by non-int of type '{kind.__name__}'"
            )
        return tuple.__new__(Size, tuple.__mul__(self, times))

    __rmul__ = __mul__

    def __reduce__(self):
        return (Size, (tuple(self),))


def _joined_by(other, size: Size):
    """Result of an operand that knows the operator itself, as arrays do;
    TypeError for any other.
    """
    join = getattr(type(other), "__radd__", None)
    result = NotImplemented if join is None else join(other, size)
    if result is not NotImplemented:
        return result
    raise TypeError(
        f"can only concatenate tuple (not {type(other).__name__}) to torch.Size"
    )


def _as_ints(sizes, first: int):
    """The same with integers of other types as Python's.

    TypeError for anything else, such as a tensor of floats.
    """
    out = []
    for i, size in enumerate(sizes):
        known = isinstance(size, int)
        if isinstance(size, _C.Tensor):
            fits = size.dim() == 0 and not (
                size.is_floating_point() or size.is_complex()
            )
        else:
            fits = known or hasattr(size, "__index__")
        if i >= first and not fits:
            raise TypeError(
                f"torch.Size() takes an iterable of 'int' (item {i} is "
                f"'{type(size).__name__}')"
            )
        whole = known and type(size) is not bool
        out.append(size if whole else int(size))
    return out


_C._set_size_type(Size)
