"""Operators that PyTorch's formulas are made of, of hotaru's operators."""

from __future__ import annotations

from .. import _C, ops
from .._function_schema import parse_schema
from . import keys, table

_FLASH = (
    "aten::_flash_attention_forward(Tensor query, Tensor key, Tensor value, "
    "Tensor? cum_seq_q, Tensor? cum_seq_k, SymInt max_q, SymInt max_k, "
    "float dropout_p, bool is_causal, bool return_debug_mask, *, "
    "float? scale=None, SymInt? window_size_left=None, "
    "SymInt? window_size_right=None, Tensor? seqused_k=None, "
    "Tensor? alibi_slopes=None) -> (Tensor, Tensor, Tensor, Tensor, Tensor)"
)
_EFFICIENT = (
    "aten::_efficient_attention_forward(Tensor query, Tensor key, "
    "Tensor value, Tensor? bias, Tensor? cu_seqlens_q, Tensor? cu_seqlens_k, "
    "SymInt? max_seqlen_q, SymInt? max_seqlen_k, float dropout_p, "
    "int custom_mask_type, bool compute_log_sumexp=False, *, "
    "float? scale=None, Tensor? seqlen_k=None, int? window_size=None) -> "
    "(Tensor, Tensor, Tensor, Tensor, SymInt, SymInt)"
)


def flash_attention_forward(
    query,
    key,
    value,
    cum_seq_q,
    cum_seq_k,
    max_q,
    max_k,
    dropout_p,
    is_causal,
    return_debug_mask,
    scale=None,
    window_size_left=None,
    window_size_right=None,
    seqused_k=None,
    alibi_slopes=None,
):
    """Attention of (batch, length, heads, size), and the logarithms of the
    sums of its weights, (batch, heads, length); three tensors without
    elements, as nothing is drawn.

    NotImplementedError for sequences one behind the other, dropout, windows
    and slopes.
    """
    left = (
        cum_seq_q,
        cum_seq_k,
        window_size_left,
        window_size_right,
        seqused_k,
        alibi_slopes,
    )
    _refuse("_flash_attention_forward", left, dropout_p or return_debug_mask)
    result, sums = _attention(query, key, value, None, is_causal, scale)
    none = query.new_empty((0,), dtype=_C.int64)
    return result, sums, none, none.clone(), query.new_empty((0,))


def efficient_attention_forward(
    query,
    key,
    value,
    bias,
    cu_seqlens_q,
    cu_seqlens_k,
    max_seqlen_q,
    max_seqlen_k,
    dropout_p,
    custom_mask_type,
    compute_log_sumexp=False,
    scale=None,
    seqlen_k=None,
    window_size=None,
):
    """The same, with a bias, and a causal mask of type 1 (from the first
    element) or 2 (to the last).

    NotImplementedError for what is refused there.
    """
    left = (cu_seqlens_q, cu_seqlens_k, seqlen_k, window_size)
    _refuse("_efficient_attention_forward", left, dropout_p)
    lengths = query.shape[1], key.shape[1]
    if custom_mask_type == 2 and lengths[0] != lengths[1]:
        allowed = ops.ones(lengths, dtype=_C.bool, device=query.device)
        allowed = ops.tril(allowed, lengths[1] - lengths[0])
        hidden = ops.zeros(lengths, dtype=query.dtype, device=query.device)
        hidden = hidden.masked_fill(~allowed, float("-inf"))
        bias = hidden if bias is None else bias + hidden
        custom_mask_type = 0
    result, sums = _attention(query, key, value, bias, custom_mask_type != 0, scale)
    if not compute_log_sumexp:
        sums = query.new_empty((query.shape[0], query.shape[2], 0))
    none = query.new_empty((), dtype=_C.int64)
    return result, sums, none, none.clone(), *lengths


def _refuse(name: str, absent: tuple, drawn) -> None:
    if drawn or any(x is not None for x in absent):
        raise NotImplementedError(
            f"{name}: hotaru's takes one sequence a row, without dropout, "
            "windows or slopes; use scaled_dot_product_attention for dropout "
            "and masks"
        )


def _attention(query, key, value, bias, is_causal: bool, scale):
    q, k, v = (ops.transpose(x, 1, 2) for x in (query, key, value))
    factor = q.shape[-1] ** -0.5 if scale is None else scale
    scores = ops.matmul(q, ops.transpose(k, -2, -1)) * factor
    if bias is not None:
        scores = scores + bias
    if is_causal:
        allowed = ops.ones(scores.shape[-2:], dtype=_C.bool, device=scores.device)
        scores = scores.masked_fill(~ops.tril(allowed), float("-inf"))
    result = ops.matmul(ops.softmax(scores, -1), v)
    sums = ops.logsumexp(scores.float(), -1)
    return ops.transpose(result, 1, 2), sums


def install() -> None:
    """Defines them."""
    for text, function in (
        (_FLASH, flash_attention_forward),
        (_EFFICIENT, efficient_attention_forward),
    ):
        schema = parse_schema(text)
        table.define(schema, [], __file__)
        table.register(schema.name, keys.COMPOSITE, function)
