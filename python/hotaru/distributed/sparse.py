"""Sums of sparse tensors: everybody gets everybody's entries."""

from __future__ import annotations

from .. import cat, empty, empty_like, int64, no_grad, sparse_coo_tensor, tensor
from .._C import _CollectiveKind as Kind


@no_grad()
def all_reduce(group, tensors: list) -> None:
    """Each tensor becomes the sum of all of every process."""
    total = tensors[0].coalesce()
    for other in tensors[1:]:
        total = (total + other).coalesce()
    indices, values = total.indices(), total.values()
    count = indices.size(1)
    counts = [empty(1, dtype=int64) for _ in range(group.size())]
    group._issue(Kind.ALL_GATHER, [tensor([count])], counts)
    most = max(int(c) for c in counts)
    all_indices = _gathered(group, indices.t(), most)
    all_values = _gathered(group, values, most)
    parts = [
        (i[: int(c)].t(), v[: int(c)])
        for i, v, c in zip(all_indices, all_values, counts, strict=True)
    ]
    whole = sparse_coo_tensor(
        cat([i for i, _ in parts], 1), cat([v for _, v in parts]), total.shape
    ).coalesce()
    for t in tensors:
        t.copy_(whole)


def _gathered(group, rows, most: int) -> list:
    padded = rows.new_zeros((most, *rows.shape[1:]))
    padded[: rows.size(0)] = rows
    out = [empty_like(padded) for _ in range(group.size())]
    group._issue(Kind.ALL_GATHER, [padded], out)
    return out
