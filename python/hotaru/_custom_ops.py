"""The older way to define operators; `library.custom_op` is the newer.

Operators are functional: they write to nothing and return no views.
"""

from __future__ import annotations

from collections.abc import Callable

from ._custom_op import impl as _impl
from .library import get_ctx, infer_schema, register_fake

__all__ = [
    "custom_op",
    "get_ctx",
    "impl",
    "impl_abstract",
    "impl_backward",
    "impl_save_for_backward",
]


def custom_op(qualname: str, func_or_schema=None):
    """Defines an operator "ns::name", from a schema "(Tensor x) -> Tensor" or
    from a function's annotations; without either, a decorator.

    ValueError for names and schemas that it does not take.
    """
    namespace, _ = _impl.parse_qualname(qualname)
    _impl.validate_namespace(namespace)

    def define(function: Callable) -> Callable:
        _impl.check_function(qualname, function)
        _impl.define(qualname, infer_schema(function, mutates_args=()))
        return function

    if isinstance(func_or_schema, str):
        _impl.define(qualname, func_or_schema)
        return None
    return define if func_or_schema is None else define(func_or_schema)


def _registering(qualname: str, register: Callable, func):
    def decorate(function: Callable) -> Callable:
        register(_impl.find(qualname))(function)
        return function

    return decorate if func is None else decorate(func)


def impl(qualname: str, *, device_types=("cpu", "cuda"), func=None):
    """Registers a kernel for device types; a decorator without `func`."""
    return _registering(qualname, lambda op: op.impl(device_types, _stacklevel=4), func)


def impl_abstract(qualname: str, *, func=None):
    """Registers what says how results look; `library.register_fake`."""
    return register_fake(qualname, func, _stacklevel=2)


def impl_save_for_backward(qualname: str, *, func=None):
    """Registers `func(inputs, output)`, which returns what the formula of
    `impl_backward` needs.
    """
    return _registering(
        qualname, lambda op: op.impl_save_for_backward(_stacklevel=4), func
    )


def impl_backward(qualname: str, output_differentiability=None, *, func=None):
    """Registers `func(ctx, saved, *grads)`, which returns a dictionary of
    gradients, by the names of the arguments that hold tensors.
    """
    return _registering(
        qualname,
        lambda op: op.impl_backward(output_differentiability, _stacklevel=4),
        func,
    )


def _destroy(qualname: str) -> None:
    """Takes an operator away that `custom_op` defined."""
    _impl.find(qualname, known=True)._destroy()
