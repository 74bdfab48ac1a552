"""Functions that are registered for an operator beside kernels."""

from __future__ import annotations

from collections.abc import Callable

from .._function_schema import FunctionSchema
from .._operators import table
from .._operators.own import OwnOperator
from .._operators.table import Operator
from ..amp._thread import check_device_type
from . import utils


def refuse_named_tensors(schema: FunctionSchema, asked: str) -> None:
    """NotImplementedError where tensors can be given by name alone."""
    if utils.has_kwarg_only_tensors(schema):
        raise NotImplementedError(
            f"{asked} with kwarg-only Tensor args. In the original definition "
            f"of the op, please make your tensors not kwarg-only. Got: {schema}"
        )


def require_functional(operator, schema: FunctionSchema) -> None:
    if not utils.is_functional_schema(schema):
        raise RuntimeError(
            "Cannot register autograd formula for non-functional operator "
            f"{operator} with schema {schema}. Please create a functional "
            "operator and register an autograd formula for that."
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
    check_device_type(device_type)
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
            f"{kind} already has a `__torch_dispatch__` rule registered for {qualname}"
        )
    rules[found, kind] = func
    return lambda: rules.pop((found, kind), None)
