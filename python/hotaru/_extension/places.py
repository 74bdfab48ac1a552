"""Where the names are that `torch._C` has and the extension does not.

They are imported when they are first asked for.
"""

from __future__ import annotations

import importlib

from .. import _C
from .._late import lent
from .._own_names import no_attribute

# Here, by file.
_HERE = {
    "kinds": ("_TensorMeta",),
    "dispatch_switch": ("_DisableTorchDispatch",),
    "size": ("Size",),
    "functions": ("_VariableFunctionsClass",),
    "communication": (
        "FileStore",
        "HashStore",
        "PrefixStore",
        "Store",
        "TCPStore",
        "_CollectiveGroup",
        "_CollectiveKind",
        "_CollectiveWork",
        "_Mesh",
        "_ReduceKind",
        "_meet",
    ),
    "questions": (
        "_cuda_clearCublasWorkspaces",
        "_get_default_device",
        "_get_math_sdp_allow_fp16_bf16_reduction",
        "_set_math_sdp_allow_fp16_bf16_reduction",
        "_set_mkldnn_deterministic",
        "_set_mkldnn_enabled",
        "_get_accelerator",
        "_get_privateuse1_backend_name",
        "_get_mkldnn_deterministic",
        "_get_mkldnn_enabled",
        "_get_tracing_state",
        "_has_mkldnn",
        "_has_mkldnn_acl",
        "_is_tracing",
        "_infer_size",
        "_is_alias_of",
        "_log_api_usage_once",
        "has_lapack",
        "has_mkldnn",
    ),
    "script_switches": (
        "_jit_can_fuse_on_cpu",
        "_jit_can_fuse_on_gpu",
        "_jit_override_can_fuse_on_cpu",
        "_jit_override_can_fuse_on_gpu",
        "_get_graph_executor_optimize",
        "_jit_get_tracer_state_warn",
        "_jit_set_autocast_mode",
        "_jit_set_profiling_executor",
        "_jit_set_profiling_mode",
        "_jit_nvfuser_enabled",
        "_jit_set_nvfuser_enabled",
        "_jit_set_nvfuser_guard_mode",
        "_jit_set_texpr_fuser_enabled",
        "_jit_set_tracer_state_warn",
        "_jit_texpr_fuser_enabled",
        "_set_graph_executor_optimize",
    ),
    "conv_backends": ("_ConvBackend", "_select_conv_backend"),
}
_FILES = {name: file for file, names in _HERE.items() for name in names}
_TYPES = frozenset(
    (
        "AnyType",
        "AwaitType",
        "BoolType",
        "ClassType",
        "ComplexType",
        "DeviceObjType",
        "DictType",
        "EnumType",
        "FloatType",
        "FutureType",
        "IntType",
        "ListType",
        "NoneType",
        "NumberType",
        "OptionalType",
        "PyObjectType",
        "RRefType",
        "StreamObjType",
        "StringType",
        "SymIntType",
        "TensorType",
        "TupleType",
        "Type",
        "UnionType",
        "_GeneratorType",
    )
)
# In packages above this one (`_late`).
_ABOVE = frozenset(
    (
        "Block",
        "CompilationUnit",
        "FileCheck",
        "Graph",
        "InferredType",
        "Node",
        "PyTorchFileReader",
        "PyTorchFileWriter",
        "Use",
        "Value",
        "_Await",
        "_EnableTorchFunction",
        "_are_functorch_transforms_active",
        "_create_function_from_graph",
        "_freeze_module",
        "_jit_pass_canonicalize",
        "_jit_pass_inline",
        "_jit_pass_lint",
        "_jit_try_infer_type",
        "parse_ir",
    )
)


# Which `torch` has, too.
PUBLIC = frozenset(
    (
        *(n for n in (*_FILES, *_TYPES, *_ABOVE) if n[0] != "_"),
        "Argument",
        "DisableTorchFunction",
        "DisableTorchFunctionSubclass",
        "DispatchKey",
        "DispatchKeySet",
        "ExcludeDispatchKeyGuard",
        "FunctionSchema",
        "parse_schema",
    )
)


def _found(name: str):
    """Finds what stands for a name of the extension in Python, or None."""
    if name in _FILES:
        module = importlib.import_module(f"{__package__}.{_FILES[name]}")
        return getattr(module, name)
    if name in _TYPES:
        from .. import _types

        return getattr(_types, name.removeprefix("_"))
    return lent(name) if name in _ABOVE else None


def attribute(name: str):
    """The attribute of the extension, from the module that has it."""
    found = _found(name)
    if found is not None:
        return vars(_C).setdefault(name, found)
    if name == "TensorBase":
        return vars(_C).setdefault(name, _C.Tensor)
    if name == "_functorch":
        return vars(_C).setdefault(name, lent("functorch_extension"))
    if name == "_distributed_c10d":
        return vars(_C).setdefault(name, lent("c10d"))
    if name == "_distributed_rpc":
        return vars(_C).setdefault(name, lent("rpc_extension"))
    if name in ("_fft", "_linalg", "_nn", "_sparse", "_special"):
        from .functions import place as place_of

        return vars(_C).setdefault(name, place_of(name[1:]))
    for table in ("questions", "passes"):
        if name in lent(table):
            return vars(_C).setdefault(name, lent(table)[name])
    raise no_attribute(_C.__name__, name)
