"""Marks that programs set for PyTorch's tracer.

Graphs are captured for the sizes of each call, so marks of sizes change no
result; they stand on the tensors as PyTorch writes them.
"""

from __future__ import annotations

from .. import Tensor
from .._symbolic.integers import _DimRange
from ..compiler import (
    allow_in_graph,
    assume_constant_result,
    disable,
    set_stance,
    substitute_in_graph,
)

__all__ = [
    "_DimRange",
    "allow_in_graph",
    "assume_constant_result",
    "disable",
    "disallow_in_graph",
    "forbid_in_graph",
    "graph_break",
    "mark_dynamic",
    "mark_static",
    "mark_static_address",
    "maybe_mark_dynamic",
    "set_stance",
    "substitute_in_graph",
]


def _add(t: Tensor, name: str, index) -> None:
    dims = index if isinstance(index, (list, tuple)) else (index,)
    t.__dict__.setdefault(name, set()).update(dims)
    t._has_dynamo_dim_marking = True


def mark_dynamic(
    t: Tensor,
    index,
    *,
    hint_override: int | None = None,
    min: int | None = None,
    max: int | None = None,
    specialize_on=None,
) -> None:
    """Dimensions whose size changes from call to call."""
    _add(t, "_dynamo_dynamic_indices", index)
    ranges = t.__dict__.setdefault("_dynamo_dynamic_range", set())
    hints = t.__dict__.setdefault("_dynamo_hint_overrides", {})
    special = t.__dict__.setdefault("_specialize_on", {})
    for dim in index if isinstance(index, (list, tuple)) else (index,):
        ranges.add(_DimRange(dim, min, max))
        special[dim] = specialize_on if specialize_on is not None else []
        if hint_override is not None:
            hints[dim] = hint_override


def maybe_mark_dynamic(t: Tensor, index) -> None:
    """Dimensions whose size may change."""
    _add(t, "_dynamo_weak_dynamic_indices", index)


def mark_static(t, index=None) -> None:
    """Dimensions, or all, whose size stays; of a class, that of its
    attributes.
    """
    if isinstance(t, type):
        t._dynamo_marked_static = True
        return
    _add(t, "_dynamo_static_indices", tuple(range(t.dim())) if index is None else index)


def mark_static_address(t: Tensor, guard: bool = False) -> None:
    """A tensor whose memory stays where it is."""
    if not isinstance(t, Tensor):
        raise TypeError(f"mark_static_address expects a tensor but received {type(t)}")
    t._dynamo_static_input_type = "guarded" if guard else "unguarded"


def disallow_in_graph(fn):
    """A function at which a tracer splits its graph. A capture goes through
    it, with the same results.
    """
    if not callable(fn):
        raise AssertionError("disallow_in_graph expects a callable")
    return fn


def forbid_in_graph(fn):
    """A function that must not be part of a graph: within a capture a call of
    it is an error.
    """
    import functools

    from .. import _C

    if not callable(fn):
        raise AssertionError("forbid_in_graph applies only to callables")

    @functools.wraps(fn)
    def checked(*args, **kwargs):
        if _C.is_current_stream_capturing():
            raise RuntimeError(
                f"{getattr(fn, '__name__', fn)} is forbidden in graphs "
                "(torch._dynamo.forbid_in_graph)"
            )
        return fn(*args, **kwargs)

    return checked


def graph_break(msg: str = "") -> None:
    """Where a tracer splits its graph; a capture needs no split."""
