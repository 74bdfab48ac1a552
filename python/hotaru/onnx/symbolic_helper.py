"""Decorators of symbolic functions of other libraries."""

from __future__ import annotations

import functools

__all__ = ["parse_args"]

_KINDS = {"v", "i", "is", "f", "fs", "b", "s", "t", "none"}


def parse_args(*arg_descriptors: str):
    """Marks a symbolic function with the kinds of its arguments.

    An exporter reads values out of a graph by them; the function itself is
    called with what it is given.

    Raises:
        ValueError: no kind of this name.
    """
    unknown = set(arg_descriptors) - _KINDS
    if unknown:
        raise ValueError(f"parse_args: no kind {sorted(unknown)[0]!r}")

    def decorate(function):
        @functools.wraps(function)
        def called(g, *args, **kwargs):
            return function(g, *args, **kwargs)

        called._arg_descriptors = list(arg_descriptors)
        return called

    return decorate
