"""Causal masks that attention knows by their kind."""

from __future__ import annotations

from enum import IntEnum

from ... import Tensor, empty, ones
from ..._overrides import DisableTorchFunctionSubclass
from ..functional import scaled_dot_product_attention

__all__ = ["CausalBias", "CausalVariant", "causal_lower_right", "causal_upper_left"]


class CausalVariant(IntEnum):
    """At which corner of the scores the diagonal begins or ends."""

    UPPER_LEFT = 1
    LOWER_RIGHT = 2


class CausalBias(Tensor):
    """A causal mask of a number of queries and keys, given as `attn_mask`.

    Attention that starts in the upper left corner runs as `is_causal`, without
    a mask in memory.
    """

    def __new__(cls, variant, seq_len_q: int, seq_len_kv: int):
        return Tensor._make_subclass(cls, empty(0), False)

    def __init__(self, variant, seq_len_q: int, seq_len_kv: int) -> None:
        if not isinstance(variant, CausalVariant):
            raise AssertionError(f"{variant!r} is no CausalVariant")
        self.variant = variant
        self.seq_len_q, self.seq_len_kv = seq_len_q, seq_len_kv
        if seq_len_q > seq_len_kv and variant == CausalVariant.LOWER_RIGHT:
            import warnings

            warnings.warn(
                "Lower right causal bias will produce NaNs in the output when "
                "seq_len_q > seq_len_kv!",
                stacklevel=2,
            )

    def _materialize(self, device=None) -> Tensor:
        """True where a query sees a key."""
        shift = 0
        if self.variant == CausalVariant.LOWER_RIGHT:
            shift = self.seq_len_kv - self.seq_len_q
        shown = ones(self.seq_len_q, self.seq_len_kv, device=device)
        return shown.tril(shift).bool()

    def __repr__(self) -> str:
        return repr(self._materialize())

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func is scaled_dot_product_attention:
            return _attention(*args, **kwargs)
        with DisableTorchFunctionSubclass():
            result = func(*args, **kwargs)
        if isinstance(result, Tensor):
            raise NotImplementedError(
                f"{getattr(func, '__name__', func)}: a CausalBias is for "
                "scaled_dot_product_attention alone; its _materialize() gives "
                "a mask as a tensor"
            )
        return result


def _attention(
    query,
    key,
    value,
    attn_mask=None,
    dropout_p=0.0,
    is_causal=False,
    scale=None,
    enable_gqa=False,
):
    if is_causal:
        raise ValueError("CausalBias should not be used with causal=True")
    square = attn_mask.seq_len_q == attn_mask.seq_len_kv
    whole = square or attn_mask.variant == CausalVariant.UPPER_LEFT
    mask = None if whole else attn_mask._materialize(query.device)
    with DisableTorchFunctionSubclass():
        return scaled_dot_product_attention(
            query,
            key,
            value,
            mask,
            dropout_p,
            whole,
            scale=scale,
            enable_gqa=enable_gqa,
        )


def _made(name: str, variant: CausalVariant, size) -> CausalBias:
    if len(size) != 2:
        raise AssertionError(f"{name} only supports 2D tensors")
    return CausalBias(variant, *size)


def causal_upper_left(*size) -> CausalBias:
    """Query i sees keys 0 to i."""
    return _made("causal_upper_left", CausalVariant.UPPER_LEFT, size)


def causal_lower_right(*size) -> CausalBias:
    """The last query sees all keys, each before it one less."""
    return _made("causal_lower_right", CausalVariant.LOWER_RIGHT, size)
