"""Views, and what splits, joins and copies."""

from __future__ import annotations

from .. import _geometry as g
from .._geometry import Given
from .body import CALLS, VIEWS, Body


def _t(x: Given) -> Given:
    return g.transpose(x, 0, 0 if x.dim < 2 else 1)


def _swapped(x: Given) -> Given:
    return g.transpose(x, -2, -1)


def _narrow(x: Given, dim: int, start: int, length: int) -> Given:
    return g.slice_of(x, dim, start, start + length)


# Results of views and their calls: an operator with the arguments that follow,
# or as_strided. The last says whether that is told the offset.
VIEWS.update(
    {
        "t": (_t, lambda x: ("transpose", 0, 0 if x.dim < 2 else 1)),
        "mT": (_swapped, lambda x: ("transpose", -2, -1)),
        "mH": (_swapped, lambda x: ("transpose", -2, -1)),
        "adjoint": (_swapped, lambda x: ("transpose", -2, -1)),
        "swapaxes": (g.transpose, lambda x, a, b: ("transpose", a, b)),
        "swapdims": (g.transpose, lambda x, a, b: ("transpose", a, b)),
        "narrow": (
            _narrow,
            lambda x, dim, start, length: ("slice", dim, start, start + length, 1),
        ),
        "expand_as": (
            lambda x, other: g.expand(x, other.shape),
            lambda x, other: ("expand", list(other.shape), False),
        ),
        "transpose": (g.transpose, False),
        "permute": (g.permute, False),
        "unsqueeze": (g.unsqueeze, False),
        "squeeze": (g.squeeze, False),
        "expand": (g.expand, False),
        "select": (g.select, True),
        "slice": (g.slice_of, True),
    }
)


def _calls_of_view(name: str):
    result, calls = VIEWS[name]

    def body(b: Body, x: Given, *inputs) -> None:
        if callable(calls):
            inside, *arguments = calls(x, *inputs)
            b.view(inside, x, *arguments)
            return
        made = result(x, *inputs)
        offset = made.offset if calls else None
        b.call(
            "as_strided", x, list(made.shape), list(made.stride), offset, works=False
        )

    return body


def _reshape(b: Body, x: Given, size: tuple) -> None:
    shape = g.known_size(x, size)
    steps = g.view_strides(x, shape)
    if steps is None:
        b.call("clone", x, 0)
        b.as_view(x, *size, name="_unsafe_view")
    elif g.is_contiguous(x):
        b.as_view(x, *size)
    else:
        b.call("_reshape_alias", x, shape, list(steps), works=False)


def _flatten(b: Body, x: Given, first: int, last: int) -> None:
    if x.dim == 0:
        b.reshape(x, 1)
        return
    first, last = first % x.dim, last % x.dim
    if first == last:
        return
    joined = 1
    for size in x.shape[first : last + 1]:
        joined *= size
    shape = [*x.shape[:first], joined, *x.shape[last + 1 :]]
    if g.view_strides(x, shape) is not None and g.is_contiguous(x):
        b.as_view(x, *shape)
    else:
        b.reshape(x, *shape)


def _split(b: Body, x: Given, size, dim: int) -> None:
    length = x.shape[dim]
    sizes = size
    if not isinstance(size, tuple):
        sizes = [min(size, length - i) for i in range(0, length, size)]
    start = 0
    for part in sizes:
        b.view("narrow", x, dim, start, part)
        start += part


def _chunk(b: Body, x: Given, chunks: int, dim: int) -> None:
    b.call("split", x, -(-x.shape[dim] // chunks), dim, works=False)


def _unbind(b: Body, x: Given, dim: int) -> None:
    for i in range(x.shape[dim]):
        b.view("select", x, dim, i)


def _stack(b: Body, tensors: tuple, dim: int) -> None:
    first = tensors[0]
    at = dim % (first.dim + 1)
    if at == first.dim:
        lifted = [b.view("unsqueeze", t, dim) for t in tensors]
        b.call("cat", lifted, dim)
        return
    shape = list(first.shape)
    shape[at] *= len(tensors)
    b.call("cat", tensors, at)
    result = [*first.shape[:at], len(tensors), *first.shape[at:]]
    b.as_view(first.like(shape), *result)


def _contiguous(b: Body, x: Given, memory_format) -> None:
    if not g.is_contiguous(x):
        b.call("clone", x, memory_format)


CALLS.update(
    {
        **{name: _calls_of_view(name) for name in VIEWS},
        "chunk": _chunk,
        "contiguous": _contiguous,
        "flatten": _flatten,
        "reshape": _reshape,
        "split": _split,
        "stack": _stack,
        "unbind": _unbind,
    }
)
