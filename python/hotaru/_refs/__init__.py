"""Shapes of results, as PyTorch's reference implementations ask for them."""

from __future__ import annotations

from ..functional import broadcast_shapes


def _broadcast_shapes(*shapes):
    """Returns the shape that shapes broadcast to; a number is a shape, None is
    left out.

    None without shapes, RuntimeError where they do not fit.
    """
    given = [
        (shape,) if isinstance(shape, int) else tuple(shape)
        for shape in shapes
        if shape is not None
    ]
    return list(broadcast_shapes(*given)) if given else None
