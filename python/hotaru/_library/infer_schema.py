"""Schemas from the annotations of Python functions."""

from __future__ import annotations

import collections.abc
import inspect
import types
import typing
from collections.abc import Callable, Sequence

from .. import Tensor, device, dtype

_NUMBER = typing.Union[int, float, bool]


def _param_types() -> dict:
    """The type in a schema of each annotation, as PyTorch lists them."""
    found = {}
    # (type, in schemas, None is allowed, lists are, lists with None are,
    # a list or None is)
    kinds = [
        (Tensor, "Tensor", True, True, True, False),
        (int, "SymInt", True, True, False, True),
        (float, "float", True, True, False, True),
        (bool, "bool", True, True, False, True),
        (str, "str", True, False, False, False),
        (_NUMBER, "Scalar", True, True, False, False),
        (dtype, "ScalarType", True, False, False, False),
        (device, "Device", True, False, False, False),
    ]
    for kind, name, optional, listed, optionals, maybe_list in kinds:
        found[kind] = name
        if optional:
            found[typing.Optional[kind]] = f"{name}?"
        for wrap in _LISTS:
            if listed:
                found[wrap[kind]] = f"{name}[]"
            if optionals:
                found[wrap[typing.Optional[kind]]] = f"{name}?[]"
            if maybe_list:
                found[typing.Optional[wrap[kind]]] = f"{name}[]?"
    return found


_LISTS = (typing.Sequence, typing.List, collections.abc.Sequence, list)
SUPPORTED_PARAM_TYPES = _param_types()
SUPPORTED_RETURN_TYPES = {
    Tensor: "Tensor",
    typing.List[Tensor]: "Tensor[]",
    list[Tensor]: "Tensor[]",
    int: "SymInt",
    float: "float",
    bool: "bool",
    _NUMBER: "Scalar",
}


def tuple_to_list(tuple_type: type) -> type:
    """The list that an annotation of a tuple should have been."""
    parts = typing.get_args(tuple_type)
    if tuple_type in (tuple, typing.Tuple) or not parts:
        return list
    if len(parts) == 2 and parts[1] is Ellipsis:
        return typing.List[parts[0]]
    return typing.List[typing.Union[tuple(parts)]]


class _Inference:
    """The schema of one function."""

    def __init__(self, function: Callable, mutates) -> None:
        self._signature = inspect.signature(function)
        self._globals = getattr(function, "__globals__", {})
        self._mutates = mutates

    def error(self, what: str):
        """ValueError about the function."""
        raise ValueError(
            f"infer_schema(func): {what} Got func with signature {self._signature})"
        )

    def _evaluated(self, annotation):
        if not isinstance(annotation, str):
            return annotation
        try:
            return eval(annotation, self._globals)
        except Exception as error:
            return self.error(
                f"Unsupported type annotation {annotation}. It is not a type. "
                f"({error}). If you are using 'from __future__ import "
                "annotations', note that annotations are evaluated lazily as "
                "strings; make sure all types referenced in annotations are "
                "importable at module scope, not only inside a local function."
            )

    def text(self) -> str:
        """The schema, without a name."""
        parts, starred, seen = [], False, set()
        for i, (name, p) in enumerate(self._signature.parameters.items()):
            if p.kind is p.KEYWORD_ONLY and not starred:
                parts.append("*")
                starred = True
            seen.add(name)
            parts.append(self._parameter(i, name, p))
        if self._mutates != "unknown":
            missing = set(self._mutates) - seen
            if missing:
                self.error(
                    f"{missing} in mutates_args were not found in the custom "
                    "op's signature. mutates_args should contain the names of "
                    "all args that the custom op mutates, or just the string "
                    '"unknown" if you don\'t know.'
                )
        return f"({', '.join(parts)}) -> {self._result()}"

    def _parameter(self, i: int, name: str, p: inspect.Parameter) -> str:
        if p.kind not in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY):
            self.error("We do not support positional-only args, varargs, or varkwargs.")
        if p.annotation is p.empty:
            self.error(f"Parameter {name} must have a type annotation.")
        annotation = _pep604(self._evaluated(p.annotation))
        if annotation not in SUPPORTED_PARAM_TYPES:
            self._unsupported(name, annotation)
        kind = SUPPORTED_PARAM_TYPES[annotation]
        if self._writes(name, kind):
            if not kind.startswith("Tensor"):
                self.error(
                    f"Parameter {name} is in mutable_args but only Tensors or "
                    "collections of Tensors can be mutated"
                )
            kind = f"Tensor(a{i}!){kind[len('Tensor') :]}"
        if p.default is p.empty:
            return f"{kind} {name}"
        return f"{kind} {name}={self._default(name, p.default)}"

    def _writes(self, name: str, kind: str) -> bool:
        if self._mutates == "unknown":
            return kind.startswith("Tensor")
        if isinstance(self._mutates, str):
            raise ValueError(
                "mutates_args must either be a sequence of the names of the "
                "arguments that are mutated or the string 'unknown'. "
            )
        return name in self._mutates

    def _unsupported(self, name: str, annotation) -> None:
        if typing.get_origin(annotation) is tuple or annotation is tuple:
            wanted = tuple_to_list(annotation)
            if wanted in SUPPORTED_PARAM_TYPES or wanted is list:
                self.error(
                    f"Parameter {name} has unsupported type {annotation}. "
                    "Tuple type annotation is not supported. Please try to "
                    f"use a List instead. For example, {wanted}."
                )
        self.error(
            f"Parameter {name} has unsupported type {annotation}. The valid "
            f"types are: {list(SUPPORTED_PARAM_TYPES)}."
        )

    def _default(self, name: str, value) -> str:
        if value is None or isinstance(value, (int, float, bool)):
            return str(value)
        if isinstance(value, (str, device)):
            return f'"{value}"'
        if isinstance(value, dtype):
            return str(value).removeprefix("torch.")
        return self.error(
            f"Parameter {name} has an unsupported default value type "
            f"{type(value)}. Please file an issue on GitHub so we can "
            "prioritize this."
        )

    def _result(self) -> str:
        annotation = self._signature.return_annotation
        if annotation is inspect.Signature.empty:
            self.error("No return type annotation was provided. Please add one.")
        annotation = _pep604(self._evaluated(annotation))
        if annotation is None:
            return "()"
        if annotation in SUPPORTED_RETURN_TYPES:
            return SUPPORTED_RETURN_TYPES[annotation]
        if typing.get_origin(annotation) is not tuple:
            self.error(
                f"Return has unsupported type {annotation}. The valid types "
                f"are: {SUPPORTED_RETURN_TYPES}."
            )
        parts = [_pep604(part) for part in typing.get_args(annotation)]
        for part in parts:
            if part not in SUPPORTED_RETURN_TYPES:
                self.error(
                    f"Return has unsupported type {annotation}. The valid "
                    f"types are: {SUPPORTED_RETURN_TYPES}."
                )
        return f"({', '.join(SUPPORTED_RETURN_TYPES[p] for p in parts)})"


def _pep604(annotation):
    """`int | None` as typing has it, inside of lists too."""
    if isinstance(annotation, types.UnionType):
        return typing.Union[tuple(map(_pep604, annotation.__args__))]
    return annotation


def infer_schema(
    prototype_function: Callable,
    /,
    *,
    mutates_args: str | Sequence[str],
    op_name: str | None = None,
) -> str:
    """The schema that a function's annotations say.

    Args:
        prototype_function: with an annotation for each parameter and the
            result: tensors, numbers, bool, str, dtype, device, lists of
            tensors and numbers, Optional.
        mutates_args: the parameters that it writes to, or "unknown".
        op_name: a name to put in front.

    Returns:
        For example "(Tensor x, SymInt y=1) -> Tensor".

    Raises:
        ValueError: what a schema cannot say.
    """
    text = _Inference(prototype_function, mutates_args).text()
    return text if op_name is None else f"{op_name}{text}"
