"""Names that PyTorch keeps in `torch._C` and that are written in Python here.

They are imported when they are first asked for.
"""

from __future__ import annotations

import importlib

from . import _C

_GRAPH = "hotaru.jit._ir"
_PASSES = {
    "_create_function_from_graph": "create_function_from_graph",
    "_jit_pass_canonicalize": "canonicalize",
    "_jit_pass_inline": "inline",
    "_jit_pass_lint": "lint",
}
_TYPES = "hotaru.jit._ir.types"
_PLACES = {
    "FileCheck": "hotaru._testing.file_check",
    **dict.fromkeys(
        ("Block", "Graph", "Node", "Use", "Value", "parse_ir"), _GRAPH
    ),
    **dict.fromkeys(
        (
            "AnyType", "AwaitType", "BoolType", "ClassType", "ComplexType",
            "DeviceObjType", "DictType", "EnumType", "FloatType", "FutureType",
            "IntType",
            "ListType", "NoneType", "NumberType", "OptionalType",
            "PyObjectType", "StreamObjType", "StringType", "TensorType",
            "TupleType", "Type", "UnionType",
        ),
        _TYPES,
    ),
    **dict.fromkeys(_PASSES, "hotaru.jit._ir.passes"),
    "_create_function_from_graph": "hotaru.jit._ir.program",
    "_freeze_module": "hotaru.jit._native_module",
}  # fmt: skip


# Which `torch` has, too.
PUBLIC = frozenset(name for name in _PLACES if not name.startswith("_"))


def _attribute(name: str):
    place = _PLACES.get(name)
    if place is not None:
        value = getattr(importlib.import_module(place), _PASSES.get(name, name))
        return vars(_C).setdefault(name, value)
    if name.startswith("__"):
        raise AttributeError(
            f"module {_C.__name__!r} has no attribute {name!r}"
        )
    from ._library import questions

    if name in questions.NAMES:
        return vars(_C).setdefault(name, questions.NAMES[name])
    from ._extension import named

    return named(name)


_C.__getattr__ = _attribute
