"""Rows and elements by index."""

from __future__ import annotations

from .. import bool as bool_
from .. import int64, uint8
from .kinds import broadcast_shape
from .table import row
from .values import NotWritten, Val


def _positive(w, index: Val, size: int) -> Val:
    """Indices counted from the front, as int64."""
    index = w.cast(index, int64)
    return w.where(w.compare("LT", index, 0), w.binary("add", index, size), index)


def take(w, x: Val, dim: int, index: Val) -> Val:
    """Rows of one dimension; the index's dimensions stand in its place."""
    index = w.reshape(_positive(w, index, x.shape[dim]), (*index.shape, 1))
    n = index.rank - 1
    offsets = [*range(dim), *range(dim + n, x.rank - 1 + n)]
    return w.gather(x, index, [dim], offsets)


@row("embedding")
def embedding(
    w, weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False
):
    return take(w, weight, 0, indices)


@row("index_select")
def index_select(w, self, dim, index):
    index = w.reshape(index, (1,)) if not index.shape else index
    return take(w, self, self.axis(dim), index)


@row("gather")
def gather(w, self, dim, index, sparse_grad=False):
    dim = self.axis(dim)
    shape = (*index.shape, 1)
    parts = [
        w.reshape(_positive(w, index, self.shape[d]), shape)
        if d == dim
        else w.reshape(w.iota(index.shape, d, int64), shape)
        for d in range(self.rank)
    ]
    where = w.concatenate(parts, len(shape) - 1)
    return w.gather(self, where, list(range(self.rank)), [])


@row("index")
def index(w, self, indices):
    dims = [i for i, v in enumerate(indices) if v is not None]
    for i in dims:
        if indices[i].dtype in (bool_, uint8):
            raise NotWritten("by a mask its result has any size")
    if not dims:
        return self
    shape = broadcast_shape(*(indices[i].shape for i in dims))
    parts = []
    for i in dims:
        one = w.expand(_positive(w, indices[i], self.shape[i]), shape)
        parts.append(w.reshape(one, (*shape, 1)))
    where = w.concatenate(parts, len(shape))
    # Next to each other they keep their place, else they come first.
    together = dims == list(range(dims[0], dims[-1] + 1))
    first = dims[0] if together else 0
    others = self.rank - len(dims)
    n = len(shape)
    offsets = [*range(first), *range(first + n, others + n)]
    return w.gather(self, where, dims, offsets)


@row("one_hot")
def one_hot(w, self, num_classes=-1):
    if num_classes < 0:
        raise NotWritten("the number of classes is a tensor's value")
    shape = (*self.shape, num_classes)
    mine = w.spread(w.cast(self, int64), shape, range(self.rank))
    here = w.compare("EQ", mine, w.iota(shape, self.rank, int64))
    return w.cast(here, int64)


def lower(w, x: Val, diagonal: int, upper: bool) -> Val:
    rows = w.iota(x.shape, x.rank - 2, int64)
    columns = w.iota(x.shape, x.rank - 1, int64)
    edge = w.binary("add", rows, diagonal)
    kept = w.compare("GE" if upper else "LE", columns, edge)
    return w.where(kept, x, w.full(0, (), x.dtype))


@row("tril")
def tril(w, self, diagonal=0):
    return lower(w, self, diagonal, False)


@row("triu")
def triu(w, self, diagonal=0):
    return lower(w, self, diagonal, True)
