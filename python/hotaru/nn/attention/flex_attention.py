"""Attention whose scores a function of the program changes.

The scores are computed whole, changed by `score_mod`, hidden by the block
mask, and summed up: what the program writes is what runs, in any dtype and
with gradients. Captured as a graph, as `compile` does, its steps are fused.
"""

from __future__ import annotations

import math
from typing import NamedTuple, TypedDict

from ... import _C, Tensor, arange, ones, where
from ..functional import pad
from ._block_mask import DEFAULT_BLOCK, BlockMask, noop_mask, pair, to_ordered
from ._over_scores import over_scores

__all__ = [
    "AuxOutput",
    "AuxRequest",
    "BlockMask",
    "FlexKernelOptions",
    "and_masks",
    "create_block_mask",
    "create_mask",
    "flex_attention",
    "noop_mask",
    "or_masks",
]

_DEFAULT_SPARSE_BLOCK_SIZE = DEFAULT_BLOCK  # PyTorch's name


class FlexKernelOptions(TypedDict, total=False):
    """Choices of GPU kernels, by name; no result depends on them."""

    num_warps: int
    num_stages: int
    BLOCK_M: int
    BLOCK_N: int
    BLOCK_M1: int
    BLOCK_N1: int
    BLOCK_M2: int
    BLOCK_N2: int
    PRESCALE_QK: bool
    ROWS_GUARANTEED_SAFE: bool
    BLOCKS_ARE_CONTIGUOUS: bool
    WRITE_DQ: bool
    FORCE_USE_FLEX_ATTENTION: bool
    USE_TMA: bool
    kpack: int
    matrix_instr_nonkdim: int
    waves_per_eu: int
    BACKEND: str


class AuxRequest(NamedTuple):
    """Results that `flex_attention` shall give beside its own."""

    lse: bool = False
    max_scores: bool = False


class AuxOutput(NamedTuple):
    """Results that `AuxRequest` asked for, None for the rest: the logarithm of
    each query's sum of exponentials, and its greatest score.
    """

    lse: Tensor | None = None
    max_scores: Tensor | None = None


def _combined(name: str, mask_mods, start: bool):
    if not all(callable(mask) for mask in mask_mods):
        raise RuntimeError(f"All inputs should be callable mask_mods: {mask_mods}")

    def mask_mod(b, h, q_idx, kv_idx):
        made = b.new_full((), start, dtype=_C.bool)
        for mask in mask_mods:
            one = mask(b, h, q_idx, kv_idx)
            made = (made & one) if start else (made | one)
        return made

    mask_mod.__name__ = name
    return mask_mod


def and_masks(*mask_mods):
    """A mask that shows what all of them show."""
    return _combined("and_mask", mask_mods, True)


def or_masks(*mask_mods):
    """A mask that shows what one of them shows."""
    return _combined("or_mask", mask_mods, False)


def _places(shape, device):
    return [arange(n, device=device) for n in shape]


def create_mask(
    mod_fn, B: int | None, H: int | None, Q_LEN: int, KV_LEN: int, device=None
) -> Tensor:
    """Applies a function to each place, as a tensor of B x H x Q_LEN x KV_LEN:
    of a mask what it shows, of a `score_mod` what it makes of zeros, as
    whether it is hidden.
    """
    import inspect

    shape = (B or 1, H or 1, Q_LEN, KV_LEN)
    device = _device(device)
    takes = len(inspect.signature(mod_fn).parameters)
    if takes == 5:
        zeros = ones(shape, device=device) * 0
        made = over_scores(mod_fn, _places(shape, device), zeros)
        return where(made.isneginf(), False, True)
    if takes != 4:
        raise AssertionError(
            f"create_mask: a function of 4 or 5 arguments is needed, not of {takes}"
        )
    made = over_scores(mod_fn, _places(shape, device))
    return made.expand(shape).contiguous()


def _device(device):
    if device is not None:
        return device
    from ...accelerator import current_accelerator

    return current_accelerator(check_available=True) or "cpu"


def create_block_mask(
    mask_mod,
    B: int | None,
    H: int | None,
    Q_LEN: int,
    KV_LEN: int,
    device=None,
    BLOCK_SIZE: int | tuple[int, int] = DEFAULT_BLOCK,
    _compile: bool = False,
    separate_full_blocks: bool = True,
    compute_dq_write_order: bool = False,
    dq_kv_order: bool = True,
) -> BlockMask:
    """The blocks that a mask shows.

    Args:
        mask_mod: whether a score is shown, by the numbers of its batch, head,
            query and key.
        B: the number of batches; None where the mask does not depend on it.
        H: the number of heads; as B.
        Q_LEN: the number of queries.
        KV_LEN: the number of keys.
        device: the accelerator if there is one, else the CPU.
        BLOCK_SIZE: of queries and keys, or one for both.
        separate_full_blocks: mark blocks in which nothing is hidden.
        compute_dq_write_order: orders a GPU kernel's sums; NotImplementedError.
        dq_kv_order: as before, without effect.
    """
    if compute_dq_write_order:
        raise NotImplementedError(
            "create_block_mask: compute_dq_write_order orders the sums of a "
            "GPU kernel that hotaru does not have; leave it out"
        )
    size = pair(BLOCK_SIZE)
    mask = create_mask(mask_mod, B, H, Q_LEN, KV_LEN, device)
    rows, columns = (-(-n // s) for n, s in zip((Q_LEN, KV_LEN), size))
    missing = (columns * size[1] - KV_LEN, rows * size[0] - Q_LEN)
    mask = pad(mask.to(_C.int32), (0, missing[0], 0, missing[1]))
    blocks = mask.unflatten(-1, (columns, size[1]))
    blocks = blocks.unflatten(-3, (rows, size[0])).sum((-1, -3))
    shown, full = blocks > 0, blocks == size[0] * size[1]
    if not separate_full_blocks:
        ordered = (*to_ordered(shown), None, None)
    else:
        ordered = (*to_ordered(shown & ~full), *to_ordered(full))
    return BlockMask.from_kv_blocks(
        *ordered, size, mask_mod, seq_lengths=(Q_LEN, KV_LEN)
    )


def flex_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    score_mod=None,
    block_mask: BlockMask | None = None,
    scale: float | None = None,
    enable_gqa: bool = False,
    return_lse: bool = False,
    kernel_options: FlexKernelOptions | None = None,
    *,
    return_aux: AuxRequest | None = None,
):
    """Attention with scores that `score_mod` changes.

    Args:
        query: batch x heads x queries x width; the others with keys.
        key: as query, of as many heads or, with enable_gqa, a divisor of them.
        value: as key; its width is the result's.
        score_mod: the new score of one, by the score itself and the numbers
            of its batch, head, query and key, all tensors without dimensions.
        block_mask: what is shown, by `create_block_mask`; everything if None.
        scale: of the scores; the square root of the width is divided by if
            None.
        enable_gqa: several heads of queries share one of keys.
        return_lse: gives the logarithms of the sums of exponentials, too.
        kernel_options: of GPU kernels; without effect.
        return_aux: what to give beside the result.

    Returns:
        The result, or a pair of it and what was asked for. A query of which
        all scores are hidden has a result of zeros, and -inf.
    """
    _check(query, key, value, block_mask, enable_gqa)
    if return_lse and return_aux is not None:
        raise ValueError(
            "Cannot specify both return_lse and return_aux. return_lse is "
            "deprecated, please use return_aux=AuxRequest(lse=True) instead."
        )
    scores = _scores(query, key, scale)
    shape, device = scores.shape, scores.device
    places = _places(shape, device)
    if score_mod is not None:
        scores = over_scores(score_mod, places, scores)
    if block_mask is not None:
        shown = _shown(block_mask, shape, places)
        scores = scores.masked_fill(~shown, -math.inf)
    # Rows without a score that is shown: no NaN of -inf - -inf.
    peak = scores.detach().amax(-1, keepdim=True)
    shift = peak.masked_fill(peak == -math.inf, 0)
    weights = (scores - shift).exp()
    total = weights.sum(-1, keepdim=True)
    share = weights / total.masked_fill(total == 0, 1)
    if value.shape[1] != query.shape[1]:
        value = value.repeat_interleave(query.shape[1] // value.shape[1], 1)
    out = share.to(query.dtype) @ value
    asked = AuxRequest(lse=True) if return_lse else return_aux
    if asked is None:
        return out
    lse = (total.log() + shift).squeeze(-1) if asked.lse else None
    if return_lse:
        return out, lse
    largest = scores.amax(-1) if asked.max_scores else None
    return out, AuxOutput(lse=lse, max_scores=largest)


def _scores(query: Tensor, key: Tensor, scale: float | None) -> Tensor:
    """Products of queries and keys, at least in float32."""
    if key.shape[1] != query.shape[1]:
        key = key.repeat_interleave(query.shape[1] // key.shape[1], 1)
    wide = _C.float64 if query.dtype == _C.float64 else _C.float32
    if scale is None:
        scale = 1 / math.sqrt(query.shape[-1])
    return (query @ key.transpose(-2, -1)).to(wide) * scale


def _shown(block_mask: BlockMask, shape, places) -> Tensor:
    blocks = block_mask.shown()
    shown = (blocks == 1) & over_scores(block_mask.mask_mod, places)
    return (shown | (blocks == 2)).expand(shape)


def check_heads(heads: int, shared: int, enable_gqa: bool) -> None:
    """ValueError for heads of keys that do not serve those of queries."""
    if not enable_gqa and heads != shared:
        raise ValueError(
            "Expect query and key/value to have the same number of heads but "
            f"got Hq={heads} and Hkv={shared}. "
            "Try setting enable_gqa=True for GQA."
        )
    if heads % shared:
        raise ValueError(
            "Expect number of query heads to be a multiple of kv heads for "
            f"GQA but got Hq={heads} and Hkv={shared}."
        )


def _check(query, key, value, block_mask, enable_gqa: bool) -> None:
    if query.dim() != 4 or key.dim() != 4 or value.dim() != 4:
        raise NotImplementedError("NYI: query, key, and value must be 4D tensors")
    if not query.dtype == key.dtype == value.dtype:
        raise ValueError(
            "Expected query, key, and value to have the same dtype, but got "
            f"query.dtype: {query.dtype}, key.dtype: {key.dtype}, and "
            f"value.dtype: {value.dtype} instead."
        )
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(
            "Expect query and key/value to have the same embedding dimension "
            f"but got E={query.shape[-1]} and E={key.shape[-1]}."
        )
    check_heads(query.shape[1], key.shape[1], enable_gqa)
    if block_mask is not None:
        _check_lengths(block_mask, query.shape[-2], key.shape[-2])


def _check_lengths(block_mask: BlockMask, queries: int, keys: int) -> None:
    rows, columns = block_mask.seq_lengths
    if (rows, columns) == (queries, keys):
        return
    smaller = queries > rows or keys > columns
    what = (
        f"block_mask was created for block_mask.shape={block_mask.shape} but "
        f"got q_len={queries} and kv_len={keys}. As the block mask was created "
        f"for a {'smaller' if smaller else 'larger'} length than you're using "
        "it for, you "
    )
    if smaller:
        raise ValueError(what + "likely need to create a new block mask.")
    raise ValueError(
        what + "can either 1. create a new block mask with the correct length, "
        "or 2. 'adjust' the existing block mask to the correct length by "
        "calling block_mask._adjust(q_len, kv_len). This essentially 'crops' "
        "the block mask to the upper left corner, which does not work for all "
        "mask_mods!"
    )
