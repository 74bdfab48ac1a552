"""Transformer layers and stacks (Vaswani et al. 2017)."""

from __future__ import annotations

import copy
import warnings

import hotaru

from ... import Tensor
from .. import functional as F
from .. import init
from .attention import MultiheadAttention
from .container import ModuleList
from .dropout import Dropout
from .linear import Linear
from .module import Module
from .normalization import LayerNorm


def _get_activation_fn(activation: str):
    if activation not in ("relu", "gelu"):
        raise RuntimeError(f"activation should be relu/gelu, not {activation}")
    return getattr(F, activation)


class _Layer(Module):
    """Base of encoder and decoder layers: attention blocks and the MLP."""

    # Names of the attention blocks; a norm and a dropout goes with each, and
    # one more of both with the MLP.
    _attentions: tuple = ()

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation=F.relu,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device=None,
        dtype=None,
    ) -> None:
        super().__init__()
        options = {"device": device, "dtype": dtype}
        for name in self._attentions:
            attention = MultiheadAttention(
                d_model,
                nhead,
                dropout=dropout,
                bias=bias,
                batch_first=batch_first,
                **options,
            )
            self.add_module(name, attention)
        self.linear1 = Linear(d_model, dim_feedforward, bias=bias, **options)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias=bias, **options)
        self.norm_first = norm_first
        blocks = range(1, len(self._attentions) + 2)
        for i in blocks:
            norm = LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **options)
            self.add_module(f"norm{i}", norm)
        for i in blocks:
            self.add_module(f"dropout{i}", Dropout(dropout))
        if isinstance(activation, str):
            activation = _get_activation_fn(activation)
        self.activation = activation

    def __setstate__(self, state: dict) -> None:
        super().__setstate__(state)
        if not hasattr(self, "activation"):  # it may be a module
            self.activation = F.relu

    def _sa_block(
        self,
        x: Tensor,
        attn_mask: Tensor | None,
        key_padding_mask: Tensor | None,
        is_causal: bool,
    ) -> Tensor:
        attended = self.self_attn(
            x,
            x,
            x,
            attn_mask=attn_mask,
            key_padding_mask=key_padding_mask,
            need_weights=False,
            is_causal=is_causal,
        )[0]
        return self.dropout1(attended)

    def _mlp(self, x: Tensor) -> Tensor:
        return self.linear2(self.dropout(self.activation(self.linear1(x))))


class TransformerEncoderLayer(_Layer):
    """Self-attention and an MLP, each with residual, dropout and LayerNorm."""

    _attentions = ("self_attn",)

    def forward(
        self,
        src: Tensor,
        src_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        """`src` (S, N, E); src_mask (S, S); src_key_padding_mask (N, S)."""
        x = self.norm1(src) if self.norm_first else src
        x = src + self._sa_block(x, src_mask, src_key_padding_mask, is_causal)
        if self.norm_first:
            return x + self.dropout2(self._mlp(self.norm2(x)))
        x = self.norm1(x)
        return self.norm2(x + self.dropout2(self._mlp(x)))


class TransformerDecoderLayer(_Layer):
    """Self-attention, attention to the memory, and an MLP."""

    _attentions = ("self_attn", "multihead_attn")

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """`tgt` (T, N, E), memory (S, N, E); masks as in the attention."""
        x = self.norm1(tgt) if self.norm_first else tgt
        x = tgt + self._sa_block(x, tgt_mask, tgt_key_padding_mask, tgt_is_causal)
        if not self.norm_first:
            x = self.norm1(x)
        attended = self.multihead_attn(
            self.norm2(x) if self.norm_first else x,
            memory,
            memory,
            attn_mask=memory_mask,
            key_padding_mask=memory_key_padding_mask,
            need_weights=False,
            is_causal=memory_is_causal,
        )[0]
        x = x + self.dropout2(attended)
        if self.norm_first:
            return x + self.dropout3(self._mlp(self.norm3(x)))
        x = self.norm2(x)
        return self.norm3(x + self.dropout3(self._mlp(x)))


class _Stack(Module):
    """`num_layers` copies of a layer, one after the other, then `norm`."""

    def __init__(
        self, layer: Module, num_layers: int, norm: Module | None = None
    ) -> None:
        super().__init__()
        self.layers = ModuleList([copy.deepcopy(layer) for _ in range(num_layers)])
        self.num_layers = num_layers
        self.norm = norm


def _keeps_padding(layer) -> str:
    """Why PyTorch computes this layer with padded positions; "" if not."""
    if not isinstance(layer, TransformerEncoderLayer):
        return " was not TransformerEncoderLayer"
    attention = layer.self_attn
    known = layer.activation in (F.relu, F.gelu) or isinstance(
        layer.activation, (hotaru.nn.ReLU, hotaru.nn.GELU)
    )
    reasons = (
        (layer.norm_first, ".norm_first was True"),
        (
            not attention.batch_first,
            ".self_attn.batch_first was not True(use batch_first for better "
            "inference performance)",
        ),
        (
            not attention._qkv_same_embed_dim,
            ".self_attn._qkv_same_embed_dim was not True",
        ),
        (attention.in_proj_bias is None, ".self_attn was passed bias=False"),
        (not known, ".activation_relu_or_gelu was not True"),
        (
            layer.norm1.eps != layer.norm2.eps,
            ".norm1.eps was not equal to encoder_layer.norm2.eps",
        ),
        (attention.num_heads % 2 == 1, ".self_attn.num_heads is odd"),
    )
    return next((text for holds, text in reasons if holds), "")


def _leaves_out_padding() -> bool:
    """Tells whether PyTorch may leave out padding here and now."""
    if hotaru.jit.is_scripting():
        return True
    return (
        hotaru.backends.mha.get_fastpath_enabled()
        and not hotaru.is_autocast_enabled()
        and not hotaru.compiler.is_compiling()
    )


def _without_padding(x: Tensor, mask: Tensor) -> Tensor:
    """0 where sequences are padded, if all of them are padded behind their end;
    the mask is True there, or other than 0.
    """
    kept = mask.logical_not()
    begins = kept[:, 1:].logical_and(kept[:, :-1].logical_not())
    padded = kept.logical_not().logical_and(begins.any().logical_not())
    return x.masked_fill(padded.unsqueeze(-1), 0.0)


class TransformerEncoder(_Stack):
    """Copies of an encoder layer.

    In evaluation without gradients, positions that `src_key_padding_mask`
    leaves out are 0, unless `enable_nested_tensor` is False or a layer is of a
    kind that PyTorch has no fast path for (`use_nested_tensor` tells).
    `mask_check` is accepted: the mask is always looked at.
    """

    def __init__(
        self,
        encoder_layer: TransformerEncoderLayer,
        num_layers: int,
        norm: Module | None = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:
        super().__init__(encoder_layer, num_layers, norm)
        self.enable_nested_tensor = enable_nested_tensor
        reason = _keeps_padding(encoder_layer) if enable_nested_tensor else ""
        if reason:
            warnings.warn(
                "enable_nested_tensor is True, but self.use_nested_tensor is "
                f"False because encoder_layer{reason}",
                stacklevel=2,
            )
        self.use_nested_tensor = enable_nested_tensor and not reason
        self.mask_check = mask_check

    def __setstate__(self, state: dict) -> None:
        super().__setstate__(state)
        self.__dict__.setdefault("use_nested_tensor", False)

    def forward(
        self,
        src: Tensor,
        mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool | None = None,
    ) -> Tensor:
        """`src` (S, N, E); mask (S, S); src_key_padding_mask (N, S)."""
        output = src
        training = False
        for layer in self.layers:
            output = layer(
                output,
                src_mask=mask,
                src_key_padding_mask=src_key_padding_mask,
                is_causal=is_causal is not None and bool(is_causal),
            )
            training = training or layer.training
        if (
            src_key_padding_mask is not None
            and mask is None
            and self.use_nested_tensor
            and src.dim() == 3
            and not training
            and not output.requires_grad
            and _leaves_out_padding()
        ):
            output = _without_padding(output, src_key_padding_mask)
        return output if self.norm is None else self.norm(output)


class TransformerDecoder(_Stack):
    """Copies of a decoder layer."""

    def __init__(
        self,
        decoder_layer: TransformerDecoderLayer,
        num_layers: int,
        norm: Module | None = None,
    ) -> None:
        super().__init__(decoder_layer, num_layers, norm)

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """`tgt` (T, N, E); memory (S, N, E); masks as in the layer."""
        output = tgt
        for layer in self.layers:
            output = layer(
                output,
                memory,
                tgt_mask=tgt_mask,
                memory_mask=memory_mask,
                tgt_key_padding_mask=tgt_key_padding_mask,
                memory_key_padding_mask=memory_key_padding_mask,
                tgt_is_causal=tgt_is_causal is not None and bool(tgt_is_causal),
                memory_is_causal=memory_is_causal,
            )
        return output if self.norm is None else self.norm(output)


class Transformer(Module):
    """Encoder and decoder; all matrices start by `xavier_uniform_`."""

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation=F.relu,
        custom_encoder: Module | None = None,
        custom_decoder: Module | None = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device=None,
        dtype=None,
    ) -> None:
        super().__init__()
        options = {"device": device, "dtype": dtype}
        layer_args = (
            d_model,
            nhead,
            dim_feedforward,
            dropout,
            activation,
            layer_norm_eps,
            batch_first,
            norm_first,
            bias,
        )

        def final_norm() -> LayerNorm:
            return LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **options)

        if custom_encoder is not None:
            self.encoder = custom_encoder
        else:
            layer = TransformerEncoderLayer(*layer_args, **options)
            self.encoder = TransformerEncoder(layer, num_encoder_layers, final_norm())
        if custom_decoder is not None:
            self.decoder = custom_decoder
        else:
            layer = TransformerDecoderLayer(*layer_args, **options)
            self.decoder = TransformerDecoder(layer, num_decoder_layers, final_norm())
        for param in self.parameters():
            if param.dim() > 1:
                init.xavier_uniform_(param)
        self.d_model = d_model
        self.nhead = nhead
        self.batch_first = batch_first

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Tensor | None = None,
        tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None,
        memory_key_padding_mask: Tensor | None = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """`src` (S, N, E), tgt (T, N, E) -> (T, N, E).

        Raises:
            RuntimeError: batch or feature sizes that do not go together.
        """
        batch_axis = 0 if self.batch_first else 1
        if src.dim() == 3 and src.size(batch_axis) != tgt.size(batch_axis):
            raise RuntimeError("the batch number of src and tgt must be equal")
        if src.size(-1) != self.d_model or tgt.size(-1) != self.d_model:
            raise RuntimeError(
                "the feature number of src and tgt must be equal to d_model"
            )
        memory = self.encoder(
            src,
            mask=src_mask,
            src_key_padding_mask=src_key_padding_mask,
            is_causal=src_is_causal,
        )
        return self.decoder(
            tgt,
            memory,
            tgt_mask=tgt_mask,
            memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask,
            tgt_is_causal=tgt_is_causal,
            memory_is_causal=memory_is_causal,
        )

    @staticmethod
    def generate_square_subsequent_mask(
        sz: int, device: hotaru.device | None = None, dtype: hotaru.dtype | None = None
    ) -> Tensor:
        """(sz, sz) with -inf above the diagonal and 0 elsewhere."""
        full = hotaru.full((sz, sz), float("-inf"), dtype=dtype, device=device)
        return full.triu(diagonal=1)
