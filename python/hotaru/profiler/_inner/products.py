"""Products of matrices."""

from __future__ import annotations

from .. import _geometry as g
from .._geometry import Given
from .body import CALLS, Body, broadcast


def _matmul(b: Body, x: Given, y: Given) -> None:
    if x.dim == 1 and y.dim == 1:
        return b.call("dot", x, y)
    if x.dim == 2 and y.dim == 1:
        return b.call("mv", x, y)
    if x.dim == 1 and y.dim == 2:
        row = b.view("unsqueeze", x, 0)
        b.call("mm", row, y)
        return b.call("squeeze_", x.like((1, y.shape[1])), 0, works=False)
    if x.dim == 2 and y.dim == 2:
        return b.call("mm", x, y)
    if (
        x.dim >= 3
        and y.dim <= 2
        and g.view_strides(x, (x.numel // max(x.shape[-1], 1), x.shape[-1]))
    ):
        return _folded(b, x, y)
    return _batched(b, x, y)


def _folded(b: Body, x: Given, y: Given) -> None:
    rows = b.reshape(x, x.numel // max(x.shape[-1], 1), x.shape[-1])
    b.call("mv" if y.dim == 1 else "mm", rows, y)
    made = x.like((rows.shape[0], *y.shape[1:]))
    b.as_view(made, *x.shape[:-1], *y.shape[1:], name="_unsafe_view")


def _batched(b: Body, x: Given, y: Given) -> None:
    if x.dim <= 2:
        b.view("mT", y)  # which side is folded is asked of it
    left = x if x.dim > 1 else g.unsqueeze(x, 0)
    right = y if y.dim > 1 else g.unsqueeze(y, 1)
    batch = broadcast(left.shape[:-2], right.shape[:-2])
    count = 1
    for size in batch:
        count *= size
    sides = []
    for given, side in ((x, left), (y, right)):
        wide = b.view("expand", given, [*batch, *side.shape[-2:]], False)
        sides.append(b.reshape(wide, count, *side.shape[-2:]))
    b.call("bmm", *sides)
    shape = (count, left.shape[-2], right.shape[-1])
    rows = left.shape[-2:-1] if x.dim > 1 else ()
    columns = right.shape[-1:] if y.dim > 1 else ()
    b.as_view(x.like(shape), *batch, *rows, *columns, name="_unsafe_view")


def _mv(b: Body, x: Given, vector: Given) -> None:
    b.call("addmv_", x.like(x.shape[:1]), x, vector, 0, 1)


def _addmm(b: Body, bias: Given, x: Given, y: Given, *_) -> None:
    shape = [x.shape[0], y.shape[1]]
    if list(bias.shape) != shape:
        b.view("expand", bias, shape, False)


def _linear(b: Body, x: Given, weight: Given, bias: Given | None) -> None:
    if bias is None:
        b.call("matmul", x, b.view("t", weight))
    elif x.dim == 2 or g.is_contiguous(x):
        rows = x
        if x.dim != 2:
            rows = b.as_view(x, x.numel // max(x.shape[-1], 1), x.shape[-1])
        b.call("addmm", bias, rows, b.view("t", weight), 1, 1)
        if x.dim != 2:
            made = x.like((rows.shape[0], weight.shape[0]))
            b.as_view(made, *x.shape[:-1], weight.shape[0])
    else:
        b.call("matmul", x, b.view("t", weight))
        b.call("add_", x.like((*x.shape[:-1], weight.shape[0])), bias, 1)


def _outer(b: Body, x: Given, y: Given) -> None:
    b.call("mul", b.reshape(x, x.shape[0], 1), y)


CALLS.update(
    {"addmm": _addmm, "linear": _linear, "matmul": _matmul, "mv": _mv, "outer": _outer}
)
