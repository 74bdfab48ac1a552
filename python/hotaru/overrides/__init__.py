"""The protocol `__torch_function__`: classes and modes that answer operators.

A class defines

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None): ...

and is asked whenever one of its objects is an argument of a function of this
package, or an item of a list there. A `TorchFunctionMode` is asked for every
call inside of its `with`.
"""

from __future__ import annotations

import functools
from types import FunctionType

from .. import _C
from .._C import Tensor
from .._overrides import has_torch_function, without_hop
from ._modes import (
    BaseTorchFunctionMode,
    TorchFunctionMode,
    _enable_torch_function,
    _EnableTorchFunction,
    _get_current_function_mode,
    _get_current_function_mode_stack,
    _pop_mode,
    _pop_mode_temporarily,
    _push_mode,
    enable_reentrant_dispatch,
)
from ._names import (
    _METHOD,
    _SLOT,
    _all,
    _places,
    get_overridable_functions,
    get_testing_overrides,
    is_tensor_method_or_property,
    resolve_name,
)

__all__ = [
    "BaseTorchFunctionMode",
    "TorchFunctionMode",
    "enable_reentrant_dispatch",
    "get_default_nowrap_functions",
    "get_ignored_functions",
    "get_overridable_functions",
    "get_testing_overrides",
    "handle_torch_function",
    "has_torch_function",
    "is_tensor_like",
    "is_tensor_method_or_property",
    "redispatch_function",
    "resolve_name",
    "wrap_torch_function",
]
has_torch_function_variadic = _C._openly_overridden
has_torch_function_unary = _C._openly_overridden


def handle_torch_function(public_api, relevant_args, *args, **kwargs):
    """Asks those among `relevant_args` for `public_api(*args, **kwargs)`.

    Subclasses are asked before their bases, else from left to right; TypeError
    where all of them return NotImplemented.
    """
    return _C._handle_torch_function(public_api, tuple(relevant_args), args, kwargs)


def wrap_torch_function(dispatcher):
    """Decorates a function so that the protocol sees its calls.

    `dispatcher` takes the function's arguments and returns those to ask.
    """

    def decorate(function):
        @functools.wraps(function)
        def call(*args, **kwargs):
            relevant = dispatcher(*args, **kwargs)
            if has_torch_function(relevant):
                return handle_torch_function(call, relevant, *args, **kwargs)
            return function(*args, **kwargs)

        return call

    return decorate


def is_tensor_like(inp) -> bool:
    """Tells whether it is a tensor or answers operators as one."""
    return type(inp) is Tensor or hasattr(inp, "__torch_function__")


def get_default_nowrap_functions() -> set:
    """Functions whose results stay plain tensors by default."""
    from .._overrides import _unwrapped

    return _unwrapped()


def get_ignored_functions() -> set:
    """Public functions that the protocol does not see: what takes no tensors,
    and what makes them.
    """
    seen = set(_all()[1])
    ignored = {
        value
        for _, place in _places()
        for name, value in vars(place).items()
        if callable(value)
        and not name.startswith("_")
        and not isinstance(value, type)
        and _hashable(value)
        and value not in seen
    }
    return ignored | {handle_torch_function, has_torch_function, is_tensor_like}


def _hashable(value) -> bool:
    return type(value).__hash__ is not None


def _nobody_answered(func, mode, types) -> str:
    """The text of the error where all who were asked said NotImplemented."""
    name = resolve_name(func) or getattr(func, "__qualname__", repr(func))
    if not isinstance(func, _C.Op) and not isinstance(func, (_SLOT, _METHOD)):
        text = (
            f"no implementation found for '{name}' on types that implement "
            f"__torch_function__: {types}"
        )
        return text if mode is None else f"{text} nor in mode {mode}"
    asked = [] if mode is None else [f"  - mode object {mode}"]
    asked += [f"  - tensor subclass {t}" for t in types]
    return (
        f"Multiple dispatch failed for '{name}'; all __torch_function__ "
        "handlers returned NotImplemented:\n\n" + "\n".join(asked) + "\n\n"
        "For more information, try re-running with TORCH_LOGS=not_implemented"
    )


# Methods that ask for an answer within their bodies.
_ASKING = ("__deepcopy__", "__reduce_ex__", "__setstate__")


def redispatch_function(func, types, args, kwargs):
    """The function itself, for those who answer it: what a function written in
    Python calls asks them again.
    """
    wrapped = getattr(func, "__wrapped__", None)
    if type(func) is _C.Function and wrapped is not None:
        if wrapped.__name__ in _ASKING:
            return without_hop(wrapped, args, kwargs or {})
        return wrapped(*args, **(kwargs or {}))
    if isinstance(func, FunctionType):
        return without_hop(func, args, kwargs or {})
    with _C.DisableTorchFunctionSubclass():
        return func(*args, **(kwargs or {}))


# Their names are this module's.
for _thing in (
    BaseTorchFunctionMode,
    TorchFunctionMode,
    enable_reentrant_dispatch,
    get_overridable_functions,
    get_testing_overrides,
    is_tensor_method_or_property,
    resolve_name,
):
    _thing.__module__ = __name__
