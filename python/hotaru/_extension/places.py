"""Where the names are that `torch._C` has and the extension does not.

They are imported when they are first asked for.
"""

from __future__ import annotations

import importlib

from .. import _C

_GRAPH = "hotaru.jit._ir"
_PASSES = {
    "_create_function_from_graph": "create_function_from_graph",
    "_jit_pass_canonicalize": "canonicalize",
    "_jit_pass_inline": "inline",
    "_jit_pass_lint": "lint",
}
_INSIDE = {
    **_PASSES,
    "_GeneratorType": "GeneratorType",
    "_jit_try_infer_type": "try_infer_type",
}
_TYPES = "hotaru._types"
_PLACES = {
    "_TensorMeta": "hotaru._extension.kinds",
    "FileCheck": "hotaru._testing.file_check",
    "PyTorchFileReader": "hotaru.serialization._file_classes",
    "PyTorchFileWriter": "hotaru.serialization._file_classes",
    "Size": "hotaru._extension.size",
    **dict.fromkeys(
        ("Block", "Graph", "Node", "Use", "Value", "parse_ir"), _GRAPH
    ),
    **dict.fromkeys(
        (
            "AnyType", "AwaitType", "BoolType", "ClassType", "ComplexType",
            "DeviceObjType", "DictType", "EnumType", "FloatType", "FutureType",
            "IntType",
            "ListType", "NoneType", "NumberType", "OptionalType",
            "PyObjectType", "RRefType", "StreamObjType", "StringType",
            "SymIntType", "TensorType", "TupleType", "Type", "UnionType",
        ),
        _TYPES,
    ),
    **dict.fromkeys(_PASSES, "hotaru.jit._ir.passes"),
    "_create_function_from_graph": "hotaru.jit._ir.program",
    "_Await": "hotaru._awaits",
    "_are_functorch_transforms_active": "hotaru._functorch.active",
    "_GeneratorType": _TYPES,
    "_VariableFunctionsClass": "hotaru._extension.functions",
    "_jit_try_infer_type": "hotaru.fx._infer",
    "_freeze_module": "hotaru.jit._native_module",
    "_EnableTorchFunction": "hotaru.overrides",
    **dict.fromkeys(
        (
            "FileStore", "HashStore", "PrefixStore", "Store", "TCPStore",
            "_CollectiveGroup", "_CollectiveKind", "_CollectiveWork", "_Mesh",
            "_ReduceKind", "_meet",
        ),
        "hotaru._extension.communication",
    ),
    **dict.fromkeys(
        (
            "_get_privateuse1_backend_name", "_get_tracing_state",
            "_infer_size", "_is_alias_of", "_log_api_usage_once", "has_lapack",
        ),
        "hotaru._extension.questions",
    ),
    **dict.fromkeys(
        ("_ConvBackend", "_select_conv_backend"),
        "hotaru._extension.conv_backends",
    ),
}  # fmt: skip


# Which `torch` has, too.
PUBLIC = frozenset(
    (
        *(n for n in _PLACES if n[0] != "_" and n != "has_lapack"),
        "Argument", "DisableTorchFunction", "DisableTorchFunctionSubclass",
        "DispatchKey", "DispatchKeySet", "ExcludeDispatchKeyGuard",
        "FunctionSchema", "parse_schema",
    )
)  # fmt: skip


def attribute(name: str):
    """The attribute of the extension, from the module that has it."""
    place = _PLACES.get(name)
    if place is not None:
        inside = _INSIDE.get(name, name)
        value = getattr(importlib.import_module(place), inside)
        return vars(_C).setdefault(name, value)
    if name == "TensorBase":
        return vars(_C).setdefault(name, _C.Tensor)
    if name in ("_fft", "_linalg", "_nn", "_sparse", "_special"):
        from .functions import place as place_of

        return vars(_C).setdefault(name, place_of(name[1:]))
    from .._library import questions

    if name in questions.NAMES:
        return vars(_C).setdefault(name, questions.NAMES[name])
    raise AttributeError(f"module {_C.__name__!r} has no attribute {name!r}")
