"""Types of values in a graph."""

from __future__ import annotations

from ._compatibility import compatibility
from .proxy import Proxy


@compatibility(is_backward_compatible=False)
def annotate(val, type):
    """Gives a proxy's node a type; other values stay as they are.

    RuntimeError for a node that has one.
    """
    if not isinstance(val, Proxy):
        return val
    if val.node.type:
        raise RuntimeError(
            "Tried to annotate a value that already had a type on it! "
            f"Existing type is {val.node.type} and new type is {type}. "
            "This could happen if you tried to annotate a function parameter "
            "value (in which case you should use the type slot on the function "
            "signature) or you called annotate on the same value twice"
        )
    val.node.type = type
    return val
