"""Facts that nodes made while others run take over from them."""

from __future__ import annotations

import contextlib
import traceback

from ._compatibility import compatibility

__all__ = [
    "format_stack",
    "get_current_meta",
    "has_preserved_node_meta",
    "preserve_node_meta",
    "set_current_meta",
    "set_stack_trace",
]

current_meta: dict = {}
_preserves = False


@compatibility(is_backward_compatible=False)
@contextlib.contextmanager
def preserve_node_meta(enable: bool = True):
    """Inside, new nodes take meta of the one that is current."""
    global _preserves, current_meta
    before, meta = _preserves, current_meta.copy()
    _preserves = enable
    try:
        yield
    finally:
        _preserves = before
        current_meta = meta


@compatibility(is_backward_compatible=False)
def has_preserved_node_meta() -> bool:
    return _preserves


@compatibility(is_backward_compatible=False)
def set_stack_trace(stack: list[str]) -> None:
    """The lines that new nodes have for their stack trace."""
    if _preserves and stack:
        current_meta["stack_trace"] = "".join(stack)


@compatibility(is_backward_compatible=False)
def format_stack() -> list[str]:
    """The stack of the current node, or of the caller."""
    if _preserves:
        return [current_meta.get("stack_trace", "")]
    return traceback.format_list(traceback.extract_stack()[:-1])


@compatibility(is_backward_compatible=False)
@contextlib.contextmanager
def set_current_meta(node, pass_name: str = ""):
    """Inside, `node` is the one whose meta new nodes take."""
    global current_meta
    if not (_preserves and node.meta):
        yield
        return
    before = current_meta
    current_meta = node.meta.copy()
    try:
        yield
    finally:
        current_meta = before


@compatibility(is_backward_compatible=False)
def get_current_meta() -> dict:
    return current_meta
