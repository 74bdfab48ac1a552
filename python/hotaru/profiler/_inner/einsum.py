"""einsum, as ATen does it."""

from __future__ import annotations

from .._geometry import Given
from .body import CALLS, Body, broadcast


def _einsum(b: Body, equation: str, tensors: tuple, path) -> None:
    """The result's labels come first, then those that are summed."""
    if path is not None:
        return
    left, arrow, right = equation.replace(" ", "").partition("->")
    terms = [_labels(term, t.dim) for term, t in zip(left.split(","), tensors)]
    if any(len(set(term)) != len(term) for term in terms):
        return
    every = [label for term in terms for label in term]
    dots = max((e for e in every if isinstance(e, int)), default=-1) + 1
    wide = list(range(dots - 1, -1, -1))
    once = sorted({e for e in every if isinstance(e, str)})
    if arrow:
        result = _labels(right, len(right.replace("...", "")) + dots)
    else:
        result = [*wide, *(e for e in once if every.count(e) == 1)]
    order = [*result, *(e for e in once if e not in result)]
    operands = []
    for term, tensor in zip(terms, tensors):
        given, labels = tensor, list(term)
        for label in order:
            if label not in term:
                given = b.view("unsqueeze", given, given.dim)
                labels.append(label)
        places = [labels.index(label) for label in order]
        operands.append(b.view("permute", given, places))
    if len(operands) == 1:
        if len(order) > len(result):
            dims = list(range(len(result), len(order)))
            b.call("sum", operands[0], dims, False, None)
        return
    made = operands[0]
    for i, other in enumerate(operands[1:], 1):
        summed = [
            d
            for d, label in enumerate(order)
            if label not in result
            and not any(label in term for term in terms[i + 1 :])
            and not (made.shape[d] == 1 and other.shape[d] == 1)
        ]
        made = _summed_product(b, made, other, summed)
    if len(order) > len(result):
        b.as_view(made, *made.shape[: len(result)])


def _labels(term: str, dim: int) -> list:
    """Letters, and numbers for what dots stand for, 0 the last of these."""
    before, dots, after = term.partition("...")
    if not dots:
        return list(term)
    hidden = dim - len(before) - len(after)
    return [*before, *range(hidden - 1, -1, -1), *after]


def _summed_product(b: Body, x: Given, y: Given, summed: list) -> Given:
    """The product as a `bmm`, with dimensions of one where it was summed."""
    if not summed:
        b.call("mul", x, y)
        return x.like(broadcast(x.shape, y.shape))
    both, left, right = [], [], []
    for d, sizes in enumerate(zip(x.shape, y.shape)):
        if d not in summed:
            kind = both if min(sizes) > 1 else left if sizes[0] > 1 else right
            kind.append(d)

    def total(given: Given, dims: list) -> int:
        count = 1
        for d in dims:
            count *= given.shape[d]
        return count

    batch, inside = total(x, both), total(x, summed)
    rows, columns = total(x, left), total(y, right)
    first = b.view("permute", x, [*both, *left, *summed, *right])
    first = b.reshape(first, batch, rows, inside)
    second = b.view("permute", y, [*both, *summed, *right, *left])
    second = b.reshape(second, batch, inside, columns)
    b.call("bmm", first, second)
    order = [*both, *left, *summed, *right]
    sizes = [
        *(x.shape[d] for d in (*both, *left)),
        *(1 for _ in summed),
        *(y.shape[d] for d in right),
    ]
    made = b.as_view(x.like((batch, rows, columns)), *sizes)
    back = sorted(range(len(order)), key=order.__getitem__)
    return b.view("permute", made, back)


CALLS["einsum"] = _einsum
