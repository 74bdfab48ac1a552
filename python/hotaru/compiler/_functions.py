"""Decorators and marks for a tracer of functions, which here is none."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable


def disable(fn=None, recursive: bool = True, *, reason: str | None = None):
    """A function, or a decorator of one, that no compiler traces: itself."""
    return (lambda function: function) if fn is None else fn


def allow_in_graph(fn):
    """A function, or several, that graphs may hold: all may, as a capture
    records what functions do.
    """
    if isinstance(fn, (list, tuple)):
        return [allow_in_graph(function) for function in fn]
    if not callable(fn):
        raise AssertionError("allow_in_graph expects a callable")
    return fn


def assume_constant_result(fn):
    """A function whose result never changes: what a function gives that is no
    tensor is a constant of the graph anyway.
    """
    if not callable(fn):
        raise AssertionError("assume_constant_result expects a callable")
    return fn


def nested_compile_region(
    fn=None, *, options=None, max_reuse_entries=8, reuse_hash_fn=None
):
    """Marks a function that is called often, so that it is compiled once.
    Capturing one costs a call of it, so calls of it are captured one by one.
    """
    if fn is None:
        return nested_compile_region
    if not callable(fn):
        raise AssertionError("nested_compile_region expects a callable")
    return fn


def substitute_in_graph(
    original_fn: Callable,
    *,
    can_constant_fold_through: bool = False,
    skip_signature_check: bool = False,
):
    """A decorator of what a tracer shall read in place of a function, as one
    in C. A capture runs the function itself, so that is called further on.

    TypeError where the two do not take the same arguments.
    """
    if not callable(original_fn):
        raise TypeError(
            f"substitute_in_graph expects a function but got {type(original_fn)!r}"
        )

    def decorator(traceable_fn):
        if not callable(traceable_fn):
            raise TypeError(
                "@substitute_in_graph(...) expects a function but got "
                f"{type(traceable_fn)!r}"
            )
        if not skip_signature_check:
            _check_signatures(original_fn, traceable_fn)

        @functools.wraps(traceable_fn)
        def wrapper(*args, **kwargs):
            return original_fn(*args, **kwargs)

        return wrapper

    return decorator


def _check_signatures(original_fn, traceable_fn) -> None:
    try:
        first = inspect.signature(original_fn)
    except (TypeError, ValueError):  # one in C that does not say
        return
    second = inspect.signature(traceable_fn)
    kinds = [
        [(p.name, p.kind, p.default is p.empty) for p in s.parameters.values()]
        for s in (first, second)
    ]
    if kinds[0] != kinds[1]:
        raise TypeError(
            f"Signature mismatch between {original_fn} and {traceable_fn}: "
            f"{first} != {second}"
        )


def wrap_numpy(fn):
    """A function of arrays as one of tensors: arguments that are tensors come
    as arrays, and arrays of the result go as tensors.
    """
    import numpy

    from .. import Tensor, as_tensor
    from ..utils._pytree import tree_map_only

    @functools.wraps(fn)
    def wrapped(*args, **kwargs):
        given = tree_map_only(Tensor, lambda t: t.numpy(), (args, kwargs))
        result = fn(*given[0], **given[1])
        kinds = (numpy.ndarray, numpy.generic)
        return tree_map_only(kinds, as_tensor, result)

    return wrapped
