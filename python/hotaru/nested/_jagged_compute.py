"""Products, normalisation and attention of tensors of the layout jagged."""

from __future__ import annotations

from .. import _C
from .._answering.table import answers
from .._C import Tensor
from ..nn import functional as F
from ._base import JAGGED, check_batches, is_nested, packed
from ._jagged import NestedTensor, joined, like, parts, wrap
from ._jagged_shape import transpose


@answers("linear", of=JAGGED)
def linear(x, weight, bias=None):
    """Each row times `weight`.T, plus `bias`. ValueError for tensors that are
    not contiguous.
    """
    if not x.is_contiguous():
        raise ValueError(
            "linear: expected input to be a contiguous jagged layout NestedTensor"
        )
    return like(x, F.linear(packed(x), weight, bias))


@answers("matmul", of=JAGGED)
def matmul(a, b):
    """Products of matrices of each element: with a matrix for all, one for
    each, or those of another nested tensor.
    """
    if is_nested(a) and is_nested(b):
        return _both(a, b)
    if is_nested(a):
        return _left(a, b)
    if b._ragged_idx != b.dim() - 1 or a.dim() not in (2, b.dim()):
        raise _unmatched(a, b)
    if a.dim() == 2:
        return like(b, a @ packed(b))
    return joined(b, [x @ y for x, y in zip(a.unbind(0), parts(b))])


def _unmatched(a, b) -> RuntimeError:
    shapes = [
        x.shape if i or not is_nested(x) else x._size for i, x in enumerate((a, b))
    ]
    return RuntimeError(
        f"matmul(): not supported between inputs of shapes {shapes[0]} and {shapes[1]}"
    )


def _left(a: NestedTensor, b: Tensor):
    last = a.dim() - 1
    if a._ragged_idx == last or b.dim() < 2:
        raise _unmatched(a, b)
    if b.dim() == 2:
        return like(a, packed(a) @ b)
    if b.dim() != a.dim() or b.shape[0] != a._size[0]:
        raise _unmatched(a, b)
    return joined(a, [x @ y for x, y in zip(parts(a), b.unbind(0))])


def _both(a: NestedTensor, b: NestedTensor):
    last = a.dim() - 1
    same = a._size[a._ragged_idx] == b._size[b._ragged_idx]
    if not same or a.dim() != b.dim():
        raise _unmatched(a, b)
    if a._ragged_idx == b._ragged_idx and a._ragged_idx < last - 1:
        return like(a, packed(a) @ packed(b))
    if a._ragged_idx == last and b._ragged_idx == last - 1 and last == 2:
        return _C.ops.stack([x @ y for x, y in zip(parts(a), parts(b))])
    raise _unmatched(a, b)


@answers("bmm", of=JAGGED)
def bmm(a, b):
    """`matmul` of tensors with three dimensions."""
    check_batches(a, b)
    return matmul(a, b)


@answers("layer_norm", of=JAGGED)
def layer_norm(x, normalized_shape, weight=None, bias=None, eps=1e-5, *_):
    """Over the last dimensions; with the nested int for the ragged one."""
    shape = tuple(normalized_shape)
    if x.dim() <= 2:
        raise RuntimeError(
            "layer_norm(): not supported for NestedTensor objects with 2 or "
            "fewer dimensions"
        )
    if len(shape) >= x.dim():
        raise RuntimeError(
            "layer_norm(): not supported when normalizing over the batch "
            "dimension for NestedTensor"
        )
    if x._size[x._ragged_idx] not in shape:
        return like(x, F.layer_norm(packed(x), shape, weight, bias, eps))
    if x._lengths is not None:
        raise RuntimeError(
            "layer_norm(): not supported where lengths is not None if "
            "operating on the ragged dimension for NestedTensor"
        )
    made = []
    for part in parts(x):
        whole = tuple(part.shape[part.dim() - len(shape) :])
        row = F.layer_norm(part, whole, None, None, eps)
        row = row if weight is None else row * weight
        made.append(row if bias is None else row + bias)
    return joined(x, made)


@answers("rms_norm", of=JAGGED)
def rms_norm(x, normalized_shape, weight=None, eps=None):
    """Over the last dimensions, behind the ragged one: ValueError for it."""
    if len(normalized_shape) > x.dim() - x._ragged_idx - 1:
        raise ValueError(
            "rms_norm(): Normalization over the ragged dim not supported for "
            "nested tensors"
        )
    return like(x, F.rms_norm(packed(x), normalized_shape, weight, eps))


@answers("embedding", of=JAGGED)
def embedding(x, weight, *args, **kwargs):
    """The rows of `weight` that the elements name. `x` and weight in either
    order, as the operator and the function have them.
    """
    index, table = (x, weight) if is_nested(x) else (weight, x)
    return like(index, F.embedding(packed(index), table, *args, **kwargs))


@answers("scaled_dot_product_attention", of=JAGGED)
def attention(
    query,
    key,
    value,
    attn_mask=None,
    dropout_p=0.0,
    is_causal=False,
    scale=None,
    enable_gqa=False,
):
    """softmax(Q Kᵀ · scale) V of (B, H, j, D), element by element.

    ValueError for other tensors beside nested ones, and for masks.
    """
    given = (query, key, value)
    if not all(isinstance(x, NestedTensor) for x in given):
        words = [bool(is_nested(x)) for x in given]
        raise ValueError(
            "Expected query, key, and value to be nested tensors, but got "
            f"query.is_nested: {words[0]}, key.is_nested: {words[1]}, and "
            f"value.is_nested: {words[2]} instead."
        )
    if attn_mask is not None:
        raise ValueError("Masks are not yet supported!")
    first = query._ragged_idx
    if query.dim() == 4 and all(x._ragged_idx == 1 == first for x in given):
        made = F.scaled_dot_product_attention(
            *map(packed, given),
            dropout_p=dropout_p,
            is_causal=is_causal,
            scale=scale,
            enable_gqa=enable_gqa,
        )
        return like(query, made)
    if any(x.dim() < 3 or x._ragged_idx != x.dim() - 2 for x in given):
        raise RuntimeError(
            "No viable backend for scaled_dot_product_attention was found."
        )
    made = [
        F.scaled_dot_product_attention(
            q,
            k,
            v,
            dropout_p=dropout_p,
            is_causal=is_causal,
            scale=scale,
            enable_gqa=enable_gqa,
        )
        for q, k, v in zip(*map(parts, given))
    ]
    if query.dim() < 4:
        return joined(query, made)
    rows = joined(query, [p.transpose(-3, -2) for p in made], 1)
    return transpose(rows, 1, 2) if query.dim() == 4 else rows


@answers("to_padded_tensor", of=JAGGED)
def to_padded_tensor(x, padding, output_size=None):
    """One tensor with `padding` behind elements that are smaller."""
    if x._lengths is not None:
        raise RuntimeError(
            "to_padded_tensor(): not supported for nested tensors with holes"
        )
    place = x._ragged_idx
    longest = x._maybe_max_seqlen
    if longest is None:  # unknown, and not asked for: the upper bound
        longest = x._values.shape[place - 1]
    if output_size is not None:
        longest = tuple(output_size)[place]
    rows = []
    for part in parts(x):
        row = part.narrow(place - 1, 0, min(longest, part.shape[place - 1]))
        widths = [0, 0] * (part.dim() - place) + [0, longest - row.shape[place - 1]]
        rows.append(_pad(row, widths, padding))
    return _C.ops.stack(rows)


def _pad(row: Tensor, widths: list[int], padding) -> Tensor:
    if row.dtype is _C.bool:
        padded = F.pad(row.byte(), widths, value=int(bool(padding)))
        return padded.bool()
    return F.pad(row, widths, value=padding)


@answers("masked_select", of=JAGGED)
def masked_select(x, mask):
    """Selects by a mask of the same sizes, element by element: (B, j)."""
    if x.dim() > 2:
        raise RuntimeError("masked_select only support 2-D selections currently")
    rows = [p.masked_select(m) for p, m in zip(parts(x), parts(mask))]
    from .create import jagged_from_list

    return jagged_from_list(rows, None)[0]


__all__ = ["attention", "layer_norm", "linear", "matmul", "wrap"]
