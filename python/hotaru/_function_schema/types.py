"""Types in schemas.

A type has two spellings: that of schemas, `int[]?` (`str()`), and that of
Python, `Optional[List[int]]` (`annotation_str`).
"""

from __future__ import annotations

from typing import ClassVar


class Type:
    """A type that a schema can name; equal to types of the same structure."""

    __slots__ = ("_items", "_name")
    _kind: ClassVar[str] = ""

    def __init__(self, name: str, items: tuple[Type, ...] = ()) -> None:
        self._name = name
        self._items = items

    def str(self) -> str:
        """As schemas spell it."""
        return self._name

    @property
    def annotation_str(self) -> str:
        """As Python's annotations spell it."""
        return self._name

    def kind(self) -> str:
        """The name of its class, "ListType"."""
        return self._kind or type(self).__name__

    def containedTypes(self) -> list[Type]:  # noqa: N802
        """What it is made of."""
        return list(self._items)

    def isSubtypeOf(self, other: Type) -> bool:  # noqa: N802
        """Whether its values are values of the other type."""
        if self == other or isinstance(other, AnyType):
            return True
        if isinstance(other, OptionalType):
            inner = other.getElementType()
            if isinstance(self, OptionalType):
                return self.getElementType().isSubtypeOf(inner)
            return isinstance(self, NoneType) or self.isSubtypeOf(inner)
        return isinstance(other, NumberType) and isinstance(
            self, (IntType, FloatType, ComplexType)
        )

    def __eq__(self, other) -> bool:
        if not isinstance(other, Type):
            return NotImplemented
        return (
            type(self) is type(other)
            and self._name == other._name
            and self._items == other._items
        )

    def __hash__(self) -> int:
        return hash((type(self), self._name, self._items))

    def __str__(self) -> str:
        return self.annotation_str

    __repr__ = __str__


class _Single(Type):
    """A type without parts; `get` gives it."""

    __slots__ = ()
    _spelled: ClassVar[str] = ""

    def __init__(self) -> None:
        super().__init__(self._spelled)

    @classmethod
    def get(cls):
        """The type."""
        return cls()


def _single(class_name: str, spelled: str) -> type[_Single]:
    """A class of one type, for example TensorType."""
    made = type(class_name, (_Single,), {"__slots__": (), "_spelled": spelled})
    made.__module__ = __name__
    made.__doc__ = f"The type `{spelled}`."
    return made


TensorType = _single("TensorType", "Tensor")
IntType = _single("IntType", "int")
FloatType = _single("FloatType", "float")
ComplexType = _single("ComplexType", "complex")
BoolType = _single("BoolType", "bool")
StringType = _single("StringType", "str")
DeviceObjType = _single("DeviceObjType", "Device")
StreamObjType = _single("StreamObjType", "Stream")
GeneratorType = _single("GeneratorType", "Generator")
StorageType = _single("StorageType", "Storage")
AnyType = _single("AnyType", "Any")
NoneType = _single("NoneType", "NoneType")
SymIntType = _single("SymIntType", "SymInt")


class NumberType(_Single):
    """An int, a float or a complex."""

    __slots__ = ()
    _spelled = "Scalar"

    @property
    def annotation_str(self) -> str:
        """As PyTorch's annotations have it."""
        return "number"


class VarType(Type):
    """A variable that stands for a type: `t`."""

    __slots__ = ()


class RealType(Type):
    """The name that a schema gives an int of a certain meaning."""

    __slots__ = ()


class _Of(Type):
    """A type of values that hold those of another."""

    __slots__ = ()
    _word: ClassVar[str] = ""

    def __init__(self, element: Type) -> None:
        super().__init__(self._word, (element,))

    def getElementType(self) -> Type:  # noqa: N802
        """What its values hold."""
        return self._items[0]

    def str(self) -> str:
        """As schemas spell it."""
        return f"{self._word}({self._items[0].str()})"

    @property
    def annotation_str(self) -> str:
        """As Python's annotations spell it."""
        return f"{self._word}[{self._items[0].annotation_str}]"


class ListType(_Of):
    """A list, `int[]`."""

    __slots__ = ()
    _word = "List"

    def str(self) -> str:
        """As schemas spell it."""
        return f"{self._items[0].str()}[]"

    @classmethod
    def ofTensors(cls) -> ListType:  # noqa: N802
        """The type Tensor[]."""
        return cls(TensorType())

    @classmethod
    def ofInts(cls) -> ListType:  # noqa: N802
        """The type int[]."""
        return cls(IntType())

    @classmethod
    def ofFloats(cls) -> ListType:  # noqa: N802
        """The type float[]."""
        return cls(FloatType())

    @classmethod
    def ofBools(cls) -> ListType:  # noqa: N802
        """The type bool[]."""
        return cls(BoolType())

    @classmethod
    def ofStrings(cls) -> ListType:  # noqa: N802
        """The type str[]."""
        return cls(StringType())


class OptionalType(_Of):
    """A value or None, `int?`."""

    __slots__ = ()
    _word = "Optional"

    def str(self) -> str:
        """As schemas spell it."""
        return f"{self._items[0].str()}?"

    @classmethod
    def ofTensor(cls) -> OptionalType:  # noqa: N802
        """The type Tensor?."""
        return cls(TensorType())


class FutureType(_Of):
    """What is computed elsewhere, `Future(int)`."""

    __slots__ = ()
    _word = "Future"


class RRefType(_Of):
    """What another process holds, `RRef(Tensor)`."""

    __slots__ = ()
    _word = "RRef"


class TupleType(Type):
    """`(int, Tensor)`."""

    __slots__ = ()

    def __init__(self, elements) -> None:
        super().__init__("Tuple", tuple(elements))

    def elements(self) -> list[Type]:
        """The types of its values, in order."""
        return list(self._items)

    def str(self) -> str:
        """As schemas spell it."""
        return f"({', '.join(i.str() for i in self._items)})"

    @property
    def annotation_str(self) -> str:
        """As Python's annotations spell it."""
        inside = ", ".join(i.annotation_str for i in self._items)
        return f"Tuple[{inside or '()'}]"


class DictType(Type):
    """`Dict(str, int)`."""

    __slots__ = ()

    def __init__(self, key: Type, value: Type) -> None:
        super().__init__("Dict", (key, value))

    def getKeyType(self) -> Type:  # noqa: N802
        """The type of keys."""
        return self._items[0]

    def getValueType(self) -> Type:  # noqa: N802
        """The type of values."""
        return self._items[1]

    def str(self) -> str:
        """As schemas spell it."""
        return f"Dict({self._items[0].str()}, {self._items[1].str()})"

    @property
    def annotation_str(self) -> str:
        """As Python's annotations spell it."""
        key, value = (i.annotation_str for i in self._items)
        return f"Dict[{key}, {value}]"


class ClassType(Type):
    """A class of TorchScript, `__torch__.torch.classes.ns.Name`."""

    __slots__ = ()


# By the names that schemas use.
SINGLE = {
    t._spelled: t()
    for t in (
        TensorType, IntType, FloatType, ComplexType, BoolType, StringType,
        DeviceObjType, StreamObjType, GeneratorType, StorageType,
        AnyType, NoneType, NumberType,
    )
}  # fmt: skip
SINGLE["number"] = SINGLE["Scalar"]
SINGLE["None"] = SINGLE["NoneType"]
# Their values are ints.
REAL = {
    **{n: RealType(n) for n in ("ScalarType", "Layout", "MemoryFormat")},
    "SymInt": SymIntType(),
}
