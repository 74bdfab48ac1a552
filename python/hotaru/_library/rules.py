"""Functions that are registered for an operator beside kernels."""

from __future__ import annotations

from collections.abc import Callable

from .._function_schema import FunctionSchema
from .._operators import table
from .._operators.own import OwnOperator
from .._operators.table import Operator
from . import utils


def refuse_named_tensors(schema: FunctionSchema, asked: str) -> None:
    """NotImplementedError where tensors can be given by name alone."""
    if utils.has_kwarg_only_tensors(schema):
        raise NotImplementedError(
            f"{asked} with kwarg-only Tensor args. In the original definition "
            "of the op, please make your tensors not kwarg-only. Got: "
            f"{schema}"
        )


def register_vmap(operator: Operator, func: Callable | None):
    """Takes a batching rule; a decorator without `func`."""
    refuse_named_tensors(operator.schema, "register_vmap")

    def register(function: Callable) -> Callable:
        operator.vmap = function
        return function

    return register if func is None else register(func)


def register_autocast(operator: Operator, device_type: str, dtype) -> None:
    """Casts floating point arguments to a dtype under autocast.

    ValueError for device types without autocast.
    """
    if not isinstance(device_type, str):
        raise ValueError(
            f"Expected `device_type` of type `str`, got: `{type(device_type)}`"
        )
    if device_type not in ("cpu", "cuda"):
        raise ValueError(f"Unknown device type: {device_type}")
    if not isinstance(operator, OwnOperator):
        operator.autocast[device_type] = dtype
        return
    from .._operators import autocast

    def cast(*args, **kwargs):
        return autocast.run(
            lambda values: operator.call(*values, **kwargs),  # novm: no module
            args,
            dtype,
            device_type,
        )

    key = f"Autocast{device_type.upper()}"
    table.register(operator.qualname, key, cast)


def register_dispatch(qualname: str, kind: type, func: Callable) -> Callable:
    """Takes the answer to "ns::name.overload" for a class or mode; returns
    what takes it away.

    RuntimeError where there is one.
    """
    from .. import _ops
    from .._dispatch import rules

    space, _, name = qualname.partition("::")
    packet, _, overload = name.partition(".")
    found = _ops._overload(packet, overload or "default", space)
    if (found, kind) in rules:
        raise RuntimeError(
            f"{kind} already has a `__torch_dispatch__` rule registered for "
            f"{qualname}"
        )
    rules[found, kind] = func
    return lambda: rules.pop((found, kind), None)
