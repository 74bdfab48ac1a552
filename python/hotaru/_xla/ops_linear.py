"""Products of matrices, and attention."""

from __future__ import annotations

import math

from .. import bool as bool_
from .. import int64
from .kinds import broadcast_shape
from .ops_pointwise import add, mul
from .table import row
from .values import NotWritten, Val, refuse_dropout


@row("mm", "bmm", "mv", "dot", "matmul")
def matmul(w, self, other=None, mat2=None, vec=None, tensor=None):
    x = self
    y = next(v for v in (other, mat2, vec, tensor) if v is not None)
    x, y = w.promote(x, y)
    if x.rank == 0 or y.rank == 0:
        raise NotWritten("a product with a tensor of no dimension")
    if y.rank <= 2:
        return w.dot(x, y, over=([x.rank - 1], [max(y.rank - 2, 0)]))
    if x.rank == 1:
        out = matmul(w, w.reshape(x, (1, *x.shape)), y)
        return w.reshape(out, (*out.shape[:-2], out.shape[-1]))
    batch = broadcast_shape(x.shape[:-2], y.shape[:-2])
    x = w.expand(x, (*batch, *x.shape[-2:]))
    y = w.expand(y, (*batch, *y.shape[-2:]))
    n = len(batch)
    both = list(range(n))
    return w.dot(x, y, batch=(both, both), over=([n + 1], [n]))


@row("linear")
def linear(w, input, weight, bias=None):
    out = w.dot(input, weight, over=([input.rank - 1], [weight.rank - 1]))
    return out if bias is None else w.binary("add", out, bias)


def _fused(w, self, product, beta, alpha) -> Val:
    if alpha != 1:
        product = mul(w, product, alpha)
    if beta == 0:
        return product
    return add(w, product, self if beta == 1 else mul(w, self, beta))


@row("addmm")
def addmm(w, self, mat1, mat2, beta=1, alpha=1):
    return _fused(w, self, matmul(w, mat1, mat2), beta, alpha)


@row("baddbmm")
def baddbmm(w, self, batch1, batch2, beta=1, alpha=1):
    return _fused(w, self, matmul(w, batch1, batch2), beta, alpha)


@row("addmv")
def addmv(w, self, mat, vec, beta=1, alpha=1):
    return _fused(w, self, matmul(w, mat, vec), beta, alpha)


@row("outer", "ger")
def outer(w, self, vec2):
    x, y = w.promote(self, vec2)
    return w.dot(x, y)


def softmax_of(w, x: Val, dim: int) -> Val:
    top = w.reduce("maximum", x, [dim], keep=True)
    powers = w.unary("exponential", w.binary("subtract", x, top))
    total = w.reduce("add", powers, [dim], keep=True)
    return w.binary("divide", powers, total)


@row("scaled_dot_product_attention")
def attention(
    w,
    query,
    key,
    value,
    attn_mask=None,
    dropout_p=0.0,
    is_causal=False,
    scale=None,
    enable_gqa=False,
):
    refuse_dropout(dropout_p)
    batch = broadcast_shape(query.shape[:-2], value.shape[:-2])
    if enable_gqa and key.shape[-3] != query.shape[-3]:
        key = _repeated(w, key, query.shape[-3])
        value = _repeated(w, value, query.shape[-3])
        batch = query.shape[:-2]
    query, key, value = (
        w.expand(v, (*batch, *v.shape[-2:])) for v in (query, key, value)
    )
    n = len(batch)
    both = list(range(n))
    scale = scale if scale is not None else 1 / math.sqrt(query.shape[-1])
    query = w.binary("multiply", query, scale)
    scores = w.dot(query, key, batch=(both, both), over=([n + 1], [n + 1]))
    if is_causal:
        kept = causal(w, *scores.shape[-2:])
        scores = w.where(kept, scores, _never(w, scores))
    if attn_mask is not None and attn_mask.dtype == bool_:
        scores = w.where(attn_mask, scores, _never(w, scores))
    elif attn_mask is not None:
        scores = w.binary("add", scores, w.cast(attn_mask, scores.dtype))
    weights = softmax_of(w, scores, n + 1)
    if attn_mask is not None:
        # A row without any key is zero, as scores that are all -inf give.
        empty = w.compare("NE", weights, weights)
        weights = w.where(empty, w.full(0, (), weights.dtype), weights)
    return w.dot(weights, value, batch=(both, both), over=([n + 1], [n]))


def _never(w, scores: Val) -> Val:
    return w.full(-math.inf, (), scores.dtype)


def causal(w, rows: int, columns: int, diagonal: int = 0) -> Val:
    """True at and below a diagonal."""
    i = w.iota((rows, columns), 0, int64)
    j = w.iota((rows, columns), 1, int64)
    return w.compare("LE", j, w.binary("add", i, diagonal) if diagonal else i)


def _repeated(w, x: Val, heads: int) -> Val:
    *batch, mine, length, width = x.shape
    apart = (*batch, mine, heads // mine, length, width)
    n = len(batch)
    dims = [*range(n + 1), n + 2, n + 3]
    return w.reshape(w.spread(x, apart, dims), (*batch, heads, length, width))


@row("einsum")
def einsum(w, equation, tensors, path=None):
    """Writes the equation of one or two tensors, without repeated letters in
    one.
    """
    left, arrow, result = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    if "." in equation or not arrow or len(terms) > 2:
        raise NotWritten(f"the equation {equation!r}")
    if any(len(set(t)) != len(t) for t in terms):
        raise NotWritten(f"the equation {equation!r}")
    tensors = w.promote(*tensors)
    # Letters of one tensor alone are summed first.
    summed = []
    for i, (term, x) in enumerate(zip(terms, tensors)):
        others = result + "".join(terms[:i] + terms[i + 1 :])
        dims = [d for d, letter in enumerate(term) if letter not in others]
        summed.append(
            (
                "".join(c for c in term if c in others),
                w.reduce("add", x, dims) if dims else x,
            )
        )
    (a, x), *rest = summed
    if rest:
        ((b, y),) = rest
        both = [c for c in a if c in b and c in result]
        over = [c for c in a if c in b and c not in result]
        x = w.dot(
            x,
            y,
            ([a.index(c) for c in both], [b.index(c) for c in both]),
            ([a.index(c) for c in over], [b.index(c) for c in over]),
        )
        a = "".join(
            both
            + [c for c in a if c not in both + over]
            + [c for c in b if c not in both + over]
        )
    return w.transpose(x, [a.index(c) for c in result])
