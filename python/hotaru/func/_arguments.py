"""Checks of what transforms are given and of what functions return."""

from __future__ import annotations

from .. import Tensor
from .._trees import flat as _tree


def _position(argnum, count: int) -> int:
    if not isinstance(argnum, int):
        raise RuntimeError(f"argnum must be int, got: {type(argnum)}")
    if not -count <= argnum < count:
        raise RuntimeError(f"Got argnum={argnum}, but only {count} positional inputs")
    return argnum % count


def positions(argnums, count: int) -> tuple[int, ...]:
    """The places of the arguments to differentiate by.

    RuntimeError for anything but an int or a tuple of different ones in range.
    """
    if isinstance(argnums, int):
        return (_position(argnums, count),)
    if not isinstance(argnums, tuple):
        raise RuntimeError(
            f"argnums must be int or Tuple[int, ...], got: {type(argnums)}"
        )
    found = tuple(_position(argnum, count) for argnum in argnums)
    if not found:
        raise RuntimeError("argnums must be non-empty")
    if len(set(found)) != len(found):
        raise RuntimeError(f"argnums elements must be unique, got {found}")
    return found


def split_aux(result, has_aux: bool, api: str) -> tuple:
    """The function's output and what it returned beside it."""
    if not has_aux:
        return result, None
    if not (isinstance(result, tuple) and len(result) == 2):
        raise RuntimeError(
            f"{api}: output of function f should be a tuple: (output, aux) if "
            "has_aux is True"
        )
    return result


def check_outputs(leaves: list, api: str) -> None:
    """RuntimeError unless all are tensors, and there is one."""
    if not leaves or (len(leaves) == 1 and leaves[0] is None):
        raise RuntimeError(
            f"{api}: Expected f to be a function that has non-empty output "
            f"(got output = {leaves})"
        )
    for leaf in leaves:
        if not isinstance(leaf, Tensor):
            raise RuntimeError(
                f"{api}: expected f(*primals) to return only tensors, got "
                f"unsupported type {type(leaf)}"
            )


def check_listed(leaves: list, api: str, what: str) -> None:
    """RuntimeError unless the arguments named `what` are tensors."""
    if not leaves:
        raise RuntimeError(f"{api}: Expected {what} to contain at least one Tensor.")
    for leaf in leaves:
        if not isinstance(leaf, Tensor):
            raise RuntimeError(
                f"{api}: Expected {what} to only contain Tensors, got {type(leaf)}"
            )


def check_real(api: str, nest, what: str) -> None:
    """RuntimeError for a complex tensor: Jacobians are of real functions."""
    for place, leaf in enumerate(_tree.flatten(nest)[0]):
        if isinstance(leaf, Tensor) and leaf.is_complex():
            raise RuntimeError(
                f"{api}: Expected all {what} to be real but received complex "
                f"tensor at flattened input idx: {place}"
            )
