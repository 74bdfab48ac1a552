"""Which function answers which operator of a sparse tensor, by its name."""

from __future__ import annotations

from typing import Any, Callable

from .. import _C
from .._late import lent
from ..autograd import no_grad
from ..utils import _pytree
from .tensor import SparseTensor

HANDLERS: dict[str, Callable] = {}
"""By the operator's name. Handlers take what the operator takes, but `out=`;
for the in-place form of one there need not be another."""

_IN_COORDINATES: dict[str, Callable] = {}
"""The same for operators of tensors in coordinates; these go before."""

COMPRESSED_HANDLERS: dict[str, Callable] = {}
"""The same where any argument (or layout) is compressed; asked first."""

_INPUTS = ("input", "self", "tensor")


def answers(*names: str) -> Callable:
    """Makes a function the one that answers these operators."""

    def register(function: Callable) -> Callable:
        for name in names:
            HANDLERS[name] = function
        return function

    return register


def answers_coo(*names: str) -> Callable:
    """The same where the first sparse argument is in coordinates."""

    def register(function: Callable) -> Callable:
        for name in names:
            _IN_COORDINATES[name] = function
        return function

    return register


def answers_compressed(*names: str) -> Callable:
    """The same where any tensor (or layout) among the arguments is one of the
    compressed ones.
    """

    def register(function: Callable) -> Callable:
        for name in names:
            COMPRESSED_HANDLERS[name] = function
        return function

    return register


# What a sparse tensor answers as any tensor does: about itself and its history.
_PLAIN = frozenset(
    [
        "detach",
        "detach_",
        "requires_grad_",
        "register_hook",
        "retain_grad",
        "dim",
        "register_post_accumulate_grad_hook",
        "ndimension",
        "size",
        "numel",
        "nelement",
        "element_size",
        "is_floating_point",
        "is_complex",
        "is_signed",
        "is_inference",
        "__hash__",
        "is_tensor",
        "__class__",
        "is_same_size",
        "grad_mode",
        "_is_view",
        "_has_format",
        "is_shared",
        "result_type",
        "can_cast",
        "get_device",
        "broadcast_tensors",
        "is_nonzero",
        "is_neg",
        "is_conj",
        "resolve_conj",
        "resolve_neg",
        "is_distributed",
        "_backward_hooks",
        "hash",
        "unsafe_chunk",
        "set_",
        "__setattr__",
        "get_overridable_functions",
        "is_storage",
        "has_names",
        "dense_dim",
        "sparse_dim",
        "__dir__",
    ]
)
_COPIED_ATTRIBUTES = frozenset(["T", "mT", "H", "mH", "real", "imag"])


def answer(function, args: tuple, kwargs: dict) -> Any:
    """What the function gives for arguments of which one is sparse, or a
    sparse layout; NotImplementedError where it has no meaning for them.
    """
    name = function.__name__
    if name in ("__get__", "__set__", "__delete__"):
        return _attribute(function, name, *args)
    if not args:
        args, kwargs = _first(args, kwargs)
    out = kwargs.pop("out", None) if "out" in kwargs else None
    looked_at = kwargs if out is None else {**kwargs, "out": out}
    handler = handler_of(name, args, looked_at)
    if handler is None and name in _PLAIN:
        return plain(function, *args, **looked_at)
    if handler is not None:
        if getattr(handler, "takes_out", False):
            return handler(*args, out=out, **kwargs)
        result = handler(*args, **kwargs)
        if out is None:
            return _signed(name, result)
        return assign(out, result)
    if type(function) is _C.Function:  # what it calls is asked for
        return function.__wrapped__(*args, **looked_at)
    if not name.endswith("_"):
        raise unknown(name, args, kwargs)
    handler = handler_of(name[:-1], args, kwargs)
    if handler is None:
        raise unknown(name, args, kwargs)
    _check_in_place(name, args[0])
    return assign(args[0], handler(*args, **kwargs), in_place=True)


def handler_of(name: str, args: tuple, kwargs: dict) -> Callable | None:
    """Who answers the operator for these arguments."""
    if name in COMPRESSED_HANDLERS and (
        _compressed(args) or _compressed(kwargs.values())
    ):
        return COMPRESSED_HANDLERS[name]
    if name in _IN_COORDINATES and _coordinates(args, kwargs):
        return _IN_COORDINATES[name]
    return HANDLERS.get(name)


def _compressed(arguments) -> bool:
    for x in arguments:
        if isinstance(x, _C._SparseLayout):
            layout = x
        elif isinstance(x, _C.Tensor):
            layout = x.layout
        elif isinstance(x, (tuple, list)) and _compressed(x):
            return True
        else:
            continue
        if layout is not _C.strided and layout is not _C.sparse_coo:
            return True
    return False


def _coordinates(args, kwargs) -> bool:
    for value in (*args, *kwargs.values()):
        leaves = value if isinstance(value, (list, tuple)) else (value,)
        for leaf in leaves:
            if isinstance(leaf, _C._SparseLayout):
                return leaf is _C.sparse_coo
            if isinstance(leaf, _C.Tensor) and leaf.layout is not _C.strided:
                return leaf.layout is _C.sparse_coo
    return False


NEEDS_COALESCED: dict[str, str] = {}
"""Operators that need sorted, different indices to be done in place, and their
first names.
"""


def _check_in_place(name: str, tensor) -> None:
    if (
        name[:-1] in NEEDS_COALESCED
        and tensor.is_sparse
        and not _C._sparse_coalesced(tensor)
    ):
        raise RuntimeError(
            f"{NEEDS_COALESCED[name[:-1]]}_ requires coalesced input"
        )


def _signed(name: str, result):
    """The result knows the operator's name."""
    if isinstance(result, SparseTensor) and not result.is_leaf:
        result.made_by = name
    return result


def plain(function, *args, **kwargs) -> Any:
    """The function as it is for strided tensors."""
    with _C.DisableTorchFunctionSubclass():
        return function(*args, **kwargs)


def _first(args: tuple, kwargs: dict) -> tuple[tuple, dict]:
    for name in _INPUTS:
        if name in kwargs:
            return (kwargs[name],), {
                k: v for k, v in kwargs.items() if k != name
            }
    return args, dict(kwargs)


def _attribute(accessor, kind: str, *args) -> Any:
    name = accessor.__self__.__name__
    if kind == "__get__" and name in _COPIED_ATTRIBUTES:
        handler = handler_of(name, args, {})
        if handler is None:
            raise unknown(name, args, {})
        return handler(*args)
    if kind == "__set__" and name == "data":
        _check_data(*args)
        with no_grad():
            return assign(*args)
    return plain(accessor, *args)


def _check_data(old, new) -> None:
    """RuntimeError for tensors that are kept in different ways."""
    kinds = {
        None if x.layout is _C.strided else backend_of((x,), {})
        for x in (old, new)
    }
    if len(kinds) > 1:
        raise RuntimeError(
            "Attempted to call `variable.set_data(tensor)`, but `variable` and "
            "`tensor` have incompatible tensor type."
        )


def assign(out, result, in_place: bool = False):
    """Makes `out` have the elements and the history of `result`; the shape,
    too, unless `in_place`.
    """
    if isinstance(out, tuple):
        return type(out)(assign(o, r) for o, r in zip(out, result))
    return lent("assign_sparse")(out, result, in_place)


def backend_of(args, kwargs) -> str:
    """The name of the back end that the arguments stand for, in errors."""
    for leaf in _pytree.tree_leaves((args, kwargs)):
        if isinstance(leaf, SparseTensor):
            coo = leaf.layout is _C.sparse_coo
            kind = "Sparse" if coo else "SparseCsr"
            return kind + leaf.device.type.upper()
        if isinstance(leaf, _C._SparseLayout):
            kind = "Sparse" if leaf is _C.sparse_coo else "SparseCsr"
            return kind + "CPU"
    return "Sparse"


def unknown(name: str, args, kwargs) -> Exception:
    """The error of an operator that has no meaning for these arguments."""
    back_end = backend_of(args, kwargs)
    return NotImplementedError(
        f"Could not run 'aten::{name}' with arguments from the '{back_end}' "
        "backend. It has no meaning for sparse tensors here: convert with "
        "to_dense(), or call it on the values."
    )
