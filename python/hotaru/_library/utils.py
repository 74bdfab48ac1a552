"""Questions about operators and their schemas."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator

from .. import _C, Tensor, _ops
from .. import _types as t
from .._function_schema import FunctionSchema, parse_schema
from .._operators import arguments


def get_source(stacklevel: int) -> str:
    """The place "file.py:12" of a caller."""
    frame = sys._getframe(stacklevel)
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


def parse_namespace(qualname: str) -> tuple[str, str]:
    """("ns", "name") of "ns::name"; ValueError for anything else."""
    parts = qualname.split("::")
    if len(parts) != 2:
        raise ValueError(
            'Expected `qualname` to be of the form "namespace::name", but got '
            f"{qualname}. The qualname passed to the torch.library APIs must "
            "consist of a namespace and a name, e.g. aten::sin"
        )
    return parts[0], parts[1]


def lookup_op(qualname: str):
    """The overload "ns::name.overload"; AttributeError if there is none."""
    namespace, name = parse_namespace(qualname)
    name, _, overload = name.partition(".")
    packet = getattr(_ops.namespace(namespace), name)
    return getattr(packet, overload or "default")


def is_builtin(op) -> bool:
    """True if an overload is PyTorch's own."""
    return op.namespace in {"aten", "prim", "prims"}


def is_functional_schema(schema, *, allow_valid_view: bool = False) -> bool:
    """True if an operator writes to nothing, returns something, and no views.

    Args:
        schema: a text, a FunctionSchema, or torchgen's.
        allow_valid_view: whether results may be views of arguments.
    """
    if not isinstance(schema, FunctionSchema):
        schema = parse_schema(str(schema))
    if schema.is_mutable or not schema.returns:
        return False
    views = any(r.alias_info is not None for r in schema.returns)
    return allow_valid_view or not views


def _bare(kind: t.Type) -> t.Type:
    while isinstance(kind, t.OptionalType):
        kind = kind.getElementType()
    return kind


def is_tensor_like_type(kind) -> bool:
    """True if values are tensors, or None."""
    return isinstance(_bare(kind), t.TensorType)


def is_tensorlist_like_type(kind) -> bool:
    """True if values are lists of tensors, or of tensors and None."""
    kind = _bare(kind)
    return isinstance(kind, t.ListType) and is_tensor_like_type(kind.getElementType())


def _holds_tensors(kind) -> bool:
    return is_tensor_like_type(kind) or is_tensorlist_like_type(kind)


def has_kwarg_only_args(schema: FunctionSchema) -> bool:
    """True if an argument can be given by name alone."""
    return any(a.kwarg_only for a in schema.arguments)


def has_kwarg_only_tensors(schema: FunctionSchema) -> bool:
    """True if tensors can be given by name alone."""
    return any(a.kwarg_only and _holds_tensors(a.type) for a in schema.arguments)


def has_tensor_arg(schema: FunctionSchema) -> bool:
    """True if there is an argument that holds tensors."""
    return any(_holds_tensors(a.type) for a in schema.arguments)


def get_device_arg_index(schema: FunctionSchema) -> int | None:
    """The position of the argument `device`."""
    for i, argument in enumerate(schema.arguments):
        if argument.name == "device" and isinstance(
            _bare(argument.type), t.DeviceObjType
        ):
            return i
    return None


def fill_defaults(schema: FunctionSchema, args: tuple, kwargs: dict):
    """The arguments with the schema's defaults for those left out."""
    return arguments.filled(schema, args, kwargs)


def zip_schema(schema: FunctionSchema, args: tuple, kwargs: dict) -> Iterator:
    """(argument, value) for each one that is given."""
    for i, argument in enumerate(schema.arguments):
        if i < len(args):
            yield argument, args[i]
        elif argument.name in kwargs:
            yield argument, kwargs[argument.name]


def mutated_tensors(schema: FunctionSchema, args: tuple, kwargs: dict):
    """The tensors among the arguments that the operator writes to."""
    for argument, value in zip_schema(schema, args, kwargs):
        if argument.is_write:
            yield from arguments.tensors_in((value,), {})


def check_aliasing_constraint(
    name: str, inputs: list[Tensor], result, implementation: Callable
) -> None:
    """RuntimeError where two results, or a result and an input, share memory.

    Args:
        name: the operator.
        inputs: the tensors that it got.
        result: what it returned.
        implementation: what ran; its module stands in the message.
    """
    seen = list(inputs)
    outputs = arguments.tensors_in(
        result if isinstance(result, tuple) else (result,), {}
    )
    for tensor in outputs:
        if any(_C._shares_storage(tensor, other) for other in seen):
            raise RuntimeError(_ALIASED.format(name, _module(implementation)))
        seen.append(tensor)


_ALIASED = (
    "{} (with implementation in {}): The output of this custom operator (1) "
    "must not also be an input to this custom operator and (2) may not alias "
    "any inputs to this custom operator or other returns. The most common way "
    "to trigger this error is if we have y = custom_op(x) and y and x are the "
    "same Tensor. Please instead return a clone of the offending output "
    "tensor(s) (e.g. return x.clone()) or refactor the custom operator to not "
    "return y."
)


def _module(implementation: Callable):
    return inspect.getmodule(implementation) or "???"
