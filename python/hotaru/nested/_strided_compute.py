"""Products, sums and normalisation of nested tensors of the layout strided."""

from __future__ import annotations

from .. import _C
from .._answering.table import answers
from .._C import Tensor
from ..nn import functional as F
from . import _packed
from ._base import STRIDED, around, check_batches, is_nested, packed
from ._packed import StridedNested, join, parts, wrap


@answers("sum", of=STRIDED)
def sum(x, dim=None, keepdim=False, *, dtype=None):
    """Along the last dimension, which stays."""
    if dim is None:
        raise NotImplementedError(
            f"Could not run 'aten::sum' with arguments from the 'NestedTensor"
            f"{x.device.type.upper()}' backend. Sum along the last dimension."
        )
    dims = [dim] if isinstance(dim, int) else list(dim)
    if len(dims) != 1:
        raise RuntimeError(
            "NestedTensor only allows reduction of a single dimension for now."
        )
    place = wrap(x, dims[0])
    if place != x.dim() - 1 or place == 0:
        raise RuntimeError(
            "NestedTensor can only be reduced across the last dimension for "
            f"now got dimension {place} instead."
        )
    if not keepdim:
        raise RuntimeError("NestedTensor always requires keepdim=True for now.")
    if dtype is not None:
        raise RuntimeError("NestedTensor does not support dtype argument for now.")
    return join([part.sum(-1, keepdim=True) for part in parts(x)], x)


@answers("softmax", "_softmax", of=STRIDED)
def softmax(x, dim=None, _stacklevel=3, dtype=None):
    """Computes each element's softmax along a dimension but the first."""
    place = wrap(x, -1 if dim is None else dim)
    if not x._at.sizes:
        return around(x, packed(x))
    if place == 0:
        raise RuntimeError("Cannot apply softmax across nested dimension 0")
    made = [part.softmax(place - 1, dtype=dtype) for part in parts(x)]
    return join(made, x)


@answers("linear", of=STRIDED)
def linear(x, weight, bias=None):
    """Each row of the elements times `weight`.T, plus `bias`."""
    if not is_nested(x) or is_nested(weight):
        raise RuntimeError("linear: only the input may be a nested tensor")
    if x.dim() != 3 or weight.dim() != 2:
        raise RuntimeError(
            "Linear requires nested_tensor.dim == 3 and dense_matrix.dim == 2."
            f" Nested tensor dim: {x.dim()}. Dense tensor dim: {weight.dim()}"
        )
    if bias is not None and bias.dim() != 1:
        raise RuntimeError("Linear requires bias to be 1D")
    _contiguous(x, "linear")
    width = x.size(-1)
    if width != weight.shape[1]:
        raise RuntimeError(
            "Shape mismatch for NestedTensor Linear: Expected input's (a "
            f"nested tensor) 'last_dim' to equal 'weight.size(1), but got: "
            f"last_dim = {width}, and weight.size(1) = {weight.shape[1]}"
        )
    rows = F.linear(packed(x).reshape(-1, width), weight, bias)
    sizes = [(*size[:-1], weight.shape[0]) for size in x._at.sizes]
    return _packed.build(rows.reshape(-1), _packed.dense(sizes))


def _contiguous(x, name: str) -> None:
    if not x.is_contiguous():
        raise RuntimeError(f"for now {name} only supports contiguous nested tensor")


@answers("layer_norm", of=STRIDED)
def layer_norm(x, normalized_shape, weight=None, bias=None, eps=1e-5, *_):
    """Over the last dimensions, in which the elements have the same sizes."""
    if weight is None or bias is None:
        raise ValueError("NestedTensor layer_norm requires weight and bias")
    shape = tuple(normalized_shape)
    count, dims = len(shape), x.dim()
    irregular = RuntimeError(
        "normalized_shape extends into irregular dimensions for the nested tensor"
    )
    if count > dims or (count == dims and shape[0] != len(x._at.sizes)):
        raise irregular
    for i, length in enumerate(shape):
        if count == dims and i == 0:
            continue
        found = _packed.regular(x, dims - count + i)
        if found is None:
            raise irregular
        if found != length:
            raise RuntimeError(
                f"The shape at dimension {i}of normalized_shape doesn't match the input"
            )
    _contiguous(x, "layer_norm")
    rows = packed(x).reshape(-1, *shape)
    return around(x, F.layer_norm(rows, shape, weight, bias, eps).reshape(-1))


@answers("bmm", of=STRIDED)
def bmm(a, b):
    """Products of matrices, element by element."""
    check_batches(a, b)
    counts = [len(x._at.sizes) if is_nested(x) else len(x) for x in (a, b)]
    if counts[0] != counts[1]:
        raise RuntimeError(
            "Expected size for the 1st dimension of batch2 tensor to be: "
            f"{counts[0]} but got: {counts[1]}."
        )
    made = []
    for i, (left, right) in enumerate(zip(_rows(a), _rows(b))):
        if left.shape[-1] != right.shape[-2]:
            (m, k), (n, p) = left.shape, right.shape
            raise RuntimeError(
                f"{i}-th nested matrices in batch cannot be multiplied "
                f"({m}x{k} and {n}x{p})"
            )
        made.append(left @ right)
    return join(made, a)


def _rows(x: Tensor):
    return parts(x) if is_nested(x) else x.unbind(0)


def _not_both(a, b) -> RuntimeError:
    one, other = ("nested" if is_nested(x) else "non-nested" for x in (a, b))
    return RuntimeError(
        f"Expected both to be nested, but got a {one} self and {other} other"
    )


@answers("matmul", of=STRIDED)
def matmul(a, b):
    """Products of the elements' matrices; both nested, or as by `linear`."""
    if not (is_nested(a) and is_nested(b)):
        raise _not_both(a, b)
    for word, x in (("1st", a), ("2nd", b)):
        if x.dim() < 3:
            raise RuntimeError(
                "matmul: For nested tensors, only inputs with >= 3 dims are "
                f"currently supported. {word} input has rank: {x.dim()}"
            )
    if len(a._at.sizes) != len(b._at.sizes):
        raise RuntimeError(
            "matmul: Expected size for the 1st dimension of 2nd input tensor "
            f"to be: {len(a._at.sizes)} but got: {len(b._at.sizes)}."
        )
    for left, right in zip(a._at.sizes, b._at.sizes):
        if left[:-2] != right[:-2]:
            raise RuntimeError(
                "matmul(): For nested tensors, batch dimensions must have the "
                f"same sizes, got {list(left[:-2])} and {list(right[:-2])}"
            )
        if left[-1] != right[-2]:
            raise RuntimeError(
                "matmul(): Nested tensors cannot be matrix multiplied, last "
                f"dimension of self has sizes {left[-1]} and the one before "
                f"the last of other {right[-2]}"
            )
    return join([x @ y for x, y in zip(parts(a), parts(b))], a)


@answers("embedding", of=STRIDED)
def embedding(x, weight, *args, **kwargs):
    """The rows of `weight` that the elements name. `x` and weight in either
    order, as the operator and the function have them.
    """
    index, table = (x, weight) if is_nested(x) else (weight, x)
    if index.dim() >= 3:
        raise RuntimeError(
            "Expected indices.dim() < 3 to be true, but got false.  "
            "(Could this error message be improved?  "
            "If so, please report an enhancement request to PyTorch.)"
        )
    index_parts = parts(index)
    return join([F.embedding(p, table, *args, **kwargs) for p in index_parts])


@answers("scaled_dot_product_attention", of=STRIDED)
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
    """softmax(Q Kᵀ · scale) V, element by element."""
    if attn_mask is not None:
        raise RuntimeError(
            "Scaled_dot_product_attention: Nested tensors for query / key are "
            "not supported when an explicit attn_mask is set"
        )
    if is_causal:
        raise RuntimeError(
            "_scaled_dot_product_attention: Nested tensors for query / key "
            "are not supported when is_causal=True"
        )
    given = (query, key, value)
    if not all(isinstance(x, StridedNested) for x in given):
        raise _not_both(query, key if is_nested(key) != is_nested(query) else value)
    made = [
        F.scaled_dot_product_attention(
            q, k, v, dropout_p=dropout_p, scale=scale, enable_gqa=enable_gqa
        )
        for q, k, v in zip(*map(parts, given))
    ]
    return join(made, query)


@answers("to_padded_tensor", of=STRIDED)
def to_padded_tensor(x, padding, output_size=None):
    """One tensor with `padding` behind elements that are smaller."""
    sizes = x._at.sizes
    if not x.is_contiguous():
        raise RuntimeError(
            "for now to_padded_tensor only supports contiguous nested tensor"
        )
    if not sizes:
        return (
            packed(x).reshape(0)
            if output_size is None
            else packed(x).new_full(tuple(output_size), padding)
        )
    largest = (len(sizes), *(max(each) for each in zip(*sizes)))
    if output_size is not None:
        wanted = tuple(output_size)
        if len(wanted) != len(largest):
            raise RuntimeError(
                "Length of output_size does not match NestedTensor dims. "
                "Broadcasting is not supported."
            )
        if any(w < have for w, have in zip(wanted, largest)):
            raise RuntimeError(
                "Value in output_size is less than NestedTensor padded size. "
                "Truncation is not supported."
            )
        largest = wanted
    rows = [_padded(part, largest[1:], padding) for part in parts(x)]
    rows += [
        rows[0].new_full(largest[1:], padding) for _ in range(largest[0] - len(rows))
    ]
    return _C.ops.stack(rows)


def _padded(part: Tensor, size: tuple, padding) -> Tensor:
    widths = []
    for length, have in zip(reversed(size), reversed(part.shape)):
        widths += [0, length - have]
    return F.pad(part, widths, value=padding) if widths else part


@answers("_native_multi_head_attention", of=STRIDED)
def multi_head_attention(
    query,
    key,
    value,
    embed_dim,
    num_head,
    qkv_weight,
    qkv_bias,
    proj_weight,
    proj_bias,
    mask=None,
    need_weights=True,
    average_attn_weights=True,
    mask_type=None,
):
    """Multi-head attention of nested (N, L, D): (nested, weights or None), the
    weights padded to the longest. RuntimeError with a mask.
    """
    if mask is not None:
        raise RuntimeError("_native_multi_head_attention: nested tensors need no mask")
    lengths = _C.tensor([size[0] for size in key._at.sizes])
    places = _C.ops.arange(int(lengths.max()), device=query.device)
    hidden = places >= lengths.to(query.device).unsqueeze(1)
    query_, key_, value_ = _padded_alike(query, key, value)
    made, weights = _C.ops._native_multi_head_attention(
        query_,
        key_,
        value_,
        embed_dim,
        num_head,
        qkv_weight,
        qkv_bias,
        proj_weight,
        proj_bias,
        hidden if bool(hidden.any()) else None,
        need_weights,
        average_attn_weights,
        1 if bool(hidden.any()) else None,
    )
    rows = [row[: size[0]] for row, size in zip(made, query._at.sizes)]
    if weights is not None:  # zeros where there is no query
        asked = _C.tensor([size[0] for size in query._at.sizes])
        places = _C.ops.arange(weights.shape[-2], device=query.device)
        beyond = places >= asked.to(query.device).unsqueeze(1)
        beyond = beyond.unsqueeze(-1)
        beyond = beyond if average_attn_weights else beyond.unsqueeze(1)
        weights = weights.masked_fill(beyond, 0.0)
    return join(rows, query), weights


def _padded_alike(*given) -> list[Tensor]:
    """Padded with zeros; the same tensor stays one, as it is looked at."""
    made: dict[int, Tensor] = {}
    for x in given:
        if id(x) not in made:
            made[id(x)] = to_padded_tensor(x.contiguous(), 0.0)
    return [made[id(x)] for x in given]
