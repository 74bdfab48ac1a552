"""Types of tensors that say their shape, as far as it is known."""

from __future__ import annotations

from ._compatibility import compatibility

__all__ = ["Dyn", "TensorType", "is_consistent", "is_more_precise"]


@compatibility(is_backward_compatible=False)
class TensorType:
    """A tensor whose sizes are `dim`, where Dyn is a size not known.

    `x: TensorType((1, 2, Dyn))` in a traced function is the node's type.
    """

    def __init__(self, dim) -> None:
        self.__origin__ = TensorType
        self.__args__ = dim

    @property
    def dims(self):
        """The sizes."""
        return self.__args__

    def __repr__(self) -> str:
        return f"TensorType[{self.__args__}]"

    def __eq__(self, other) -> bool:
        if isinstance(other, self.__class__):
            return list(self.__args__) == list(other.__args__)
        return False

    __hash__ = None

    @staticmethod
    def __class_getitem__(*args):
        dim = args[0]
        return TensorType(dim if isinstance(dim, tuple) else (dim,))


class _DynType:
    """Type or size that is not known."""

    __name__ = "_DynType"

    def __eq__(self, other) -> bool:
        return isinstance(other, self.__class__)

    def __hash__(self) -> int:
        return hash(self.__name__)

    def __str__(self) -> str:
        return "Dyn"

    __repr__ = __str__


Dyn = _DynType()


@compatibility(is_backward_compatible=False)
def is_consistent(t1, t2) -> bool:
    """True if both may be the same, where Dyn may be anything."""
    if t1 == t2 or Dyn in (t1, t2):
        return True
    return _all_sizes(is_consistent, t1, t2)


@compatibility(is_backward_compatible=False)
def is_more_precise(t1, t2) -> bool:
    """True if the first says all that the second does."""
    if t1 == t2 or t2 == Dyn:
        return True
    return _all_sizes(is_more_precise, t1, t2)


def _all_sizes(relation, t1, t2) -> bool:
    if not (isinstance(t1, TensorType) and isinstance(t2, TensorType)):
        return False
    return len(t1.__args__) == len(t2.__args__) and all(
        map(relation, t1.__args__, t2.__args__)
    )
