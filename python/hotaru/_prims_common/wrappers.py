"""Wrappers of operators that are written with others."""

from __future__ import annotations

import inspect

_MARK = "_torch_decompositions_out_wrapper"


def _maybe_remove_out_wrapper(fn):
    """Returns what a wrapper that takes `out=` holds; any other function
    itself.
    """
    return inspect.unwrap(fn, stop=lambda f: not hasattr(f, _MARK))
