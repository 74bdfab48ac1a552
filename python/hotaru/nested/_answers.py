"""Which function answers which operator of a nested tensor, by its name."""

from __future__ import annotations

from typing import Any, Callable

from .. import _C
from .._C import Tensor
from .._dispatch.names import base_name, words, writes
from ..utils import _pytree
from . import _base
from ._jagged import NestedTensor
from ._packed import StridedNested

STRIDED: dict[str, Callable] = {}
JAGGED: dict[str, Callable] = {}
"""By the operator's name: each takes what the operator takes."""
STRIDED_POINTWISE: dict[str, Callable] = {}
JAGGED_POINTWISE: dict[str, Callable] = {}
"""Those that take the function called, then its arguments: one function
answers many operators, and the in-place form of each."""


def answers(table: dict, *names: str) -> Callable:
    """Makes a function the one that answers these operators."""

    def register(function: Callable) -> Callable:
        for name in names:
            table[name] = function
        return function

    return register


# What a nested tensor answers as any tensor does.
_PLAIN = frozenset(
    words(
        "requires_grad_ register_hook retain_grad detach_ "
        "register_post_accumulate_grad_hook element_size is_floating_point "
        "is_complex is_signed is_inference __hash__ is_tensor __class__ "
        "_is_view is_shared get_device is_neg is_conj is_distributed hash "
        "is_storage has_names __dir__ __setattr__ is_pinned result_type "
        "can_cast type_of is_autocast_enabled record_stream"
    )
)
# What the classes themselves say.
_OWN = frozenset(
    words(
        "size stride dim ndimension numel nelement storage_offset "
        "is_contiguous values __len__ __repr__ __format__ __iter__ "
        "untyped_storage data_ptr _nested_tensor_size _nested_tensor_strides "
        "_nested_tensor_storage_offsets __deepcopy__ __reduce_ex__"
    )
)
_REFUSED = {
    "numpy": ".numpy() is not supported for tensor subclasses.",
    "tolist": ".tolist() is not supported for tensor subclasses, got "
    "NestedTensor",
}


def answer(function, args: tuple, kwargs: dict) -> Any:
    """What the function gives for arguments of which one is nested.

    NotImplementedError where it has no meaning for them.
    """
    name = function.__name__.split(".")[0]
    if name in ("__get__", "__set__", "__delete__"):
        return _attribute(function, name, *args)
    nested = [
        leaf
        for leaf in _pytree.tree_leaves((args, kwargs))
        if isinstance(leaf, _base.Nested)
    ]
    if not nested:
        return _base.plain(function, *args, **kwargs)
    if not args:
        args, kwargs = _first(kwargs)
    out = kwargs.pop("out", None)
    strided = any(isinstance(x, StridedNested) for x in nested)
    table = STRIDED if strided else JAGGED
    pointwise = STRIDED_POINTWISE if strided else JAGGED_POINTWISE
    base = base_name(name)
    if base in table and base == name.strip("_"):
        result = table[base](*args, **kwargs)
    elif name in table:
        result = table[name](*args, **kwargs)
    elif base in pointwise:
        result = pointwise[base](function, *args, **kwargs)
    elif name in _PLAIN:
        result = _base.plain(function, *args, **kwargs)
    elif name in _OWN and isinstance(args[0], _base.Nested):
        result = getattr(type(args[0]), name)(*args, **kwargs)
    elif base != name and base in table and writes(name):
        result = _base.write(args[0], table[base](*args, **kwargs))
    elif type(function) is _C.Function:
        result = function.__wrapped__(*args, **kwargs)
    else:
        raise _unknown(name, nested[0])
    if name in VIEWS:
        result = _base.as_view(result, args[0])
    return result if out is None else _base.write(out, result)


VIEWS = frozenset(
    words(
        "adjoint alias chunk detach expand flatten mH mT movedim narrow "
        "permute reshape select split split_with_sizes squeeze swapaxes "
        "swapdims tensor_split transpose unbind unflatten unsqueeze view "
        "view_as"
    )
)


def _first(kwargs: dict) -> tuple[tuple, dict]:
    for name in ("input", "self", "tensor", "query", "tensors"):
        if name in kwargs:
            rest = {k: v for k, v in kwargs.items() if k != name}
            return (kwargs[name],), rest
    return (), dict(kwargs)


def _attribute(accessor, kind: str, *args) -> Any:
    name = accessor.__self__.__name__
    if kind == "__get__":
        table = STRIDED if isinstance(args[0], StridedNested) else JAGGED
        if name in ("T", "mT", "H", "mH", "real", "imag", "data", "nbytes"):
            if name not in table:
                raise _unknown(name, args[0])
            return table[name](*args)
    if kind == "__set__" and name == "data":
        return _base.write(*args)
    return _base.plain(accessor, *args)


def _unknown(name: str, x: Tensor) -> Exception:
    if name in _REFUSED and isinstance(x, NestedTensor):
        return RuntimeError(_REFUSED[name])
    if isinstance(x, NestedTensor):
        return NotImplementedError(
            f"aten.{name}.default: not for nested tensors of the layout "
            "jagged; call it on values() or on the elements of unbind()"
        )
    return NotImplementedError(
        f"Could not run 'aten::{name}' with arguments from the "
        f"'NestedTensor{x.device.type.upper()}' backend. Call it on the "
        "elements of unbind()."
    )


_base.Nested.answered_by = staticmethod(answer)
