"""Signatures of operators, and calls written as they name their arguments."""

from __future__ import annotations

import inspect
import numbers
import types
import typing

import hotaru

from .. import _C, Tensor
from .._function_schema.signatures import signature, split
from .._ops import OpOverload, OpOverloadPacket
from ._compatibility import compatibility
from ._names import is_method

__all__ = [
    "ArgsKwargsPair",
    "check_for_mutable_operation",
    "create_type_hint",
    "get_signature_for_torch_op",
    "normalize_function",
    "normalize_module",
    "type_matches",
]


@compatibility(is_backward_compatible=False)
class ArgsKwargsPair(typing.NamedTuple):
    """Arguments of a call."""

    args: tuple
    kwargs: dict


# --- schemas ------------------------------------------------------------------

_NAMES = {
    "Tensor": Tensor,
    "Device": hotaru.device,
    "Generator": hotaru.Generator,
    "NoneType": type(None),
    "number": numbers.Number,
    **{name: getattr(typing, name) for name in ("Any", "Dict", "List")},
    **{name: getattr(typing, name) for name in ("Optional", "Tuple", "Union")},
}


def _torchscript_type_to_python_type(ts_type):
    """The Python type of one of TorchScript's."""
    return eval(ts_type.annotation_str, dict(_NAMES))


@compatibility(is_backward_compatible=False)
def get_signature_for_torch_op(op, return_schemas: bool = False):
    """The signatures of an operator's overloads; None for what is none.

    Those with `out=` are not among them. With `return_schemas` a pair of them
    and their schemas' texts.
    """
    schemas = []
    if isinstance(op, OpOverload):
        schemas = [op._text]
    elif isinstance(op, OpOverloadPacket):
        schemas = op._texts()
    if isinstance(op, _C.Op) and not is_method(op):
        schemas = list(_C._op_schemas(op.__name__))
    if not schemas:
        return (None, None) if return_schemas else None
    signatures = [signature(schema) for schema in schemas]
    return (signatures, schemas) if return_schemas else signatures


@compatibility(is_backward_compatible=False)
def check_for_mutable_operation(target, args, kwargs) -> None:
    """RuntimeError for calls of operators that write to an argument."""
    signatures, schemas = get_signature_for_torch_op(target, True)
    if not signatures:
        return
    kwargs = dict(kwargs)
    out = kwargs.pop("out", None)
    for known, schema in zip(signatures, schemas):
        try:
            known.bind(*args, **kwargs)
        except TypeError:
            continue
        if out is not None:
            schema = _with_out(schema)
        if "!)" in schema:
            raise RuntimeError(
                f"Tried to trace mutable operation aten::{schema}. "
                "FX only supports functional code, so operations that mutate "
                "operands in-place (e.g. via `out` arguments) are not supported"
            )
        return


def _with_out(schema: str) -> str:
    """The schema of an overload's form with `out=`."""
    name, _, rest = schema.partition("(")
    inside, _, _ = rest.rpartition(") -> ")
    base, dot, overload = name.partition(".")
    name = f"{base}.{overload}_out" if dot else f"{base}.out"
    made_by = [p for p in split(inside) if not p.startswith("ScalarType?")]
    star = [] if "*" in made_by else ["*"]
    inside = ", ".join([*made_by, *star, "Tensor(a!) out"])
    return f"{name}({inside}) -> Tensor(a!)"


# --- types --------------------------------------------------------------------


@compatibility(is_backward_compatible=False)
def create_type_hint(x):
    """The type of a value: list[int] of a list of ints."""
    if isinstance(x, (list, tuple)):
        if isinstance(x, list):

            def make(item):
                return list[item]
        else:

            def make(item):
                return tuple[item, ...]

        if not x:
            return make(typing.Any)
        base = x[0]
        for item in x:
            if issubclass(item, base):
                continue
            if issubclass(base, item):
                base = item
            else:
                return make(typing.Any)
        return make(base)
    return x


_LISTS = (list, typing.List)


@compatibility(is_backward_compatible=False)
def type_matches(signature_type, argument_type) -> bool:
    """True if an argument of a type fits a parameter's."""
    if signature_type is argument_type:
        return True
    origin = getattr(signature_type, "__origin__", signature_type)
    if origin is typing.Union and signature_type != argument_type:
        return any(
            type_matches(option, argument_type)
            for option in typing.get_args(signature_type)
        )
    if signature_type == typing.List[int] and argument_type is int:
        return True  # one int for all dimensions
    if origin in _LISTS:
        item = (typing.get_args(signature_type) or (typing.Any,))[0]
        return _is_list_of(item, argument_type)
    if signature_type is numbers.Number and argument_type in (int, float):
        return True
    if inspect.isclass(argument_type) and inspect.isclass(signature_type):
        return issubclass(argument_type, signature_type)
    return False


def _is_list_of(item, argument_type) -> bool:
    if argument_type == typing.List[item]:
        return True
    origin = getattr(argument_type, "__origin__", None)
    if origin not in (list, tuple):
        return False
    if not inspect.isclass(item):
        return False
    parts = [a for a in typing.get_args(argument_type) if a is not ...]
    return all(
        part is item or (inspect.isclass(part) and issubclass(part, item))
        for part in parts
    )


# --- normal forms -------------------------------------------------------------


@compatibility(is_backward_compatible=False)
def normalize_function(
    target,
    args,
    kwargs=None,
    arg_types=None,
    kwarg_types=None,
    normalize_to_only_use_kwargs: bool = False,
):
    """The arguments with their defaults, those by position first.

    None where the target has no known signature or they do not fit.
    RuntimeError where several overloads fit; types of the arguments help.
    """
    kwargs = kwargs or {}
    if isinstance(target, (_C.Function, types.FunctionType)):
        return _normal_form(
            inspect.signature(inspect.unwrap(target)),
            args,
            kwargs,
            normalize_to_only_use_kwargs,
        )
    if not callable(target):
        raise AssertionError(f"Expected callable target, got {type(target)}")
    signatures = get_signature_for_torch_op(target) or []
    matched = [s for s in signatures if _binds(s, args, kwargs)]
    if len(matched) > 1:
        matched = _by_types(target, matched, arg_types, kwarg_types)
    if not matched:
        return None
    return _normal_form(matched[0], args, kwargs, normalize_to_only_use_kwargs)


def _binds(signature, args, kwargs) -> bool:
    try:
        signature.bind(*args, **kwargs)
    except TypeError:
        return False
    return True


def _by_types(target, signatures, arg_types, kwarg_types) -> list:
    """The first of the overloads whose parameters the types fit."""
    if arg_types is None and kwarg_types is None:
        text = "\n".join(str(s) for s in signatures)
        raise RuntimeError(
            "Tried to normalize arguments to torch._VariableFunctionsClass."
            f"{target.__name__} but the schema match was ambiguous! Please "
            "provide argument types to the normalize_arguments() call. "
            f"Available schemas:\n{text}"
        )
    for known in signatures:
        bound = known.bind(*(arg_types or ()), **(kwarg_types or {}))
        if all(
            type_matches(known.parameters[name].annotation, kind)
            for name, kind in bound.arguments.items()
        ):
            return [known]
    return []


@compatibility(is_backward_compatible=False)
def normalize_module(
    root, target: str, args, kwargs=None, normalize_to_only_use_kwargs=False
):
    """As normalize_function, for the `forward` of one of torch.nn's modules.

    RuntimeError if the root has no such module.
    """
    try:
        module = root.get_submodule(target)
    except AttributeError as error:
        raise RuntimeError(
            f"Tried to normalize node with target {target} but root did not "
            "have that target!"
        ) from error
    cls = type(module)
    if getattr(hotaru.nn, cls.__name__, None) is not cls:
        return None
    return _normal_form(
        inspect.signature(module.forward),
        args,
        kwargs or {},
        normalize_to_only_use_kwargs,
    )


_SIMPLE = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def _normal_form(signature, args, kwargs, only_kwargs: bool):
    """None for signatures whose parameters have no names, or more of them."""
    parameters = signature.parameters.values()
    names = [p.name for p in parameters]
    named = all(p.kind in _SIMPLE for p in parameters)
    if not named and names != ["input", "from_", "to", "generator"]:
        return None
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError:
        return None
    bound.apply_defaults()
    positional, named = [], {}
    for i, name in enumerate(signature.parameters):
        if not only_kwargs and i < len(args):
            positional.append(bound.arguments[name])
        else:
            named[name] = bound.arguments[name]
    return ArgsKwargsPair(tuple(positional), named)
