"""The functions that backends of `compile` are: (graph, its inputs) to a function."""

from __future__ import annotations

from ...compiler import list_backends
from ...graphs._compile import compile
from ..exc import InvalidBackend

__all__ = ["list_backends", "lookup_backend"]


def lookup_backend(compiler_fn):
    """The function of a backend's name; a function is one already.

    "eager" gives back the graph's own `forward`; the others compile the graph.

    InvalidBackend for a name that there is not.
    """
    if not isinstance(compiler_fn, str):
        return compiler_fn
    if compiler_fn not in list_backends(exclude_tags=()):
        raise InvalidBackend(name=compiler_fn)

    def backend(gm, example_inputs):
        if compiler_fn == "eager":
            return gm.forward
        return compile(gm, backend=compiler_fn)

    return backend
