"""The types of values in schemas and graphs: `torch._C.TensorType` and so on.

A type has two spellings: that of schemas and graphs, `int[]?` (`str()`), and
that of Python, `Optional[List[int]]` (`annotation_str`). Types are immutable,
safe to share between threads, equal by what they say, and not hashable.
"""

from __future__ import annotations

from .base_type import Type
from .compound import (
    AwaitType,
    DictType,
    FutureType,
    ListType,
    OptionalType,
    RRefType,
    TupleType,
    UnionType,
)
from .named import ClassType, EnumType, RealType, VarType
from .plain import (
    AnyType,
    BoolType,
    ComplexType,
    DeviceObjType,
    FloatType,
    FunctionType,
    GeneratorType,
    IntType,
    NoneType,
    NumberType,
    PyObjectType,
    StorageType,
    StreamObjType,
    StringType,
    SymIntType,
)
from .tensor_type import SCALAR_TYPES, Known, TensorType, new_symbol

# Types of one word, by the words of schemas and graphs.
SINGLE = {
    kind.get().str(): kind.get()
    for kind in (
        AnyType,
        BoolType,
        ComplexType,
        DeviceObjType,
        FloatType,
        GeneratorType,
        IntType,
        NoneType,
        NumberType,
        StorageType,
        StreamObjType,
        StringType,
        TensorType,
    )
}
SINGLE["number"] = SINGLE["Scalar"]
SINGLE["None"] = SINGLE["NoneType"]
# In schemas alone; their values are ints.
REAL = {
    **{n: RealType(n) for n in ("ScalarType", "Layout", "MemoryFormat")},
    "SymInt": SymIntType.get(),
}
