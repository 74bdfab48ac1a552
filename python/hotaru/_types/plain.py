"""The types without parts."""

# Names are PyTorch's.
from __future__ import annotations

from typing import ClassVar

from .base_type import Type


class _Plain(Type):
    """A type without parts, of which there is one object."""

    _text: ClassVar[str] = ""
    _in_schemas: ClassVar[str] = ""

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

    def __reduce__(self):
        return type(self).get, ()

    def str(self) -> str:
        return self._in_schemas or self._text

    @property
    def annotation_str(self) -> str:
        return self._text


def _plain(name: str, text: str, in_schemas: str = ""):
    body = {
        "__module__": __name__,
        "__doc__": f"The type {text}.",
        "_text": text,
        "_in_schemas": in_schemas,
    }
    return type(name, (_Plain,), body)


AnyType = _plain("AnyType", "Any")
NoneType = _plain("NoneType", "NoneType")
BoolType = _plain("BoolType", "bool")
NumberType = _plain("NumberType", "number", "Scalar")
SymIntType = _plain("SymIntType", "int", "SymInt")
ComplexType = _plain("ComplexType", "complex")
StringType = _plain("StringType", "str")
DeviceObjType = _plain("DeviceObjType", "Device")
StreamObjType = _plain("StreamObjType", "Stream")
PyObjectType = _plain("PyObjectType", "PyObject")
FunctionType = _plain("FunctionType", "Function")
GeneratorType = _plain("GeneratorType", "Generator")
StorageType = _plain("StorageType", "Storage")
AnyType._takes = lambda self, other: True
IntType = _plain("IntType", "int")
FloatType = _plain("FloatType", "float")
for _number in (IntType, FloatType, ComplexType, BoolType):
    _number._fits = lambda self, other: (
        isinstance(other, NumberType) and not isinstance(self, BoolType)
    )
