"""Networks for bench/onnx_networks.py, written against `torch`.

PyTorch exports them, with random weights; hotaru builds them from hotaru.nn,
too, to say how many kernels a network needs that was never an ONNX file.

    onnx_models.py FOLDER    writes a file for each network (PyTorch)
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch
import torch.nn as nn
import torch.nn.functional as F
from models import convolution

TOKENS = 4000


def mlp():
    """784 to 512 to 512 to 10."""
    layers = [nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(512, 10))


class Bottleneck(nn.Module):
    """ResNet-50's block: 1 x 1, 3 x 3, 1 x 1 beside a short cut."""

    def __init__(self, inputs, width, stride):
        super().__init__()
        self.body = nn.Sequential(
            convolution(inputs, width, 1),
            convolution(width, width, 3, stride),
            convolution(width, 4 * width, 1, relu=False),
        )
        self.cut = nn.Identity()
        if stride != 1 or inputs != 4 * width:
            self.cut = convolution(inputs, 4 * width, 1, stride, relu=False)

    def forward(self, x):
        return torch.relu(self.body(x) + self.cut(x))


def resnet():
    """ResNet-50."""
    layers = [convolution(3, 64, 7, 2), nn.MaxPool2d(3, 2, 1)]
    inputs = 64
    for i, count in enumerate((3, 4, 6, 3)):
        for j in range(count):
            stride = 2 if i and not j else 1
            layers += [Bottleneck(inputs, 64 << i, stride)]
            inputs = 256 << i
    layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten()]
    return nn.Sequential(*layers, nn.Linear(2048, 1000))


class Squeeze(nn.Module):
    """A channel's weight from all channels' means."""

    def __init__(self, width, inner):
        super().__init__()
        self.down, self.up = (nn.Conv2d(width, inner, 1), nn.Conv2d(inner, width, 1))

    def forward(self, x):
        y = F.silu(self.down(F.adaptive_avg_pool2d(x, 1)))
        return x * torch.sigmoid(self.up(y))


class Inverted(nn.Module):
    """MobileNetV2's block, or EfficientNet's: wide within, narrow without."""

    def __init__(self, inputs, outputs, stride, expand, kernel=3, squeeze=False):
        super().__init__()
        width = inputs * expand
        act = nn.SiLU if squeeze else nn.ReLU6

        def block(*arguments, **options):
            layers = convolution(*arguments, **options, relu=False)
            return nn.Sequential(*layers, act())

        layers = [block(inputs, width, 1)] if expand != 1 else []
        layers += [block(width, width, kernel, stride, groups=width)]
        if squeeze:
            layers += [Squeeze(width, max(1, inputs // 4))]
        layers += [convolution(width, outputs, 1, relu=False)]
        self.body = nn.Sequential(*layers)
        self.residual = stride == 1 and inputs == outputs

    def forward(self, x):
        return x + self.body(x) if self.residual else self.body(x)


def mobilenet():
    """MobileNetV2."""
    act = nn.ReLU6
    layers = [*convolution(3, 32, 3, 2, relu=False), act()]
    inputs = 32
    for expand, outputs, count, stride in (
        (1, 16, 1, 1),
        (6, 24, 2, 2),
        (6, 32, 3, 2),
        (6, 64, 4, 2),
        (6, 96, 3, 1),
        (6, 160, 3, 2),
        (6, 320, 1, 1),
    ):
        for j in range(count):
            layers += [Inverted(inputs, outputs, 1 if j else stride, expand)]
            inputs = outputs
    layers += [*convolution(320, 1280, 1, relu=False), act()]
    layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(1280, 1000)]
    return nn.Sequential(*layers)


def efficientnet():
    """EfficientNet-B0: SiLU, and channels weighed by their means."""
    layers = [*convolution(3, 32, 3, 2, relu=False), nn.SiLU()]
    inputs = 32
    for expand, outputs, count, stride, kernel in (
        (1, 16, 1, 1, 3),
        (6, 24, 2, 2, 3),
        (6, 40, 2, 2, 5),
        (6, 80, 3, 2, 3),
        (6, 112, 3, 1, 5),
        (6, 192, 4, 2, 5),
        (6, 320, 1, 1, 3),
    ):
        for j in range(count):
            step = 1 if j else stride
            layers += [Inverted(inputs, outputs, step, expand, kernel, True)]
            inputs = outputs
    layers += [*convolution(320, 1280, 1, relu=False), nn.SiLU()]
    layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(1280, 1000)]
    return nn.Sequential(*layers)


class UNet(nn.Module):
    """Four levels down and up, 32 to 256 channels."""

    def __init__(self, width=32, levels=4):
        super().__init__()

        def twice(inputs, outputs):
            first = convolution(inputs, outputs, 3)
            return nn.Sequential(first, convolution(outputs, outputs, 3))

        widths = [width << i for i in range(levels)]
        self.down = nn.ModuleList(twice(a, b) for a, b in zip([3, *widths], widths))
        pairs = list(zip(widths[1:], widths))[::-1]
        self.up = nn.ModuleList(nn.ConvTranspose2d(a, b, 2, stride=2) for a, b in pairs)
        self.join = nn.ModuleList(twice(2 * b, b) for a, b in pairs)
        self.last = nn.Conv2d(width, 2, 1)

    def forward(self, x):
        kept = []
        for i, block in enumerate(self.down):
            x = block(F.max_pool2d(x, 2) if i else x)
            kept.append(x)
        kept.pop()
        for up, join in zip(self.up, self.join):
            x = join(torch.cat([up(x), kept.pop()], dim=1))
        return self.last(x)


class Attention(nn.Module):
    """Attention by hand (`sdpa` False) or by PyTorch's one function."""

    def __init__(self, width, heads, sdpa, causal=False):
        super().__init__()
        self.heads, self.sdpa, self.causal = heads, sdpa, causal
        self.q, self.k, self.v, self.out = (nn.Linear(width, width) for _ in range(4))

    def forward(self, x, mask=None):
        batch, length, width = x.shape

        def split(y):
            return y.view(batch, length, self.heads, -1).transpose(1, 2)

        q, k, v = split(self.q(x)), split(self.k(x)), split(self.v(x))
        if self.sdpa:
            y = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        else:
            scores = q @ k.transpose(-1, -2) / (width // self.heads) ** 0.5
            if mask is not None:
                scores = scores + mask
            y = scores.softmax(-1) @ v
        return self.out(y.transpose(1, 2).reshape(batch, length, width))


class Layer(nn.Module):
    """A transformer's layer, with its norms before the parts or behind."""

    def __init__(self, width, heads, sdpa, first=True, causal=False):
        super().__init__()
        self.attention = Attention(width, heads, sdpa, causal)
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)
        self.first = first

    def forward(self, x, mask=None):
        if self.first:
            x = x + self.attention(self.norm1(x), mask)
            return x + self.down(F.gelu(self.up(self.norm2(x))))
        x = self.norm1(x + self.attention(x, mask))
        return self.norm2(x + self.down(F.gelu(self.up(x))))


class Bert(nn.Module):
    """BERT-base: attention by hand, a mask of what is padding."""

    def __init__(self, width=768, heads=12, layers=12):
        super().__init__()
        self.token = nn.Embedding(TOKENS, width)
        self.place = nn.Embedding(512, width)
        self.kind = nn.Embedding(2, width)
        self.norm = nn.LayerNorm(width)
        self.layers = nn.ModuleList(
            Layer(width, heads, sdpa=False, first=False) for _ in range(layers)
        )
        self.pool = nn.Linear(width, width)

    def forward(self, tokens, mask):
        places = torch.arange(tokens.shape[1], device=tokens.device)
        kinds = torch.zeros_like(tokens)
        x = self.token(tokens) + self.place(places)[None] + self.kind(kinds)
        x = self.norm(x)
        mask = (1.0 - mask[:, None, None, :].to(x.dtype)) * -1e4
        for layer in self.layers:
            x = layer(x, mask)
        return x, torch.tanh(self.pool(x[:, 0]))


class Vit(nn.Module):
    """ViT-small: 196 patches of 16 x 16 and a token for the class."""

    def __init__(self, width=384, heads=6, layers=12):
        super().__init__()
        self.patch = nn.Conv2d(3, width, 16, 16)
        self.token = nn.Parameter(torch.randn(1, 1, width) * 0.02)
        self.place = nn.Parameter(torch.randn(1, 197, width) * 0.02)
        self.layers = nn.ModuleList(
            Layer(width, heads, sdpa=True) for _ in range(layers)
        )
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, 1000)

    def forward(self, x):
        x = self.patch(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(x.shape[0], -1, -1), x], dim=1)
        x = x + self.place
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x)[:, 0])


class Gpt(nn.Module):
    """A causal transformer, 6 layers of 384, that reads 256 tokens."""

    def __init__(self, width=384, heads=6, layers=6):
        super().__init__()
        self.token = nn.Embedding(TOKENS, width)
        self.place = nn.Embedding(256, width)
        self.layers = nn.ModuleList(
            Layer(width, heads, sdpa=True, causal=True) for _ in range(layers)
        )
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, TOKENS, bias=False)

    def forward(self, tokens):
        places = torch.arange(tokens.shape[1], device=tokens.device)
        x = self.token(tokens) + self.place(places)
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x))


class Language(nn.Module):
    """Two layers of an LSTM, 512 wide, over words."""

    def __init__(self, width=512):
        super().__init__()
        self.token = nn.Embedding(TOKENS, width)
        self.lstm = nn.LSTM(width, width, 2, batch_first=True)
        self.head = nn.Linear(width, TOKENS)

    def forward(self, tokens):
        return self.head(self.lstm(self.token(tokens))[0])


class Speech(nn.Module):
    """Two convolutions of spectra, two layers of a GRU in both directions."""

    def __init__(self, bands=80, width=256):
        super().__init__()
        self.first = nn.Conv1d(bands, width, 5, 2, 2)
        self.second = nn.Conv1d(width, width, 5, 1, 2)
        self.gru = nn.GRU(width, width, 2, bidirectional=True, batch_first=True)
        self.head = nn.Linear(2 * width, 32)

    def forward(self, x):
        x = torch.relu(self.second(torch.relu(self.first(x))))
        return self.head(self.gru(x.transpose(1, 2))[0]).log_softmax(-1)


class Shift(nn.Module):
    """ConvNeXt's block: a wide depthwise kernel, the rest channels last."""

    def __init__(self, width):
        super().__init__()
        self.deep = nn.Conv2d(width, width, 7, padding=3, groups=width)
        self.norm = nn.LayerNorm(width, eps=1e-6)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)
        self.scale = nn.Parameter(torch.ones(width) * 0.1)

    def forward(self, x):
        y = self.norm(self.deep(x).permute(0, 2, 3, 1))
        y = self.scale * self.down(F.gelu(self.up(y)))
        return x + y.permute(0, 3, 1, 2)


class ChannelNorm(nn.LayerNorm):
    """A layer norm over the channels of pictures."""

    def forward(self, x):
        return super().forward(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


def convnext():
    """ConvNeXt, half as wide as its smallest."""
    widths, counts = (48, 96, 192, 384), (3, 3, 9, 3)
    layers = [nn.Conv2d(3, 48, 4, 4), ChannelNorm(48)]
    for i, (width, count) in enumerate(zip(widths, counts)):
        if i:
            layers += [ChannelNorm(widths[i - 1])]
            layers += [nn.Conv2d(widths[i - 1], width, 2, 2)]
        layers += [Shift(width) for _ in range(count)]
    layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.LayerNorm(384)]
    return nn.Sequential(*layers, nn.Linear(384, 1000))


def picture(size, batch=1):
    return lambda: (torch.randn(batch, 3, size, size),)


def tokens(length):
    return lambda: (torch.randint(TOKENS, (1, length)),)


def masked(length):
    def make():
        mask = torch.ones(1, length, dtype=torch.int64)
        mask[:, length * 3 // 4 :] = 0
        return (*tokens(length)(), mask)

    return make


# Makers of the models, their arguments, and whether the older exporter writes
# them.
MODELS = {
    "MLP": (mlp, lambda: (torch.randn(1, 784),), False),
    "ResNet-50": (resnet, picture(224), False),
    "ResNet-50, batch 8": (resnet, picture(224, 8), False),
    "MobileNetV2": (mobilenet, picture(224), True),
    "EfficientNet-B0": (efficientnet, picture(224), False),
    "UNet": (UNet, picture(128), False),
    "BERT-base, 128 tokens": (Bert, masked(128), True),
    "ViT-small": (Vit, picture(224), False),
    "GPT, 256 tokens": (Gpt, tokens(256), False),
    "LSTM language model": (Language, tokens(64), False),
    "bidirectional GRU": (Speech, lambda: (torch.randn(1, 80, 200),), True),
    "ConvNeXt": (convnext, picture(224), False),
}


def make(name):
    """The model with fresh weights, in eval mode, and its arguments."""
    build, arguments, _ = MODELS[name]
    torch.manual_seed(0)
    return build().eval(), arguments()


def stem(name):
    """The file's name without its ending."""
    words = "".join(c if c.isalnum() else " " for c in name.lower()).split()
    return "_".join(words)


def export(name, folder):
    """Writes the network by PyTorch's exporter, and its arguments beside it."""
    import numpy

    model, arguments = make(name)
    path = Path(folder) / f"{stem(name)}.onnx"
    inputs = {f"x{i}": one.numpy() for i, one in enumerate(arguments)}
    numpy.savez(path.with_suffix(".npz"), **inputs)
    older = MODELS[name][2]
    # Sizes that vary make the older exporter compute with shapes.
    options = {"dynamic_axes": dynamic(arguments)} if older else {}
    torch.onnx.export(
        model,
        arguments,
        str(path),
        dynamo=not older,
        input_names=list(inputs),
        **options,
    )
    return path


def dynamic(arguments):
    """Batches, and lengths of texts, may be any."""
    axes = {2: {0: "batch", 1: "length"}}
    return {
        f"x{i}": axes.get(one.dim(), {0: "batch"}) for i, one in enumerate(arguments)
    }


if __name__ == "__main__":
    for each in MODELS:
        print(export(each, sys.argv[1]), flush=True)
