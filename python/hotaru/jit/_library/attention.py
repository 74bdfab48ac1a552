"""Attention and transformers as compiled code sees them; see `modules`."""

from __future__ import annotations

import math

import hotaru as torch
from hotaru import Tensor


def _float_mask(mask: Tensor | None, like: Tensor) -> Tensor | None:
    """A mask to add to the scores: -inf where a boolean mask is True."""
    if mask is None:
        return None
    if mask.dtype == torch.bool:
        zeros = torch.zeros_like(mask, dtype=like.dtype)
        return zeros.masked_fill_(mask, -math.inf)
    assert mask.is_floating_point(), (
        "only bool and floating types of masks are supported"
    )
    return mask


def _one_more_key(mask: Tensor | None) -> Tensor | None:
    if mask is None:
        return None
    return torch.pad(mask, [0, 1])


def _packed(t: Tensor, weight: Tensor, bias: Tensor | None, parts: int):
    """One product for several projections of the same tensor."""
    out = torch.linear(t, weight, bias)
    out = out.unflatten(-1, [parts, t.size(-1)]).unsqueeze(0)
    return out.transpose(0, -2).squeeze(-2).contiguous()


def _in_projections(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    weight: Tensor,
    bias: Tensor | None,
) -> tuple[Tensor, Tensor, Tensor]:
    size = query.size(-1)
    if query is key and key is value:
        packed = _packed(query, weight, bias, 3)
        return packed[0], packed[1], packed[2]
    if key is value:
        w_q, w_kv = weight.split([size, size * 2])
        b_q: Tensor | None = None
        b_kv: Tensor | None = None
        if bias is not None:
            b_q, b_kv = bias.split([size, size * 2])
        packed = _packed(key, w_kv, b_kv, 2)
        return torch.linear(query, w_q, b_q), packed[0], packed[1]
    w_q, w_k, w_v = weight.chunk(3)
    return _separate_projections(query, key, value, w_q, w_k, w_v, bias)


def _separate_projections(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    w_q: Tensor,
    w_k: Tensor,
    w_v: Tensor,
    bias: Tensor | None,
) -> tuple[Tensor, Tensor, Tensor]:
    b_q: Tensor | None = None
    b_k: Tensor | None = None
    b_v: Tensor | None = None
    if bias is not None:
        b_q, b_k, b_v = bias.chunk(3)
    return (
        torch.linear(query, w_q, b_q),
        torch.linear(key, w_k, b_k),
        torch.linear(value, w_v, b_v),
    )


class MultiheadAttention:
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
        batched = query.dim() == 3
        assert batched or query.dim() == 2, (
            "query should be unbatched 2D or batched 3D tensor but received "
            f"{query.dim()}-D query tensor"
        )
        assert query.size(-1) == self.embed_dim, (
            f"was expecting embedding dimension of {self.embed_dim}, but got "
            f"{query.size(-1)}"
        )
        swap = self.batch_first and batched
        if swap:
            # The same tensor stays one: self-attention is one product.
            same_value, same_key = value is key, key is query
            query = query.transpose(0, 1)
            key = query if same_key else key.transpose(0, 1)
            value = key if same_value else value.transpose(0, 1)
        if not batched:
            same_value, same_key = value is key, key is query
            query = query.unsqueeze(1)
            key = query if same_key else key.unsqueeze(1)
            value = key if same_value else value.unsqueeze(1)
            if key_padding_mask is not None:
                key_padding_mask = key_padding_mask.unsqueeze(0)
        if is_causal and attn_mask is None:
            raise RuntimeError(
                "Need attn_mask if specifying the is_causal hint. You may use "
                "the Transformer module method "
                "`generate_square_subsequent_mask` to create this mask."
            )
        key_padding_mask = _float_mask(key_padding_mask, query)
        if is_causal and key_padding_mask is None and not need_weights:
            attn_mask = None  # the kernel masks by itself
        else:
            attn_mask = _float_mask(attn_mask, query)
            if key_padding_mask is not None:
                is_causal = False
        output, weights = self._attend(
            query, key, value, key_padding_mask, need_weights, attn_mask,
            is_causal,
        )  # fmt: skip
        if weights is not None:
            if average_attn_weights:
                weights = weights.mean(dim=[1])
            if not batched:
                weights = weights.squeeze(0)
        if swap:
            output = output.transpose(0, 1)
        return (output if batched else output.squeeze(1)), weights

    def _attend(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None,
        need_weights: bool,
        attn_mask: Tensor | None,
        is_causal: bool,
    ) -> tuple[Tensor, Tensor | None]:
        length, batch = query.size(0), query.size(1)
        heads, width = self.num_heads, self.head_dim
        if self._qkv_same_embed_dim:
            q, k, v = _in_projections(
                query, key, value, self.in_proj_weight, self.in_proj_bias
            )
        else:
            q, k, v = _separate_projections(
                query, key, value, self.q_proj_weight, self.k_proj_weight,
                self.v_proj_weight, self.in_proj_bias,
            )  # fmt: skip
        if attn_mask is not None and attn_mask.dim() == 2:
            attn_mask = attn_mask.unsqueeze(0)
        if self.bias_k is not None and self.bias_v is not None:
            k = torch.cat([k, self.bias_k.repeat(1, batch, 1)])
            v = torch.cat([v, self.bias_v.repeat(1, batch, 1)])
            attn_mask = _one_more_key(attn_mask)
            key_padding_mask = _one_more_key(key_padding_mask)
        q = q.view(length, batch * heads, width).transpose(0, 1)
        k = k.view(k.size(0), batch * heads, width).transpose(0, 1)
        v = v.view(v.size(0), batch * heads, width).transpose(0, 1)
        if self.add_zero_attn:
            zero = torch.zeros([batch * heads, 1, width], dtype=k.dtype)
            k = torch.cat([k, zero], dim=1)
            v = torch.cat([v, zero], dim=1)
            attn_mask = _one_more_key(attn_mask)
            key_padding_mask = _one_more_key(key_padding_mask)
        keys = k.size(1)
        if key_padding_mask is not None:
            padding = key_padding_mask.view(batch, 1, 1, keys)
            padding = padding.expand(-1, heads, -1, -1)
            padding = padding.reshape(batch * heads, 1, keys)
            attn_mask = padding if attn_mask is None else attn_mask + padding
        dropout = self.dropout if self.training else 0.0
        weights: Tensor | None = None
        if need_weights:
            scaled = q * math.sqrt(1.0 / width)
            if attn_mask is not None:
                scores = torch.baddbmm(attn_mask, scaled, k.transpose(-2, -1))
            else:
                scores = torch.bmm(scaled, k.transpose(-2, -1))
            scores = torch.dropout(
                torch.softmax(scores, -1), dropout, dropout > 0.0
            )
            output = torch.bmm(scores, v).transpose(0, 1)
            weights = scores.view(batch, heads, length, keys)
        else:
            if attn_mask is not None:
                if attn_mask.size(0) == 1:
                    attn_mask = attn_mask.unsqueeze(0)
                else:
                    attn_mask = attn_mask.view(batch, heads, -1, keys)
            output = torch.scaled_dot_product_attention(
                q.view(batch, heads, length, width),
                k.view(batch, heads, keys, width),
                v.view(batch, heads, keys, width),
                attn_mask,
                dropout,
                is_causal,
            ).permute(2, 0, 1, 3)
        output = output.contiguous().view(length * batch, heads * width)
        output = torch.linear(output, self.out_proj.weight, self.out_proj.bias)
        return output.view(length, batch, output.size(1)), weights
