"""Questions of programs to `torch._C` about operators and their schemas."""

from __future__ import annotations

from .. import _C, Tensor, ops
from .._function_schema import AliasInfo, Argument, FunctionSchema, parse_schema
from . import fallback, keys, own, table
from .arguments import MismatchError, bind
from .tags import Tag

# A native operator has kernels and derivatives in one.
_NATIVE = frozenset(("CPU", "Meta", "Autograd", "ADInplaceOrView"))
_NO_OPERATOR = "operator {} does not exist"
_NO_MATCH = "Overloaded torch operator invoked from Python failed to match any schema:"


def has_kernel_for_dispatch_key(qualname: str, key) -> bool:
    """True if a kernel is registered for the key itself.

    hotaru's own operators compute and differentiate on the CPU and the meta
    device, and on a GPU where the package was built for it; which of them are
    made of others is not asked here.

    RuntimeError for a name or a key that there is not.
    """
    key = keys.checked(key)
    operator = table.find(qualname)
    if operator is not None:
        return operator.has(key)
    if table.native_schema(qualname) is None:
        raise RuntimeError(_NO_OPERATOR.format(qualname))
    if key == "CUDA":
        return bool(_C._cuda_architectures())
    return key in _NATIVE


def has_kernel_for_any_dispatch_key(qualname: str, chosen) -> bool:
    """True if a kernel is registered for one of the keys of a set."""
    return any(has_kernel_for_dispatch_key(qualname, k) for k in chosen._keys)


def has_kernel(qualname: str) -> bool:
    """True if there is an operator of that name with overload."""
    return table.find(qualname) is not None or table.native_schema(qualname) is not None


def registrations_for_key(key: str = "") -> list[str]:
    """The operators of Python with a kernel for a key; all without one."""
    name = keys.checked(key) if key else ""
    defined = [*table._operators.values(), *own.all_operators()]
    return sorted(o.qualname for o in defined if not name or o.has(name))


def _texts(name: str) -> list[str]:
    return [f"aten::{text}" for text in _C._op_schemas(name)]


def schemas_of(name: str) -> list[FunctionSchema]:
    """Schemas of all overloads of "ns::name"; empty if there are none."""
    if table.is_native(name):
        found = [parse_schema(t) for t in _texts(name.partition("::")[2])]
    else:
        found = []
    found += [o.schema for o in table.overloads(name).values()]
    return found + [o.schema for o in own.all_operators() if o.name == name]


def all_schemas() -> list[FunctionSchema]:
    """Schemas of all operators, native and defined in Python."""
    found = [
        parse_schema(text)
        for name, op in sorted(vars(ops).items())
        if isinstance(op, _C.Op)
        for text in _texts(name)
    ]
    defined = [*table._operators.values(), *own.all_operators()]
    return found + [o.schema for o in defined]


def resolve_packet(name: str, /, *args, **kwargs) -> str:
    """The name of the overload of "ns::name" that arguments fit.

    RuntimeError where they fit none.
    """
    refused = []
    for schema in schemas_of(name):
        try:
            bind(schema, args, kwargs)
        except MismatchError as error:
            refused.append(error)
        else:
            return schema.overload_name or "default"
    if len(refused) == 1:
        raise RuntimeError(str(refused[0]))
    listed = "".join(f"{error}\n\n" for error in refused)
    raise RuntimeError(f"{_NO_MATCH}\n{listed}")


def storage_id(tensor: Tensor) -> int:
    """Number that tensors that share memory have in common, while they live."""
    return tensor.untyped_storage()._cdata


def set_conj(tensor: Tensor, value: bool) -> None:
    """Says whether a tensor is a conjugate that is not computed yet.

    NotImplementedError where it is not as it should be already.
    """
    if tensor.is_conj() != value:
        raise NotImplementedError(
            "_set_conj: a tensor stays conjugated or not; x.conj() is another"
        )


def set_neg(tensor: Tensor, value: bool) -> None:
    """The same of negatives, which `x._neg_view()` gives."""
    if tensor.is_neg() != value:
        raise NotImplementedError(
            "_set_neg: a tensor stays negated or not; x._neg_view() is another"
        )


# By the names that torch._C has.
NAMES = {
    "AliasInfo": AliasInfo,
    "Argument": Argument,
    "DispatchKey": keys.DispatchKey,
    "DispatchKeySet": keys.DispatchKeySet,
    "ExcludeDispatchKeyGuard": keys.ExcludeDispatchKeyGuard,
    "FunctionSchema": FunctionSchema,
    "Tag": Tag,
    "_AutoDispatchBelowAutograd": keys.AutoDispatchBelowAutograd,
    "_AutoDispatchBelowADInplaceOrView": (keys.AutoDispatchBelowADInplaceOrView),
    "_ExcludeDispatchKeyGuard": keys.ExcludeDispatchKeyGuard,
    "_dispatch_get_registrations_for_dispatch_key": registrations_for_key,
    "_dispatch_has_kernel": has_kernel,
    "_dispatch_has_kernel_for_any_dispatch_key": (has_kernel_for_any_dispatch_key),
    "_dispatch_has_kernel_for_dispatch_key": has_kernel_for_dispatch_key,
    "_get_autograd_fallback_mode": fallback.get_mode,
    "_jit_get_all_schemas": all_schemas,
    "_jit_get_schemas_for_operator": schemas_of,
    "_jit_resolve_packet": resolve_packet,
    "_set_autograd_fallback_mode": fallback.set_mode,
    "_set_conj": set_conj,
    "_set_neg": set_neg,
    "_storage_id": storage_id,
    "parse_schema": parse_schema,
}
