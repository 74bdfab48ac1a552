"""Sums of products by labels, of products of matrices."""

from __future__ import annotations

from math import prod

from .shapes import reshape
from .table import o, part


def _label(character: str) -> int:
    return ord(character) - (65 if character.isupper() else 71)


def _subscripts(text: str) -> list[int | None]:
    """Labels as numbers, None for the dots."""
    found: list[int | None] = []
    rest = text.replace(" ", "")
    while rest:
        if rest.startswith("..."):
            found.append(None)
            rest = rest[3:]
        else:
            found.append(_label(rest[0]))
            rest = rest[1:]
    return found


@part("einsum")
def einsum(equation, tensors, *, path=None):
    """The sum that an equation of labels says."""
    left, arrow, right = equation.partition("->")
    given = [_subscripts(text) for text in left.split(",")]
    dots = 0
    for labels, x in zip(given, tensors):
        if None in labels:
            dots = max(dots, x.dim() - len(labels) + 1)
    counts: dict[int, int] = {}
    for labels in given:
        for label in labels:
            if label is not None:
                counts[label] = counts.get(label, 0) + 1
    if arrow:
        wanted = _subscripts(right)
    else:
        once = sorted(k for k, n in counts.items() if n == 1)
        wanted = [None, *once] if dots else once
    places: dict[int, int] = {}
    at, first = 0, 0
    for label in wanted:
        if label is None:
            first, at = at, at + dots
        else:
            places[label] = at
            at += 1
    kept = at
    if None not in wanted:
        first, at = at, at + dots
    for label in sorted(counts):
        if label not in places:
            places[label] = at
            at += 1
    operands = [
        _aligned(x, labels, places, first, dots, at)
        for x, labels in zip(tensors, given)
    ]
    return _contracted(operands, kept, at, path)


def _aligned(x, labels, places, first: int, dots: int, count: int):
    """The operand with a dimension for each label."""
    order = [-1] * count
    dim = 0
    for label in labels:
        if label is None:
            mine = x.dim() - (len(labels) - 1)
            for i in range(dots - mine, dots):
                order[first + i] = dim
                dim += 1
        elif order[places[label]] == -1:
            order[places[label]] = dim
            dim += 1
        else:
            other = order[places[label]]
            x = o.diagonal(x, 0, other, dim)
            last = x.dim() - 1
            rest = list(range(last))
            rest.insert(other, last)
            x = o.permute(x, rest)
    for i, place in enumerate(order):
        if place == -1:
            x = o.unsqueeze(x, dim)
            order[i] = dim
            dim += 1
    return o.permute(x, order)


def _contracted(operands: list, kept: int, count: int, path):
    several = len(operands) > 1
    uses = [0] * count
    for x in operands:
        for d in range(count):
            uses[d] += x.shape[d] != 1
    steps = list(path) if path is not None else None
    while len(operands) > 1:
        i, j = (0, 1) if steps is None else sorted(steps[:2])
        steps = None if steps is None else steps[2:]
        b, a = operands.pop(j), operands.pop(i)
        pair: list[int] = []
        alone: tuple[list, list] = [], []
        for d in range(kept, count):
            wide = a.shape[d] != 1, b.shape[d] != 1
            if all(wide):
                uses[d] -= 1
                if uses[d] == 1:
                    pair.append(d)
                    uses[d] = 0
            elif uses[d] == 1 and any(wide):
                alone[wide[1]].append(d)
                uses[d] = 0
        if alone[0]:
            a = o("sum.dim_IntList", a, alone[0], True)
        if alone[1]:
            b = o("sum.dim_IntList", b, alone[1], True)
        made = _pair(a, b, pair)
        if path is None:
            operands.insert(0, made)
        else:
            operands.append(made)
    (x,) = operands
    if count == kept:
        return x
    if several:
        return o.view(x, list(x.shape[:kept]))
    return o("sum.dim_IntList", x, list(range(kept, count)))


def _pair(a, b, dims: list[int]):
    """The sum of products over dimensions, which stay with size 1."""
    if not dims:
        return o("mul.Tensor", a, b)
    both, mine, other = [], [], []
    for d in range(a.dim()):
        wide = a.shape[d] != 1, b.shape[d] != 1
        if d in dims:
            if wide == (True, False):
                a = o("sum.dim_IntList", a, [d], True)
            elif wide == (False, True):
                b = o("sum.dim_IntList", b, [d], True)
        elif all(wide):
            both.append(d)
        elif wide[0]:
            mine.append(d)
        else:
            other.append(d)
    n = prod(a.shape[d] for d in both)
    rows = prod(a.shape[d] for d in mine)
    columns = prod(b.shape[d] for d in other)
    inner = prod(a.shape[d] for d in dims if a.shape[d] == b.shape[d])
    shape = [a.shape[d] for d in both + mine] + [1] * len(dims)
    shape += [b.shape[d] for d in other]
    back = both + mine + dims + other
    a = reshape(o.permute(a, both + mine + dims + other), [n, rows, inner])
    b = reshape(o.permute(b, both + dims + other + mine), [n, inner, columns])
    made = o.view(o.bmm(a, b), shape)
    return o.permute(made, [back.index(d) for d in range(len(back))])
