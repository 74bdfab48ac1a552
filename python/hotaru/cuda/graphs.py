"""Captured graphs by PyTorch's names, and who is told of what happens to them."""

from __future__ import annotations

from .._late import lent
from .._own_names import no_attribute

_NAMES = (
    "CUDAGraph",
    "export_dot",
    "graph",
    "graph_pool_handle",
    "is_current_stream_capturing",
    "make_graphed_callables",
    "register_graph_capture_end_hook",
    "register_graph_capture_start_hook",
    "register_graph_destroy_hook",
    "register_graph_instantiate_hook",
    "register_graph_replay_end_hook",
    "register_graph_replay_start_hook",
)
__all__ = [*_NAMES]


def __getattr__(name: str):
    if name in _NAMES:
        return getattr(lent("graphs"), name)
    raise no_attribute(__name__, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
