"""One step of a decoder, a token of each sequence: hotaru runs it, too."""

from __future__ import annotations

import torch
import torch.nn as nn
from torch.nn.functional import gelu, scaled_dot_product_attention

HEAD = 64


class Layer(nn.Module):
    """Attention over a cache of fixed length and a perceptron, each behind a
    norm.
    """

    def __init__(self, hidden: int, batch: int, length: int) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(hidden)
        self.qkv = nn.Linear(hidden, 3 * hidden)
        self.out = nn.Linear(hidden, hidden)
        self.norm2 = nn.LayerNorm(hidden)
        self.up = nn.Linear(hidden, 4 * hidden)
        self.down = nn.Linear(4 * hidden, hidden)
        shape = (batch, hidden // HEAD, length, HEAD)
        self.register_buffer("keys", torch.zeros(shape))
        self.register_buffer("values", torch.zeros(shape))

    def forward(self, x, at, mask):
        batch, _, hidden = x.shape
        qkv = self.qkv(self.norm1(x)).view(batch, 1, 3, hidden // HEAD, HEAD)
        q, k, v = qkv.permute(2, 0, 3, 1, 4).unbind(0)
        keys, values = self.keys[:batch], self.values[:batch]
        keys.index_copy_(2, at, k)
        values.index_copy_(2, at, v)
        y = scaled_dot_product_attention(q, keys, values, attn_mask=mask)
        x = x + self.out(y.transpose(1, 2).reshape(batch, 1, hidden))
        return x + self.down(gelu(self.up(self.norm2(x))))


class Decoder(nn.Module):
    """The step at position `at` (one index) of x (N, 1, hidden); what the
    layers know of earlier positions lies in their buffers.
    """

    def __init__(
        self, layers: int, hidden: int, batch: int = 1, length: int = 1024
    ) -> None:
        super().__init__()
        self.layers = nn.ModuleList(Layer(hidden, batch, length) for _ in range(layers))
        self.norm = nn.LayerNorm(hidden)
        self.register_buffer("positions", torch.arange(length))

    def forward(self, x, at):
        mask = (self.positions <= at).view(1, 1, 1, -1)
        for layer in self.layers:
            x = layer(x, at, mask)
        return self.norm(x)
