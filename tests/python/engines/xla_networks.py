"""Networks of several kinds, small, with inputs of a batch size."""

from __future__ import annotations

import hotaru.nn.functional as F

import hotaru as torch
from hotaru import nn


class Residual(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.a = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.b = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.na, self.nb = nn.BatchNorm2d(outputs), nn.BatchNorm2d(outputs)
        self.short = nn.Conv2d(inputs, outputs, 1, stride)

    def forward(self, x):
        y = F.relu(self.na(self.a(x)), inplace=True)
        y = self.nb(self.b(y))
        y += self.short(x)
        return F.relu(y)


def resnet():
    return nn.Sequential(
        nn.Conv2d(3, 8, 7, 2, 3),
        nn.BatchNorm2d(8),
        nn.ReLU(inplace=True),
        nn.MaxPool2d(3, 2, 1),
        Residual(8, 8, 1),
        Residual(8, 16, 2),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(16, 10),
    )


class Depthwise(nn.Module):
    def __init__(self, n, wide, stride):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(n, wide, 1, bias=False),
            nn.BatchNorm2d(wide),
            nn.ReLU6(inplace=True),
            nn.Conv2d(wide, wide, 3, stride, 1, groups=wide, bias=False),
            nn.BatchNorm2d(wide),
            nn.Hardswish(),
            nn.Conv2d(wide, n, 1, bias=False),
            nn.BatchNorm2d(n),
        )
        self.gate = nn.Sequential(
            nn.AdaptiveAvgPool2d(1), nn.Conv2d(n, n, 1), nn.Hardsigmoid()
        )
        self.stride = stride

    def forward(self, x):
        y = self.layers(x)
        y = y * self.gate(y)
        return x + y if self.stride == 1 else y


def mobilenet():
    return nn.Sequential(
        nn.Conv2d(3, 8, 3, 2, 1),
        Depthwise(8, 24, 1),
        Depthwise(8, 24, 2),
        nn.AvgPool2d(2, ceil_mode=True),
        nn.Flatten(),
        nn.LazyLinear(5),
    )


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down1 = nn.Conv2d(1, 8, 3, padding=1)
        self.down2 = nn.Conv2d(8, 16, 3, padding="same")
        self.up = nn.ConvTranspose2d(16, 8, 2, 2)
        self.out1 = nn.Conv2d(16, 8, 3, padding=1)
        self.norm = nn.GroupNorm(2, 8)
        self.out2 = nn.Conv2d(16, 2, 1)

    def forward(self, x):
        a = F.relu(self.down1(x))
        b = F.leaky_relu(self.down2(F.max_pool2d(a, 2)), 0.1)
        c = self.norm(self.out1(torch.cat([self.up(b), a], 1)))
        wide = F.interpolate(b, size=c.shape[2:], mode="bilinear", align_corners=False)
        low = F.interpolate(F.silu(b), scale_factor=2.0)
        return torch.sigmoid(self.out2(wide + low)) * F.pad(
            torch.tanh(c).mean(1, keepdim=True)[..., 1:], (1, 0)
        )


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(6, 8, num_layers=2, batch_first=True, bidirectional=True)
        self.gru = nn.GRU(16, 7, batch_first=True)
        self.head = nn.Linear(7, 3)

    def forward(self, x):
        y, (h, c) = self.lstm(x)
        y, last = self.gru(y)
        return self.head(y[:, -1]), h, c, last


class Attention(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.heads = heads
        self.register_buffer("mask", torch.tril(torch.ones(32, 32)).view(1, 1, 32, 32))

    def forward(self, x):
        b, t, d = x.size()
        q, k, v = (
            y.view(b, t, self.heads, d // self.heads).transpose(1, 2)
            for y in self.qkv(x).split(d, dim=2)
        )
        att = (q @ k.transpose(-2, -1)) * (1.0 / (d // self.heads) ** 0.5)
        att = att.masked_fill(self.mask[:, :, :t, :t] == 0, float("-inf"))
        y = (F.softmax(att, dim=-1) @ v).transpose(1, 2)
        y = y + F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2)
        return self.out(y.contiguous().view(b, t, d))


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens, self.places = nn.Embedding(50, 16), nn.Embedding(32, 16)
        self.norms = nn.ModuleList([nn.LayerNorm(16) for _ in range(4)])
        self.attention = nn.ModuleList([Attention(16, 4) for _ in range(2)])
        self.mlps = nn.ModuleList(
            [
                nn.Sequential(
                    nn.Linear(16, 64),
                    nn.GELU(approximate="tanh"),
                    nn.Linear(64, 16),
                    nn.Dropout(0.1),
                )
                for _ in range(2)
            ]
        )
        self.head = nn.Linear(16, 50, bias=False)
        self.head.weight = self.tokens.weight

    def forward(self, ids):
        at = torch.arange(ids.shape[1], device=ids.device)
        x = self.tokens(ids) + self.places(at)
        for i, (attend, mlp) in enumerate(zip(self.attention, self.mlps)):
            x = x + attend(self.norms[2 * i](x))
            x = x + mlp(self.norms[2 * i + 1](x))
        return F.log_softmax(self.head(x), -1)


class ViT(nn.Module):
    def __init__(self):
        super().__init__()
        self.patch = nn.Conv2d(3, 16, 4, 4)
        self.token = nn.Parameter(torch.randn(1, 1, 16))
        self.place = nn.Parameter(torch.randn(1, 17, 16))
        layer = nn.TransformerEncoderLayer(
            16, 2, 32, activation="gelu", batch_first=True, norm_first=True
        )
        self.body = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(16, 10)

    def forward(self, x):
        x = self.patch(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(x.shape[0], -1, -1), x], dim=1)
        return self.head(self.body(x + self.place)[:, 0])


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        layer = nn.TransformerEncoderLayer(16, 4, 32, batch_first=True)
        self.body = nn.TransformerEncoder(layer, 2)

    def forward(self, x):
        hidden = torch.zeros(x.shape[:2], dtype=torch.bool)
        hidden[:, -2:] = True
        mask = nn.Transformer.generate_square_subsequent_mask(x.shape[1])
        y = self.body(x, mask=mask == float("-inf"))
        return y + self.body(x, src_key_padding_mask=hidden)


class ConvNeXt(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 4, 4)
        self.wide = nn.Conv2d(8, 8, 7, padding=3, groups=8)
        self.norm = nn.LayerNorm(8, eps=1e-6)
        self.up, self.down = nn.Linear(8, 32), nn.Linear(32, 8)
        self.scale = nn.Parameter(torch.full((8,), 0.5))
        self.head = nn.Linear(8, 4)

    def forward(self, x):
        x = self.stem(x)
        y = self.norm(self.wide(x).permute(0, 2, 3, 1))
        y = self.scale * self.down(F.gelu(self.up(y)))
        x = x + y.permute(0, 3, 1, 2)
        return self.head(x.mean([-2, -1]))


def autoencoder():
    return nn.Sequential(
        nn.Conv2d(1, 6, 3, 2, 1),
        nn.PReLU(6),
        nn.Conv2d(6, 12, 3, 2, 1),
        nn.ELU(),
        nn.Flatten(1),
        nn.Linear(192, 10),
        nn.Softplus(),
        nn.Linear(10, 192),
        nn.Unflatten(1, (12, 4, 4)),
        nn.ConvTranspose2d(12, 6, 3, 2, 1, output_padding=1),
        nn.Mish(),
        nn.ConvTranspose2d(6, 4, 4, 2, 1, groups=2),
        nn.SELU(),
        nn.ConvTranspose2d(4, 1, 3, padding=2, dilation=2),
        nn.Sigmoid(),
    )


class Bag(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(40, 12, padding_idx=0)
        self.head = nn.Linear(24, 5)

    def forward(self, ids):
        x = self.words(ids)
        real = (ids != 0).unsqueeze(-1)
        mean = (x * real).sum(1) / real.sum(1).clamp(min=1)
        best = x.masked_fill(~real, -1e9).max(dim=1)[0]
        y = self.head(torch.cat([mean, best], -1))
        return y.softmax(-1), y.argmax(-1), y.var(1), y.cumsum(1)


def _image(channels, size):
    return lambda n: torch.randn(n, channels, size, size)


def _words(limit, length):
    return lambda n: torch.randint(0, limit, (n, length))


NETWORKS = {
    "mlp": (
        lambda: nn.Sequential(
            nn.Linear(8, 32),
            nn.ReLU(inplace=True),
            nn.Linear(32, 32),
            nn.Tanh(),
            nn.Linear(32, 4),
            nn.LogSoftmax(-1),
        ),
        lambda n: torch.randn(n, 8),
    ),
    "cnn": (
        lambda: nn.Sequential(
            nn.Conv2d(1, 4, 3),
            nn.BatchNorm2d(4),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(4, 8, 3, 2, 1, 2),
            nn.GELU(),
            nn.AdaptiveAvgPool2d(3),
            nn.Flatten(),
            nn.Linear(72, 3),
        ),
        _image(1, 20),
    ),
    "resnet": (resnet, _image(3, 32)),
    "mobilenet": (mobilenet, _image(3, 30)),
    "unet": (UNet, _image(1, 16)),
    "recurrent": (Recurrent, lambda n: torch.randn(n, 9, 6)),
    "encoder": (Encoder, lambda n: torch.randn(n, 7, 16)),
    "gpt": (GPT, _words(50, 11)),
    "vit": (ViT, _image(3, 16)),
    "convnext": (ConvNeXt, _image(3, 32)),
    "autoencoder": (autoencoder, _image(1, 16)),
    "bag": (Bag, _words(40, 9)),
}


def network(name: str):
    """The network in eval mode with statistics that are no defaults, and what
    makes its inputs.
    """
    torch.manual_seed(3)
    make, inputs = NETWORKS[name]
    model = make()
    with torch.no_grad():
        model(inputs(2))  # lazy layers find their sizes
        for part in model.modules():
            if isinstance(part, nn.BatchNorm2d):
                part.running_mean.normal_()
                part.running_var.uniform_(0.5, 2)
    return model.eval(), inputs
