"""Multi-head attention (Vaswani et al. 2017)."""

from __future__ import annotations

import hotaru

from ... import Tensor, empty, is_grad_enabled, strided
from ..._overrides import has_torch_function
from .. import functional as F
from .. import init
from ..parameter import Parameter
from .linear import NonDynamicallyQuantizableLinear
from .module import Module


class MultiheadAttention(Module):
    """Attention with `num_heads` heads of size embed_dim / num_heads.

    Shapes: query (L, N, embed_dim), key (S, N, kdim), value (S, N, vdim); with
    `batch_first` (N, L, …); unbatched without N.

    Args:
        dropout: probability on the attention weights while training.
        add_bias_kv: one more learned key and value.
        add_zero_attn: one more key and value of zeros.
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device=None,
        dtype=None,
    ) -> None:
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                "embed_dim and num_heads must be greater than 0, got "
                f"embed_dim={embed_dim} and num_heads={num_heads} instead"
            )
        super().__init__()
        self.embed_dim = embed_dim
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        self.num_heads = num_heads
        self.dropout = dropout
        self.batch_first = batch_first
        self.head_dim = embed_dim // num_heads
        if self.head_dim * num_heads != embed_dim:
            raise AssertionError("embed_dim must be divisible by num_heads")

        options = {"device": device, "dtype": dtype}

        def parameter(*shape) -> Parameter:
            return Parameter(empty(shape, **options))

        separate = {
            "q_proj_weight": embed_dim,
            "k_proj_weight": self.kdim,
            "v_proj_weight": self.vdim,
        }
        if self._qkv_same_embed_dim:
            self.in_proj_weight = parameter(3 * embed_dim, embed_dim)
            for name in separate:
                self.register_parameter(name, None)
        else:
            for name, columns in separate.items():
                self.register_parameter(name, parameter(embed_dim, columns))
            self.register_parameter("in_proj_weight", None)
        self.register_parameter(
            "in_proj_bias", parameter(3 * embed_dim) if bias else None
        )
        self.out_proj = NonDynamicallyQuantizableLinear(
            embed_dim, embed_dim, bias=bias, **options
        )
        for name in ("bias_k", "bias_v"):
            extra = parameter(1, 1, embed_dim) if add_bias_kv else None
            self.register_parameter(name, extra)
        self.add_zero_attn = add_zero_attn
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        if self._qkv_same_embed_dim:
            init.xavier_uniform_(self.in_proj_weight)
        else:
            init.xavier_uniform_(self.q_proj_weight)
            init.xavier_uniform_(self.k_proj_weight)
            init.xavier_uniform_(self.v_proj_weight)
        if self.in_proj_bias is not None:
            init.zeros_(self.in_proj_bias)
            init.zeros_(self.out_proj.bias)
        for extra in (self.bias_k, self.bias_v):
            if extra is not None:
                init.xavier_normal_(extra)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """Returns (output, attention weights or None).

        Masks: boolean is True where attention is forbidden, float is added.
        """
        # In scripts tensors are not nested: what is not compiled stands alone.
        if not hotaru.jit.is_scripting():
            if query.is_nested or key.is_nested or value.is_nested:
                return self._nested(
                    (query, key, value),
                    (attn_mask, key_padding_mask),
                    need_weights,
                    average_attn_weights,
                )
            if not self.training and query is key and key is value:
                masks = (attn_mask, key_padding_mask)
                if self._takes_fast_path(query, masks, is_causal):
                    return self._native(
                        query, masks, need_weights, average_attn_weights
                    )
        swap = self.batch_first and query.dim() == 3
        if swap:
            # The same tensor stays one: self-attention is one product.
            same_key, same_value = key is query, value is key
            query = query.transpose(1, 0)
            key = query if same_key else key.transpose(1, 0)
            value = key if same_value else value.transpose(1, 0)
        output, weights = F.multi_head_attention_forward(
            query,
            key,
            value,
            self.embed_dim,
            self.num_heads,
            self.in_proj_weight,
            self.in_proj_bias,
            self.bias_k,
            self.bias_v,
            self.add_zero_attn,
            self.dropout,
            self.out_proj.weight,
            self.out_proj.bias,
            training=self.training,
            key_padding_mask=key_padding_mask,
            need_weights=need_weights,
            attn_mask=attn_mask,
            use_separate_proj_weight=not self._qkv_same_embed_dim,
            q_proj_weight=self.q_proj_weight,
            k_proj_weight=self.k_proj_weight,
            v_proj_weight=self.v_proj_weight,
            average_attn_weights=average_attn_weights,
            is_causal=is_causal,
        )
        return (output.transpose(1, 0) if swap else output), weights

    def _nested(self, given, masks, need_weights, average_attn_weights):
        """Attention of a nested tensor to itself, where no gradient is needed.

        AssertionError for all else.
        """
        reason = self._no_fast_path(given, masks)
        if reason:
            raise AssertionError(
                "MultiheadAttention does not support NestedTensor outside of "
                f"its fast path. The fast path was not hit because {reason}"
            )
        return self._native(given[0], (None, None), need_weights, average_attn_weights)

    def _takes_fast_path(self, query, masks, is_causal) -> bool:
        """Tells whether one operator does all: for batches that attend to
        themselves, where no gradient is needed, and masks that fit.
        """
        if is_causal and masks[0] is None:
            return False
        if self.in_proj_bias is None or self._no_fast_path((query,) * 3, masks):
            return False
        batch, length, _ = query.shape
        each = (batch * self.num_heads, length, length)
        fits = (((length, length), each), ((batch, length),))
        return all(
            mask is None or (mask.dtype == hotaru.bool and mask.shape in shapes)
            for mask, shapes in zip(masks, fits)
        )

    def _native(self, query, masks, need_weights, average_attn_weights):
        mask, mask_type = self.merge_masks(*masks, query)
        out_proj = self.out_proj
        # By the package's name, where programs look whether it is called.
        return hotaru._native_multi_head_attention(
            query,
            query,
            query,
            self.embed_dim,
            self.num_heads,
            self.in_proj_weight,
            self.in_proj_bias,
            out_proj.weight,
            out_proj.bias,
            mask,
            need_weights,
            average_attn_weights,
            mask_type,
        )

    def merge_masks(
        self, attn_mask: Tensor | None, key_padding_mask: Tensor | None, query: Tensor
    ) -> tuple[Tensor | None, int | None]:
        """Both masks as one for a batch, and its type: 1 for keys (N, S), 2 for
        scores (N, H, L, S), None without a mask.
        """
        if attn_mask is None:
            mask_type = None if key_padding_mask is None else 1
            return key_padding_mask, mask_type
        batch, length, _ = query.shape
        sizes = (batch, self.num_heads, -1, -1)
        if attn_mask.dim() == 3:
            merged = attn_mask.view(batch, -1, length, length)
        else:
            merged = attn_mask.view(1, 1, length, length).expand(sizes)
        if key_padding_mask is not None:
            merged = merged + key_padding_mask.view(batch, 1, 1, length).expand(
                batch, self.num_heads, -1, -1
            )
        return merged, 2

    def _no_fast_path(self, given, masks) -> str | None:
        """Why nested tensors are not taken."""
        query, key, value = given
        parts = ("in_proj_bias", "in_proj_weight")
        dtypes = {
            name: part.dtype
            for name, part in ((n, getattr(self, n)) for n in parts)
            if part is not None
        }
        if any(m is not None and m.is_floating_point() for m in masks):
            return "floating-point masks are not supported for fast path."
        if not hotaru.backends.mha.get_fastpath_enabled():
            return "torch.backends.mha.get_fastpath_enabled() was not True"
        if query.dim() != 3:
            return f"input not batched; expected query.dim() of 3 but got {query.dim()}"
        if query is not key or key is not value:
            return (
                "non-self attention was used (query, key, and value are not "
                "the same Tensor)"
            )
        for name, dtype in dtypes.items():
            if dtype != query.dtype:
                return (
                    f"dtypes of query ({query.dtype}) and self.{name} ({dtype})"
                    " don't match"
                )
        return self._unlike_operator(query, masks)

    def _unlike_operator(self, query, masks) -> str | None:
        """Names what the operator does not do; None if it does all."""
        reasons = (
            (self.training, "training is enabled"),
            (self.num_heads % 2 != 0, "self.num_heads is not even"),
            (not self.batch_first, "batch_first was not True"),
            (self.bias_k is not None, "self.bias_k was not None"),
            (self.bias_v is not None, "self.bias_v was not None"),
            (self.add_zero_attn, "add_zero_attn was enabled"),
            (not self._qkv_same_embed_dim, "_qkv_same_embed_dim was not True"),
            (
                query.is_nested and any(m is not None for m in masks),
                "supplying both src_key_padding_mask and src_mask at the same "
                "time is not supported with NestedTensor input",
            ),
            (hotaru.is_autocast_enabled(query.device.type), "autocast is enabled"),
        )
        for holds, text in reasons:
            if holds:
                return text
        tensors = (
            query,
            self.in_proj_weight,
            self.in_proj_bias,
            self.out_proj.weight,
            self.out_proj.bias,
        )
        if query.layout is not strided or has_torch_function(tensors):
            return "some Tensor argument has_torch_function"
        if is_grad_enabled() and any(
            x is not None and x.requires_grad for x in tensors
        ):
            return (
                "grad is enabled and at least one of query or the input/output "
                "projection weights or biases requires_grad"
            )
        return None
