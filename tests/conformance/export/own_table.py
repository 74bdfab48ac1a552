"""Programs beside those of `export_table.py`: what varies, in its forms."""

from __future__ import annotations

import torch
from export_programs import Net
from export_table import AUTO, Entry, batch, x
from torch import nn
from torch.export import Dim
from torch.nn import functional as F


class Encoder(nn.Module):
    """A transformer's encoder with a mask made of the sequence's length."""

    def __init__(self):
        super().__init__()
        layer = nn.TransformerEncoderLayer(16, 2, 32, 0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.out = nn.Linear(16, 5)

    def forward(self, x):
        size = x.size(1)
        mask = torch.full((size, size), float("-inf")).triu(1)
        return self.out(self.encoder(x, mask=mask))


class KeyValues(nn.Module):
    """Attention whose keys and values come in and go out, longer."""

    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(8, 24)
        self.out = nn.Linear(8, 8)

    def forward(self, x, cache):
        b, t, c = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, 2, c // 2).permute(2, 0, 3, 1, 4)
        k = torch.cat([cache["k"], k], 2)
        v = torch.cat([cache["v"], v], 2)
        y = F.scaled_dot_product_attention(q, k, v)
        return self.out(y.transpose(1, 2).reshape(b, t, c)), {"k": k, "v": v}


class Convolutions(nn.Module):
    """Strides, padding, pooling and interpolation of a picture of any size."""

    def __init__(self):
        super().__init__()
        self.a = nn.Conv2d(1, 4, 3, stride=2, padding=1)
        self.b = nn.Conv2d(4, 4, 5, dilation=2, padding=2)
        self.up = nn.ConvTranspose2d(4, 2, 2, stride=2)

    def forward(self, x):
        y = F.max_pool2d(F.relu(self.b(F.relu(self.a(x)))), 3, 2)
        z = F.interpolate(self.up(y), scale_factor=2)
        pooled = F.adaptive_avg_pool2d(z, (2, 3)).flatten(1)
        return pooled, F.avg_pool2d(z, 2).mean((2, 3)), z.shape[2] + z.shape[3]


class Guarded(Net):
    """Branches on sizes, which are learned."""

    def forward(self, x, y):
        z = self.fc(x)
        if x.shape[0] > 2 and y.shape[0] != x.shape[0]:
            z = torch.cat([z, self.fc(y)], 0)
        if x.shape[0] % 2 == 1:
            z = z * 2
        return z[: x.shape[0] // 2 + 1], z.sum(0) / x.shape[0]


class Derived(Net):
    """Sizes that follow from others."""

    def forward(self, x, y, z):
        return self.fc(x) + y.view(x.shape[0], 2, 4).sum(1) + z[1:]


class Products(Net):
    """Sizes that are multiplied and divided."""

    def forward(self, x):
        b, t, c = x.shape
        flat = self.fc(x).reshape(-1, c)
        pairs = flat.view(b, t * c)
        grid = pairs.unsqueeze(1) * pairs.unsqueeze(2)
        parts = flat.split(1, dim=1)
        stacked = torch.stack(parts, 2).permute(1, 0, 2).contiguous()
        rest = F.pad(pairs, (1, 2))
        return grid.flatten(), stacked, rest, rest.unfold(1, 3, 2).sum(-1)


class Buffers(nn.Module):
    """Parts of a buffer are written, of one that is not saved as well."""

    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(4, momentum=0.3)
        self.register_buffer("table", torch.zeros(3, 4))
        self.register_buffer("last", torch.zeros(4), persistent=False)

    def forward(self, x):
        y = self.norm(x)
        self.table[1] = y.mean(0).detach()
        self.table[:, 2].add_(1)
        self.last.copy_(y[-1].detach())
        return y + self.table.sum(0) + self.last


class Shifts(nn.Module):
    """No tensors of its own: only functions."""

    def forward(self, x, *more, scale=1.0):
        y = torch.roll(x, 1, 0) * scale
        for each in more:
            y = y + each
        return torch.where(y > 0, y, -y), (y @ y.T).trace(), y.argmax(1)


class Cast(Net):
    """Autocast within gradients and without."""

    def forward(self, x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            y = self.fc(x)
            with torch.no_grad():
                z = self.fc(x)
        return (y + z).float()


class Embedded(nn.Module):
    """Tied weights, positions of any length, and a loss."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(11, 8, padding_idx=0)
        self.places = nn.Embedding(32, 8)
        self.norm = nn.LayerNorm(8)
        self.head = nn.Linear(8, 11, bias=False)
        self.head.weight = self.words.weight

    def forward(self, tokens, targets):
        places = torch.arange(tokens.shape[1], device=tokens.device)
        y = self.norm(self.words(tokens) + self.places(places))
        logits = self.head(y)
        return logits, F.cross_entropy(
            logits.view(-1, logits.size(-1)), targets.reshape(-1)
        )


class CondSizes(Net):
    """A branch that uses a size and a parameter of its own."""

    def forward(self, x):
        def more(x):
            return self.fc(x) * x.shape[0]

        def less(x):
            return x - 1

        return torch.cond(x.sum() > 0, more, less, (x,))


class Mha(nn.Module):
    """nn.MultiheadAttention, with weights and a padding mask."""

    def __init__(self):
        super().__init__()
        self.mha = nn.MultiheadAttention(8, 2, batch_first=True)

    def forward(self, x, pad):
        return self.mha(x, x, x, key_padding_mask=pad)


def key_values(n):
    cache = {"k": torch.randn(n, 2, n + 1, 4), "v": torch.randn(n, 2, n + 1, 4)}
    return torch.randn(n, 1, 8), cache, {}


def more() -> list[Entry]:
    """All of them."""
    size = Dim("size", min=2, max=64)
    long = {0: AUTO, 2: AUTO}
    return [
        Entry(
            "encoder",
            Encoder,
            lambda n: (torch.randn(n, n + 4, 16),),
            ({0: Dim("b"), 1: Dim("t")},),
        ),
        Entry("key_values", KeyValues, key_values, ({0: AUTO}, {"k": long, "v": long})),
        Entry(
            "convolutions",
            Convolutions,
            lambda n: (torch.randn(n, 1, 24 + 2 * n, 23 + n),),
            ({0: AUTO, 2: AUTO, 3: AUTO},),
        ),
        Entry(
            "guarded",
            Guarded,
            lambda n: (torch.randn(n, 4), torch.randn(n + 3, 4)),
            ({0: AUTO}, {0: AUTO}),
            (3, 7),
        ),
        Entry(
            "derived",
            Derived,
            lambda n: (torch.randn(n, 4), torch.randn(2 * n, 4), torch.randn(n + 1, 4)),
            ({0: size}, {0: 2 * size}, {0: size + 1}),
        ),
        Entry(
            "products",
            Products,
            lambda n: (torch.randn(n, 2 * n, 4),),
            ({0: Dim("b"), 1: Dim("t")},),
        ),
        Entry("buffers_train", Buffers, x(4), batch(), training=True),
        Entry(
            "shifts",
            Shifts,
            lambda n: (
                torch.randn(n, 4),
                torch.randn(n, 4),
                torch.randn(n, 4),
                {"scale": 0.5},
            ),
            {"x": {0: AUTO}, "more": ({0: AUTO}, {0: AUTO}), "scale": None},
            trains=False,
        ),
        Entry("cast", Cast, x(4), batch()),
        Entry(
            "embedded",
            Embedded,
            lambda n: (
                torch.randint(0, 11, (n, n + 2)),
                torch.randint(0, 11, (n, n + 2)),
            ),
            ({0: Dim("b"), 1: Dim("t", max=32)},) * 2,
        ),
        Entry("cond_sizes", CondSizes, x(4), batch()),
        Entry(
            "mha",
            Mha,
            lambda n: (torch.randn(n, 5, 8), torch.zeros(n, 5, dtype=torch.bool)),
            batch(count=2),
        ),
        Entry(
            "auto_all",
            Encoder,
            lambda n: (torch.randn(n, n + 4, 16),),
            ((AUTO, AUTO, AUTO),),
        ),
        Entry("dynamic", Plain, x(4), ([Dim.DYNAMIC, None],)),
    ]


class Plain(Net):
    """One layer."""

    def forward(self, x):
        return self.fc(x)
