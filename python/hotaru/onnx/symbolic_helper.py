"""Decorators of symbolic functions of other libraries, and what they ask."""

from __future__ import annotations

import functools

from ._graph import Value

__all__ = ["parse_args"]

_KINDS = {"v", "i", "is", "f", "fs", "b", "s", "t", "none"}


def parse_args(*arg_descriptors: str):
    """Has a symbolic function called with numbers where it wants them.

    Args:
        arg_descriptors: kinds of its arguments: "v" for a value of the graph
            or what stands for one, "i", "f", "b", "s" and "t" for a constant
            as an int, float, bool, text or tensor, "is" and "fs" for lists,
            "none" for what it makes no use of.

    Raises:
        ValueError: no kind of this name.
        RuntimeError: from a call: an argument that no constant is.
    """
    unknown = set(arg_descriptors) - _KINDS
    if unknown:
        raise ValueError(f"parse_args: no kind {sorted(unknown)[0]!r}")

    def decorate(function):
        @functools.wraps(function)
        def called(g, *args, **kwargs):
            if len(args) > len(arg_descriptors):
                raise AssertionError(
                    f"A mismatch between the number of arguments ({len(args)}) and "
                    f"their descriptors ({len(arg_descriptors)}) was found at "
                    f"symbolic function '{function.__name__}'."
                )
            parsed = tuple(
                _parse_arg(arg, kind, function.__name__)
                for arg, kind in zip(args, arg_descriptors)
            )
            return function(g, *parsed, **kwargs)

        called._arg_descriptors = list(arg_descriptors)
        return called

    return decorate


def _is_value(x) -> bool:
    """True for a value of the graph."""
    return isinstance(x, Value)


def _is_none(x) -> bool:
    return x is None


def _is_constant(x) -> bool:
    return not _is_value(x) or x.node().kind() == "onnx::Constant"


def _unpack_list(x) -> list:
    """The values of a list."""
    return list(x)


def _parse_arg(value, kind: str, arg_name: str = "", node_name: str = ""):
    """The constant that an argument is, as this kind has it."""
    if kind in ("v", "none") or value is None:
        return value
    if _is_value(value):
        if not _is_constant(value):
            raise RuntimeError(
                f"{arg_name or 'a symbolic function'} wants a constant ('{kind}'), "
                f"and the value {value.name} is known at run time only"
            )
        value = value.node().t("value")
        if kind != "t":
            value = value.tolist()
    single = {"i": int, "f": float, "b": bool, "s": str}
    if kind in single:
        return single[kind](value)
    if kind == "t":
        return value
    return [
        single[kind[0]](_parse_arg(item, kind[0], arg_name))
        for item in (value if isinstance(value, (list, tuple)) else [value])
    ]


def _get_const(value, desc: str, arg_name: str):
    """The constant. RuntimeError where the value is none."""
    return _parse_arg(value, desc, arg_name)


def _maybe_get_const(value, desc: str):
    """The constant, or the value where it is none."""
    return _parse_arg(value, desc) if _is_constant(value) else value


def _get_tensor_sizes(x, allow_nonstatic: bool = True) -> list | None:
    """Sizes of a value, None for one that varies; None if nothing is known."""
    sizes = x.type().sizes()
    if sizes is not None and not allow_nonstatic and None in sizes:
        return None
    return sizes


def _get_tensor_rank(x) -> int | None:
    return x.type().dim()


def _get_tensor_dim_size(x, dim: int) -> int | None:
    sizes = _get_tensor_sizes(x)
    return None if sizes is None else sizes[dim]
