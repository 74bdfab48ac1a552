"""Members that every type has."""

# Names are PyTorch's.
# ruff: noqa: N802, N815
from __future__ import annotations


class Type:
    """The base of all types."""

    def __init__(self, *items: Type) -> None:
        for item in items:
            if not isinstance(item, Type):
                raise TypeError(
                    f"{type(self).__name__}(): expected types, not "
                    f"{type(item).__name__}"
                )
        self._items = items

    def kind(self) -> str:
        """The class's name: "ListType"."""
        return type(self).__name__

    def containedTypes(self) -> list[Type]:
        """The types that this one is made of."""
        return list(self._items)

    def str(self) -> str:
        """As schemas and graphs have it: "int[]"."""
        return self.annotation_str

    def _written(self, schema: bool) -> str:
        return self.str()

    @property
    def annotation_str(self) -> str:
        """As annotations have it: "List[int]"."""
        raise NotImplementedError

    def isSubtypeOf(self, other: Type) -> bool:
        """True if a value of this type can stand for one of the other."""
        return self == other or other._takes(self) or self._fits(other)

    def _fits(self, other: Type) -> bool:
        return False

    def _takes(self, other: Type) -> bool:
        """True if it is made to stand for several others."""
        return False

    def is_interface_type(self) -> bool:
        """Tells whether it is an interface's; graphs here don't tell."""
        return False

    def _no_tensor(self, *_):
        raise RuntimeError(f"{self.annotation_str} is no type of tensors")

    dim = sizes = strides = scalarType = device = dtype = _no_tensor
    requires_grad = varyingSizes = _no_tensor

    def __repr__(self) -> str:
        return self.annotation_str

    def __eq__(self, other) -> bool:
        if not isinstance(other, Type):
            return NotImplemented
        return type(self) is type(other) and self._items == other._items

    __hash__ = None
