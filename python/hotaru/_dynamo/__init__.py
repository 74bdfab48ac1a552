"""PyTorch's tracer by its own name: see `compiler` and `graphs`.

What marks tensors and functions for the tracer marks them; what asks for
traces raises, and says what to do instead.
"""

from __future__ import annotations

from ..compiler import (
    allow_in_graph,
    assume_constant_result,
    disable,
    is_compiling,
    list_backends,
    reset,
    set_stance,
    substitute_in_graph,
)
from ..graphs import _stance
from ..graphs._compile import OptimizedModule
from . import config, eval_frame
from .decorators import (
    disallow_in_graph,
    forbid_in_graph,
    graph_break,
    mark_dynamic,
    mark_static,
    mark_static_address,
    maybe_mark_dynamic,
)
from .eval_frame import explain, export, is_dynamo_supported, optimize, run

__all__ = [
    "OptimizedModule",
    "allow_in_graph",
    "assume_constant_result",
    "config",
    "disable",
    "disallow_in_graph",
    "explain",
    "export",
    "forbid_in_graph",
    "graph_break",
    "is_compiling",
    "is_dynamo_supported",
    "list_backends",
    "mark_dynamic",
    "mark_static",
    "mark_static_address",
    "maybe_mark_dynamic",
    "optimize",
    "reset",
    "reset_code_caches",
    "run",
    "set_stance",
    "substitute_in_graph",
]


def reset_code_caches() -> None:
    """Forgets the graphs of all functions; the stance stays."""
    _stance.forget_all()
