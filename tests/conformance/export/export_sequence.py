"""Networks of sequences for the conformance of exported programs."""

from __future__ import annotations

import math

import torch
from torch import nn
from torch.nn import functional as F


class Recurrent(nn.Module):
    """A recurrent layer of any kind and a classifier on its last step."""

    def __init__(self, kind, *args, **kwargs):
        super().__init__()
        self.rnn = kind(*args, **kwargs)
        size = args[1] * (2 if kwargs.get("bidirectional") else 1)
        self.fc = nn.Linear(size, 3)

    def forward(self, x):
        y, state = self.rnn(x)
        return self.fc(y[:, -1]), state


class Cells(nn.Module):
    """A loop over cells, which an export unrolls."""

    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTMCell(4, 6)
        self.gru = nn.GRUCell(6, 5)

    def forward(self, x):
        h = x.new_zeros(x.size(0), 6)
        c = torch.zeros_like(h)
        g = torch.zeros(x.size(0), 5, dtype=x.dtype)
        for t in range(3):
            h, c = self.lstm(x[:, t], (h, c))
            g = self.gru(h, g)
        return g


class Attention(nn.Module):
    """Causal attention, as minGPT and nanoGPT have it."""

    def __init__(self, size, heads):
        super().__init__()
        self.qkv = nn.Linear(size, 3 * size)
        self.out = nn.Linear(size, size)
        self.heads = heads

    def forward(self, x):
        b, t, c = x.size()
        q, k, v = self.qkv(x).split(c, dim=2)
        q, k, v = (
            z.view(b, t, self.heads, c // self.heads).transpose(1, 2) for z in (q, k, v)
        )
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).contiguous().view(b, t, c))


class GPT(nn.Module):
    """Two layers, tied embedding."""

    def __init__(self, tied=True):
        super().__init__()
        self.wte = nn.Embedding(20, 16)
        self.wpe = nn.Embedding(12, 16)
        self.blocks = nn.ModuleList(
            nn.ModuleDict(
                {
                    "ln1": nn.LayerNorm(16),
                    "attn": Attention(16, 2),
                    "ln2": nn.LayerNorm(16),
                    "fc": nn.Linear(16, 32),
                    "proj": nn.Linear(32, 16),
                }
            )
            for _ in range(2)
        )
        self.ln = nn.LayerNorm(16)
        self.head = nn.Linear(16, 20, bias=False)
        if tied:
            self.head.weight = self.wte.weight

    def forward(self, idx, targets):
        t = idx.size(1)
        x = self.wte(idx) + self.wpe(torch.arange(0, t, dtype=torch.long))
        for block in self.blocks:
            x = x + block["attn"](block["ln1"](x))
            y = F.gelu(block["fc"](block["ln2"](x)), approximate="tanh")
            x = x + block["proj"](y)
        logits = self.head(self.ln(x))
        loss = F.cross_entropy(
            logits.view(-1, logits.size(-1)), targets.view(-1), ignore_index=-1
        )
        return logits, loss


class Cached(nn.Module):
    """Attention over keys and values that buffers keep from call to call."""

    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(8, 24)
        self.register_buffer("k", torch.zeros(1, 6, 8))
        self.register_buffer("v", torch.zeros(1, 6, 8), persistent=False)
        self.register_buffer("mask", torch.tril(torch.ones(6, 6)).bool())

    def forward(self, x, at):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        self.k.index_copy_(1, at, k.detach())
        self.v[:, at] = v.detach()
        score = q @ self.k.transpose(1, 2) / math.sqrt(8)
        score = score.masked_fill(~self.mask[at], float("-inf"))
        return F.softmax(score, dim=-1) @ self.v


class Rotary(nn.Module):
    """RMS norm, rotary places, gated feed forward, as Llama has them."""

    def __init__(self):
        super().__init__()
        self.norm = nn.RMSNorm(16)
        self.q = nn.Linear(16, 16, bias=False)
        self.k = nn.Linear(16, 8, bias=False)
        self.v = nn.Linear(16, 8, bias=False)
        self.gate = nn.Linear(16, 24, bias=False)
        self.up = nn.Linear(16, 24, bias=False)
        self.down = nn.Linear(24, 16, bias=False)
        freq = 1.0 / (10000 ** (torch.arange(0, 4, 2).float() / 4))
        self.register_buffer("freq", freq, persistent=False)

    def rotate(self, x):
        t = torch.arange(x.size(2), device=x.device).to(self.freq.dtype)
        angle = torch.outer(t, self.freq)
        angle = torch.cat([angle, angle], -1)
        a, b = x[..., :2], x[..., 2:]
        return x * angle.cos() + torch.cat([-b, a], -1) * angle.sin()

    def forward(self, x):
        b, t, _ = x.shape
        y = self.norm(x)
        q = self.q(y).view(b, t, 4, 4).transpose(1, 2)
        k = self.k(y).view(b, t, 2, 4).transpose(1, 2)
        v = self.v(y).view(b, t, 2, 4).transpose(1, 2)
        k = self.rotate(k).repeat_interleave(2, dim=1)
        v = v.repeat_interleave(2, dim=1)
        mask = torch.full((t, t), float("-inf")).triu(1)
        a = (self.rotate(q) @ k.transpose(2, 3)) / 2.0 + mask
        y = a.softmax(-1, dtype=torch.float32).type_as(q) @ v
        x = x + y.transpose(1, 2).reshape(b, t, 16)
        return x + self.down(F.silu(self.gate(x)) * self.up(x))


class Translator(nn.Module):
    """nn.Transformer and its masks."""

    def __init__(self):
        super().__init__()
        self.net = nn.Transformer(8, 2, 1, 1, 16, 0.0, batch_first=True)

    def forward(self, src, tgt, padding):
        mask = nn.Transformer.generate_square_subsequent_mask(tgt.size(1))
        return self.net(
            src,
            tgt,
            tgt_mask=mask,
            src_key_padding_mask=padding,
            src_is_causal=False,
            tgt_is_causal=False,  # else they are looked at
        )


class Audio(nn.Module):
    """A Fourier transform, weight norm, convolutions over time."""

    def __init__(self):
        super().__init__()
        norm = torch.nn.utils.parametrizations.weight_norm
        self.conv = norm(nn.Conv1d(9, 8, 3, padding=2, dilation=2))
        self.up = nn.ConvTranspose1d(8, 4, 4, 2, 1)
        self.register_buffer("window", torch.hann_window(16))

    def forward(self, x):
        s = torch.stft(x, 16, 8, window=self.window, return_complex=True, center=True)
        y = torch.log1p(s.abs())
        return self.up(F.elu(self.conv(y))).mean(-1)


class Bags(nn.Module):
    """Embeddings, cosine, distances, sorting."""

    def __init__(self):
        super().__init__()
        self.bag = nn.EmbeddingBag(10, 6, mode="mean")
        self.points = nn.Parameter(torch.randn(4, 6))

    def forward(self, idx):
        y = self.bag(idx)
        d = torch.cdist(y, self.points)
        top, _ = torch.topk(d, 2, dim=1)
        c = F.cosine_similarity(y.unsqueeze(1), self.points.unsqueeze(0), -1)
        return F.normalize(c, dim=-1), top.sum(1)
