"""The types that are made of others."""

# Names are PyTorch's.
# ruff: noqa: N802
from __future__ import annotations

from typing import ClassVar

from .base_type import Type
from .plain import BoolType, ComplexType, FloatType, IntType, NoneType, StringType
from .tensor_type import TensorType

TYPE_CHECKING = False


class _Made(Type):
    """Type that is written with the text of its parts."""

    def str(self) -> str:
        return self._written(schema=False)

    def _written(self, schema: bool) -> str:
        """As graphs have it, or as schemas, which write Future(int)."""
        raise NotImplementedError

    def _parts(self, schema: bool) -> list[str]:
        return [i._written(schema) for i in self._items]


class _Of(_Made):
    """A type of one other."""

    _name: ClassVar[str] = ""

    def __init__(self, item: Type) -> None:
        super().__init__(item)

    def getElementType(self) -> Type:
        """The type of what is inside."""
        return self._items[0]

    def _written(self, schema: bool) -> str:
        inside = self._items[0]._written(schema)
        return f"{self._name}({inside})" if schema else (f"{self._name}[{inside}]")

    @property
    def annotation_str(self) -> str:
        return f"{self._name}[{self._items[0].annotation_str}]"


class ListType(_Of):
    """List[T]."""

    _name = "List"

    if TYPE_CHECKING:  # set on the class below

        @staticmethod
        def ofInts() -> ListType: ...
        @staticmethod
        def ofTensors() -> ListType: ...
        @staticmethod
        def ofFloats() -> ListType: ...
        @staticmethod
        def ofComplexDoubles() -> ListType: ...
        @staticmethod
        def ofBools() -> ListType: ...
        @staticmethod
        def ofStrings() -> ListType: ...

    def __init__(self, item: Type) -> None:
        if item is None:
            raise RuntimeError("Can not create ListType with None type")
        super().__init__(item)

    def _written(self, schema: bool) -> str:
        return f"{self._items[0]._written(schema)}[]"


class OptionalType(_Of):
    """Optional[T]."""

    _name = "Optional"

    def __new__(cls, item: Type):
        if isinstance(item, OptionalType):
            return item
        return super().__new__(cls)

    def __init__(self, item: Type) -> None:
        if item is not self:
            super().__init__(item)

    def _written(self, schema: bool) -> str:
        return f"{self._items[0]._written(schema)}?"

    def _takes(self, other: Type) -> bool:
        inner = other._items[0] if isinstance(other, OptionalType) else other
        return isinstance(other, NoneType) or inner.isSubtypeOf(self._items[0])

    @classmethod
    def ofTensor(cls) -> OptionalType:
        """Optional[Tensor]."""
        return cls(TensorType.get())


class FutureType(_Of):
    """Future[T]."""

    _name = "Future"


class AwaitType(_Of):
    """Await[T]."""

    _name = "Await"

    def _written(self, schema: bool) -> str:
        return f"Await({self._items[0]._written(True)})"


class RRefType(_Of):
    """RRef[T]."""

    _name = "RRef"


class DictType(_Made):
    """Dict[K, V]."""

    def __init__(self, key: Type, value: Type) -> None:
        super().__init__(key, value)

    def getKeyType(self) -> Type:
        """The keys' type."""
        return self._items[0]

    def getValueType(self) -> Type:
        """The values' type."""
        return self._items[1]

    def _written(self, schema: bool) -> str:
        return f"Dict({', '.join(self._parts(True))})"

    @property
    def annotation_str(self) -> str:
        key, value = (item.annotation_str for item in self._items)
        return f"Dict[{key}, {value}]"


class TupleType(_Made):
    """Tuple[...], from a list of types."""

    def __init__(self, items: list[Type]) -> None:
        super().__init__(*items)

    def elements(self) -> list[Type]:
        """The types of its elements."""
        return list(self._items)

    def _written(self, schema: bool) -> str:
        return f"({', '.join(self._parts(schema))})"

    @property
    def annotation_str(self) -> str:
        if not self._items:
            return "Tuple[()]"
        items = ", ".join(item.annotation_str for item in self._items)
        return f"Tuple[{items}]"

    def _fits(self, other: Type) -> bool:
        return (
            isinstance(other, TupleType)
            and len(self._items) == len(other._items)
            and all(a.isSubtypeOf(b) for a, b in zip(self._items, other._items))
        )


# Which a union names first; within one of these by the text.
_ORDER = (
    "AnyType",
    "EnumType",
    "TensorType",
    "StorageType",
    "TupleType",
    "ListType",
    "DictType",
    "NumberType",
    "FloatType",
    "ComplexType",
    "FutureType",
    "AwaitType",
    "IntType",
    "NoneType",
    "StringType",
)


def _rank(item: Type) -> tuple:
    kind = item.kind()
    return _ORDER.index(kind) if kind in _ORDER else len(_ORDER), item.str()


class UnionType(_Made):
    """Union[...], from a list of types; their order says nothing."""

    def __init__(self, items: list[Type]) -> None:
        super().__init__(*sorted(items, key=_rank))

    def _written(self, schema: bool) -> str:
        return f"Union({', '.join(self._parts(True))})"

    def _takes(self, other: Type) -> bool:
        parts = other._items if isinstance(other, UnionType) else (other,)
        return all(
            any(part.isSubtypeOf(item) for item in self._items) for part in parts
        )

    @property
    def annotation_str(self) -> str:
        items = ", ".join(item.annotation_str for item in self._items)
        return f"Union[{items}]"

    def __eq__(self, other) -> bool:
        return (
            isinstance(other, UnionType)
            and all(item in other._items for item in self._items)
            and all(item in self._items for item in other._items)
        )

    __hash__ = None


for _cls, _make in (
    ("ofInts", IntType),
    ("ofTensors", TensorType),
    ("ofFloats", FloatType),
    ("ofComplexDoubles", ComplexType),
    ("ofBools", BoolType),
    ("ofStrings", StringType),
):
    setattr(ListType, _cls, staticmethod(lambda item=_make: ListType(item.get())))
