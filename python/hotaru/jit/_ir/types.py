"""The types of values in graphs: `torch._C.TensorType` and so on.

Types are immutable, equal by what they say, and not hashable. `str()` and
`annotation_str` are as annotations are written, `str` as graphs print them.
"""

# Names are PyTorch's.
# ruff: noqa: N802
from __future__ import annotations

from typing import ClassVar

from .base_type import Type
from .tensor_type import TensorType


class _Plain(Type):
    """A type without parts, of which there is one object."""

    _text: ClassVar[str] = ""
    _in_graphs: ClassVar[str] = ""

    def __init__(self) -> None:
        raise TypeError(f"{type(self).__name__}: use {type(self).__name__}.get")

    def __init_subclass__(cls, **kwargs) -> None:
        super().__init_subclass__(**kwargs)
        cls._only = object.__new__(cls)
        cls._only._items = ()

    @classmethod
    def get(cls):
        """The one object."""
        return cls._only

    def str(self) -> str:
        return self._in_graphs or self._text

    @property
    def annotation_str(self) -> str:
        return self._text


def _plain(name: str, text: str, in_graphs: str = "", kind: str = ""):
    body = {
        "__module__": "torch._C",
        "__doc__": f"The type {text}.",
        "_text": text,
        "_in_graphs": in_graphs,
        "_kind": kind,
    }
    return type(name, (_Plain,), body)


AnyType = _plain("AnyType", "Any")
NoneType = _plain("NoneType", "NoneType")
BoolType = _plain("BoolType", "bool")
NumberType = _plain("NumberType", "number", "Scalar")
ComplexType = _plain("ComplexType", "complex")
StringType = _plain("StringType", "str")
DeviceObjType = _plain("DeviceObjType", "Device")
StreamObjType = _plain("StreamObjType", "Stream")
PyObjectType = _plain("PyObjectType", "PyObject")
FunctionType = _plain("FunctionType", "Function")
GeneratorType = _plain("_GeneratorType", "Generator", kind="GeneratorType")
StorageType = _plain("StorageType", "Storage")
AnyType._takes = lambda self, other: True
IntType = _plain("IntType", "int")
FloatType = _plain("FloatType", "float")
for _number in (IntType, FloatType, ComplexType, BoolType):
    _number._fits = lambda self, other: (
        isinstance(other, NumberType) and not isinstance(self, BoolType)
    )


class _Of(Type):
    """A type of one other."""

    _name: ClassVar[str] = ""

    def __init__(self, item: Type) -> None:
        super().__init__(item)

    def getElementType(self) -> Type:
        """The type of what is inside."""
        return self._items[0]

    def str(self) -> str:
        return f"{self._name}[{self._items[0].str()}]"

    @property
    def annotation_str(self) -> str:
        return f"{self._name}[{self._items[0].annotation_str}]"


class ListType(_Of):
    """List[T]."""

    _name = "List"

    def str(self) -> str:
        return f"{self._items[0].str()}[]"


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

    def str(self) -> str:
        return f"{self._items[0].str()}?"

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


class DictType(Type):
    """Dict[K, V]."""

    def __init__(self, key: Type, value: Type) -> None:
        super().__init__(key, value)

    def getKeyType(self) -> Type:
        """The keys' type."""
        return self._items[0]

    def getValueType(self) -> Type:
        """The values' type."""
        return self._items[1]

    def str(self) -> str:
        return f"Dict({self._items[0].str()}, {self._items[1].str()})"

    @property
    def annotation_str(self) -> str:
        key, value = (item.annotation_str for item in self._items)
        return f"Dict[{key}, {value}]"


class TupleType(Type):
    """Tuple[...], from a list of types."""

    def __init__(self, items: list[Type]) -> None:
        super().__init__(*items)

    def elements(self) -> list[Type]:
        """The types of its elements."""
        return list(self._items)

    def str(self) -> str:
        return f"({', '.join(item.str() for item in self._items)})"

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
    "AnyType", "EnumType", "TensorType", "StorageType", "TupleType", "ListType",
    "DictType", "NumberType", "FloatType", "ComplexType", "FutureType",
    "AwaitType", "IntType", "NoneType", "StringType",
)  # fmt: skip


def _rank(item: Type) -> tuple:
    kind = item.kind()
    return _ORDER.index(kind) if kind in _ORDER else len(_ORDER), item.str()


class UnionType(Type):
    """Union[...], from a list of types; their order says nothing."""

    def __init__(self, items: list[Type]) -> None:
        super().__init__(*sorted(items, key=_rank))

    def str(self) -> str:
        return f"Union({', '.join(item.str() for item in self._items)})"

    def _takes(self, other: Type) -> bool:
        parts = other._items if isinstance(other, UnionType) else (other,)
        return all(
            any(part.isSubtypeOf(item) for item in self._items)
            for part in parts
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


class ClassType(Type):
    """A class's instances, by its qualified name."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name

    def name(self) -> str:
        """The class's own name."""
        return self._name.rpartition(".")[2]

    def qualified_name(self) -> str:
        """The whole name: "__torch__.Net"."""
        return self._name

    @property
    def annotation_str(self) -> str:
        return self._name

    def __eq__(self, other) -> bool:
        return isinstance(other, ClassType) and self._name == other._name

    __hash__ = None


class EnumType(Type):
    """A member of an Enum class, by the class's qualified name."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name

    def str(self) -> str:
        return f"Enum<{self._name}>"

    @property
    def annotation_str(self) -> str:
        return self._name

    def __eq__(self, other) -> bool:
        return isinstance(other, EnumType) and self._name == other._name

    __hash__ = None


for _cls, _make in (
    ("ofInts", IntType), ("ofTensors", TensorType), ("ofFloats", FloatType),
    ("ofComplexDoubles", ComplexType), ("ofBools", BoolType),
    ("ofStrings", StringType),
):  # fmt: skip
    setattr(
        ListType, _cls, staticmethod(lambda item=_make: ListType(item.get()))
    )
