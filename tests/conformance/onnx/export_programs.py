"""Programs for export_check.py: writes their models, inputs and results.

Run by the interpreter that has hotaru: `export_programs.py FOLDER [NAME...]`.
"""

from __future__ import annotations

import json
import sys
import time
import traceback
from pathlib import Path

import hotaru.nn as nn
import hotaru.nn.functional as F

import hotaru as torch

sys.modules.setdefault("torch", torch)
sys.modules.setdefault("torch.nn", nn)
ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "bench"))

import models  # noqa: E402


class Wrap(nn.Module):
    """A function with the parameters of the given modules."""

    def __init__(self, function, **parts):
        super().__init__()
        for name, part in parts.items():
            setattr(self, name, part)
        self.function = function

    def forward(self, *args):
        return self.function(self, *args)


def conv_net(*layers):
    return nn.Sequential(*layers)


class GPT(nn.Module):
    def __init__(self, width=32, heads=4, vocabulary=50):
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        self.places = nn.Embedding(64, width)
        layer = nn.TransformerEncoderLayer(
            width, heads, 2 * width, batch_first=True, norm_first=True
        )
        self.blocks = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(width, vocabulary, bias=False)

    def forward(self, ids):
        length = ids.shape[1]
        x = self.tokens(ids) + self.places(torch.arange(length))
        mask = torch.full((length, length), float("-inf")).triu(1)
        return self.head(self.blocks(x, mask=mask))


class InPlace(nn.Module):
    def forward(self, x):
        y = x.clone()
        y[:, 0] = 3.0
        y[:, 1:3] += 1
        y[:, -1, :2] *= 2
        z = y.transpose(1, 2)
        z[:, 0] = 7
        y.relu_()
        return y, z + 1


@torch.jit.script
def by_sum(x):
    if bool(x.sum() > 0):
        return x * 2
    return x - 1


@torch.jit.script
def early(x):
    for i in range(10):
        x = x * 1.5
        if bool(x.abs().max() > 100.0):
            x = x - i
            break
        if i == 7:
            continue
        x = x + 0.25
    y = x + 1
    if bool(y.mean() > 0):
        return y
    y = y * 2
    return y - 3


@torch.jit.script
def rounds(x, n: int):
    total = torch.zeros_like(x)
    parts: list[torch.Tensor] = []
    for i in range(n):
        total = total + x * i
        if i % 2 == 0:
            parts.append(total)
        else:
            parts.append(total * 2)
    return total, torch.stack(parts), n * 2


@torch.jit.script
def until(x):
    count = 0
    while bool(x.abs().sum() > 1.0):
        x = x * 0.5
        count += 1
    return x, count


@torch.jit.script
def grows(x):
    out = x
    for i in range(x.size(0)):
        out = torch.cat([out, x[i : i + 1] * i], dim=0)
    return out


@torch.jit.script
def writes(x):
    out = torch.zeros_like(x)
    for i in range(x.size(0)):
        out[i] = x[i].cumsum(0)
        if bool(x[i].sum() > 0):
            out[i] += 1
    return out


class Scripted(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(8, 8) for _ in range(3)])
        self.gate = nn.Linear(8, 1)

    def forward(self, x, mask: torch.Tensor | None = None):
        for layer in self.layers:
            y = torch.relu(layer(x))
            x = x + y if bool(self.gate(y).mean() > 0) else x - y
        if mask is not None:
            x = x * mask
        a, b = self.halves(x)
        return a, b

    def halves(self, x) -> tuple[torch.Tensor, torch.Tensor]:
        half = x.size(1) // 2
        return x[:, :half], x[:, half:]


class Decoder(nn.Module):
    """A step of a GRU cell, as many times as asked."""

    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(6, 6)
        self.out = nn.Linear(6, 6)

    def forward(self, x, n: int):
        h = torch.zeros(x.size(0), 6)
        ys: list[torch.Tensor] = []
        for _ in range(n):
            h = self.cell(x, h)
            x = self.out(h)
            ys.append(x)
        return torch.stack(ys, 1)


def randn(*shape):
    return lambda batch: torch.randn(batch, *shape)


def seq_first(length, width):
    return lambda batch: torch.randn(length, batch, width)


def integers(high, *shape):
    return lambda batch: torch.randint(0, high, (batch, *shape))


def fixed(value):
    return lambda batch: value


def lstm(**kwargs):
    return nn.LSTM(8, 6, **kwargs)


# name: (model, makers of arguments by batch size, where the batch is in each
# argument, or None)
PROGRAMS = {
    "mlp": (nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3)), [randn(4)]),
    "activations": (
        Wrap(
            lambda s, x: [
                f(x)
                for f in (
                    F.gelu,
                    F.silu,
                    F.mish,
                    F.elu,
                    F.selu,
                    F.celu,
                    F.hardswish,
                    F.hardsigmoid,
                    F.hardtanh,
                    F.relu6,
                    F.softplus,
                    F.softsign,
                    F.leaky_relu,
                    F.logsigmoid,
                    F.tanhshrink,
                    F.softshrink,
                    F.hardshrink,
                )
            ]
        ),
        [randn(7)],
    ),
    "prelu_glu": (
        Wrap(
            lambda s, x: (s.p(x), F.glu(x, 1), F.gelu(x, approximate="tanh")),
            p=nn.PReLU(4),
        ),
        [randn(4, 5)],
    ),
    "conv1d": (
        conv_net(nn.Conv1d(3, 6, 3, 2, 1), nn.BatchNorm1d(6), nn.ReLU()),
        [randn(3, 16)],
    ),
    "conv2d_groups": (
        conv_net(
            nn.Conv2d(4, 8, 3, padding="same", groups=2),
            nn.GroupNorm(2, 8),
            nn.Conv2d(8, 4, 3, dilation=2, padding_mode="reflect", padding=1),
        ),
        [randn(4, 12, 12)],
    ),
    "conv3d": (conv_net(nn.Conv3d(2, 3, 3), nn.MaxPool3d(2)), [randn(2, 8, 8, 8)]),
    "conv_transpose": (
        conv_net(
            nn.ConvTranspose2d(3, 4, 3, 2, 1, output_padding=1),
            nn.InstanceNorm2d(4, affine=True),
        ),
        [randn(3, 7, 7)],
    ),
    "pools": (
        Wrap(
            lambda s, x: (
                F.max_pool2d(x, 3, 2, 1),
                F.avg_pool2d(x, 2, ceil_mode=False, count_include_pad=False, padding=1),
                F.adaptive_avg_pool2d(x, 1),
                F.adaptive_avg_pool2d(x, (5, 3)),
                F.adaptive_max_pool2d(x, 2),
                F.max_pool2d(x, 2, return_indices=True),
            )
        ),
        [randn(3, 12, 12)],
    ),
    "norms": (
        Wrap(
            lambda s, x: (s.a(x), s.b(x), F.normalize(x, dim=-1), s.c(x)),
            a=nn.LayerNorm(6),
            b=nn.LayerNorm((5, 6), elementwise_affine=False),
            c=nn.RMSNorm(6),
        ),
        [randn(5, 6)],
    ),
    "lstm": (lstm(), [seq_first(5, 8)], [1]),
    "lstm_batch_first": (
        lstm(num_layers=2, bidirectional=True, batch_first=True),
        [randn(5, 8)],
    ),
    "gru": (nn.GRU(8, 6, num_layers=2), [seq_first(5, 8)], [1]),
    "rnn": (
        nn.RNN(8, 6, bidirectional=True, batch_first=True, bias=False),
        [randn(5, 8)],
    ),
    "cells": (
        Wrap(
            lambda s, x, h: (s.a(x, (h, h)), s.b(x, h), s.c(x, h)),
            a=nn.LSTMCell(4, 6),
            b=nn.GRUCell(4, 6),
            c=nn.RNNCell(4, 6),
        ),
        [randn(4), randn(6)],
    ),
    "attention": (
        Wrap(
            lambda s, x: s.a(x, x, x), a=nn.MultiheadAttention(8, 2, batch_first=True)
        ),
        [randn(5, 8)],
    ),
    "sdpa": (
        Wrap(
            lambda s, q, k: (
                F.scaled_dot_product_attention(q, k, k, is_causal=True),
                F.scaled_dot_product_attention(
                    q, k, k, attn_mask=torch.ones(5, 5).tril().bool()
                ),
            )
        ),
        [randn(2, 5, 8), randn(2, 5, 8)],
    ),
    "transformer_encoder": (
        nn.TransformerEncoderLayer(8, 2, 16, batch_first=True),
        [randn(5, 8)],
    ),
    "transformer": (
        nn.Transformer(8, 2, 1, 1, 16, batch_first=True),
        [randn(5, 8), randn(4, 8)],
    ),
    "gpt": (GPT(), [integers(50, 9)]),
    "embedding": (
        Wrap(lambda s, i: (s.e(i), F.one_hot(i, 10)), e=nn.Embedding(10, 4)),
        [integers(10, 6)],
    ),
    "elementwise": (
        Wrap(
            lambda s, x, y: (
                x + 2 * y,
                x - y,
                x * y,
                x / (y.abs() + 1),
                x**2,
                x.abs() ** 0.3,
                torch.maximum(x, y),
                torch.where(x > y, x, 0.0),
                x.clamp(-0.5, 0.5),
                torch.remainder(x, 0.7),
                torch.fmod(x, 0.7),
                torch.floor_divide(x, 0.3),
                torch.atan2(x, y),
                torch.lerp(x, y, 0.3),
                torch.addcmul(x, y, y, value=0.5),
                x.sign(),
                x.round(),
                x.exp().log1p(),
                torch.expm1(x),
                x.erf(),
                x.sigmoid().logit(),
                (x > 0) & (y > 0),
                ~(x > 0),
                x.masked_fill(y > 0, -1.0),
                torch.rsqrt(x.abs() + 1),
                x.trunc(),
                x.frac(),
                x.isnan(),
            )
        ),
        [randn(5), randn(5)],
    ),
    "integers": (
        Wrap(
            lambda s, i: (
                i // 3,
                i % 3,
                -i // 2,
                i * 2.5,
                i.float().mean(),
                i + 1,
                (i > 4).long(),
                i.max(),
                i.sum(),
                i / 2,
                i.float() @ s.w,
                torch.div(-i, 3, rounding_mode="trunc"),
            ),
            w=nn.Parameter(torch.randn(6, 2)),
        ),
        [integers(10, 6)],
    ),
    "reductions": (
        Wrap(
            lambda s, x: (
                x.sum(),
                x.mean(1),
                x.amax((1, 2)),
                x.var(0 + 1),
                x.std((1, 2)),
                x.prod(2),
                x.logsumexp(1),
                x.norm(),
                x.norm(p=1, dim=1),
                x.max(1),
                x.argmin(2),
                x.argmax(),
                x.cumsum(1),
                (x > 0).any(1),
                (x > -9).all(),
                x.var(0, unbiased=False),
                torch.var_mean(x, 2),
                x.mean(0, keepdim=True),
                torch.linalg.vector_norm(x, 3, 1),
                x.std(0) if False else x.min(),
            )
        ),
        [randn(4, 5)],
    ),
    "shapes": (
        Wrap(
            lambda s, x: (
                x.view(x.size(0), -1),
                x.reshape(-1, 4),
                x.flatten(1),
                x.permute(2, 0, 1),
                x.transpose(0, 1),
                x.unsqueeze(1).squeeze(1),
                x[:, 1:, ::2],
                x[..., 0],
                x[:, None],
                x[:, -1],
                x.expand(2, -1, -1, -1),
                x.repeat(1, 2, 1),
                torch.cat([x, x], 1),
                torch.stack([x, x], 0),
                x.split(1, 1),
                x.chunk(2, 2),
                x.unbind(1),
                x.flip(2),
                x.roll(1, 2),
                F.pad(x, (1, 2)),
                F.pad(x, (1, 1), mode="circular"),
                x.unflatten(2, (2, 2)),
                x.movedim(0, -1),
                x.tril(),
                x.diagonal(0, 1, 2),
                x.repeat_interleave(2, 1),
                x.narrow(1, 1, 2),
                x.unfold(2, 2, 1),
                torch.meshgrid(x[0, 0], x[0, 1], indexing="ij"),
                x.new_zeros(2, 3),
                torch.zeros_like(x) + x.shape[0],
                torch.arange(x.size(0)) * 2,
                x.sum(1, keepdim=True).expand_as(x),
            )
        ),
        [randn(3, 4)],
    ),
    "indexing": (
        Wrap(
            lambda s, x, i: (
                x[:, i[0]],
                x[torch.arange(x.size(0)), 0],
                x.gather(1, i),
                x.index_select(1, i[0]),
                x.scatter(1, i, 0.5),
                x.scatter_add(1, i, x[:, :4]),
                x[x > 0],
                x.masked_select(x > 0),
                (x > 0).nonzero(),
                x.topk(2),
                x.sort(1, descending=True),
                torch.take_along_dim(x, i, 1),
                x[:, [2, 0]],
                x[:, i[0], None],
                x.argsort(1),
                torch.where(x > 0)[0],
            )
        ),
        [randn(6), integers(6, 4)],
    ),
    "in_place": (InPlace(), [randn(4, 5)]),
    "resize": (
        Wrap(
            lambda s, x: (
                F.interpolate(x, scale_factor=2),
                F.interpolate(x, size=(9, 7), mode="bilinear"),
                F.interpolate(x, scale_factor=1.5, mode="bilinear", align_corners=True),
                F.interpolate(x, size=(11, 13), mode="bicubic"),
                F.interpolate(x, scale_factor=0.5, mode="nearest-exact"),
                F.pixel_shuffle(x, 2),
                F.pixel_unshuffle(x, 2),
                F.grid_sample(
                    x, s.grid.expand(x.size(0), -1, -1, -1), align_corners=False
                ),
            ),
            grid=nn.Parameter(torch.rand(1, 4, 5, 2) * 2 - 1),
        ),
        [randn(4, 6, 8)],
    ),
    "losses": (
        Wrap(
            lambda s, x, y, t: (
                F.mse_loss(x, y),
                F.l1_loss(x, y, reduction="sum"),
                F.smooth_l1_loss(x, y),
                F.huber_loss(x, y),
                F.cross_entropy(x, t),
                F.nll_loss(F.log_softmax(x, 1), t),
                F.binary_cross_entropy_with_logits(x, y.sigmoid()),
                F.binary_cross_entropy(x.sigmoid(), y.sigmoid()),
                F.kl_div(F.log_softmax(x, 1), F.softmax(y, 1), reduction="batchmean"),
                F.cosine_similarity(x, y),
                F.pairwise_distance(x, y),
                torch.cdist(x, y),
            )
        ),
        [randn(5), randn(5), lambda b: torch.randint(0, 5, (b,))],
    ),
    "matrices": (
        Wrap(
            lambda s, x, y: (
                x @ y,
                torch.einsum("bij,bjk->bik", x, y),
                torch.bmm(x, y),
                torch.baddbmm(x @ y, x, y, alpha=0.5),
                s.b(x, y.transpose(1, 2)),
                x[0] @ y[0],
                torch.outer(x[0, 0], y[0, 0]),
                s.l(x),
                torch.addmm(s.l.bias, x[0], s.l.weight.t()),
            ),
            b=nn.Bilinear(4, 4, 3),
            l=nn.Linear(4, 5),
        ),
        [randn(3, 4), randn(4, 3)],
    ),
    "weight_norm": (nn.utils.parametrizations.weight_norm(nn.Linear(4, 3)), [randn(4)]),
    "dict_output": (Wrap(lambda s, x: {"a": x + 1, "b": [x, x * 2]}), [randn(3)]),
    "if": (by_sum, [randn(3)]),
    "early_return": (early, [randn(3)]),
    "loop": (rounds, [randn(3), fixed(5)]),
    "while": (until, [randn(3)]),
    "grows": (grows, [randn(3)]),
    "writes": (writes, [randn(3)]),
    "scripted": (torch.jit.script(Scripted()), [randn(8)]),
    "decoder": (torch.jit.script(Decoder()), [randn(6), fixed(4)]),
}
for _name in models.MODELS:
    if "LSTM" in _name or "transformer" in _name or _name == "MLP":
        PROGRAMS[_name] = (*models.make(_name), None)
    else:
        _model, (_x,) = models.make(_name)
        PROGRAMS[_name] = (_model, [randn(*_x.shape[1:])])


def leaves(value) -> list:
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (tuple, list)):
        return [x for each in value for x in leaves(each)]
    return [] if value is None else [torch.tensor(value)]


def write(name: str, folder: Path) -> dict:
    model, makers, *where = PROGRAMS[name]
    if isinstance(model, nn.Module):
        model.eval()
    static = where == [None]
    dims = where[0] if where and where[0] else [0] * len(makers)
    torch.manual_seed(0)
    batches = [1] if static else [2, 1, 5]
    args = makers if static else tuple(make(2) for make in makers)
    names = [f"in{i}" for i in range(len(args))]
    axes = (
        {}
        if static
        else {
            n: {d: "batch"}
            for n, d, a in zip(names, dims, args)
            if isinstance(a, torch.Tensor)
        }
    )
    start = time.perf_counter()
    program = torch.onnx.export(
        model, tuple(args), input_names=names, dynamic_axes=axes
    )
    seconds = time.perf_counter() - start
    program.save(folder / f"{name}.onnx")
    cases = []
    for batch in batches:
        given = args if static else [make(batch) for make in makers]
        with torch.no_grad():
            expected = leaves(model(*given))
            again = program(*given)
        worst = 0.0
        for a, b in zip(again, expected):
            a, b = torch.as_tensor(a).double(), b.double()
            if a.shape != b.shape:
                raise RuntimeError(f"hotaru: {tuple(a.shape)} for {tuple(b.shape)}")
            gap = (a - b).abs().nan_to_num(0, 0, 0)
            worst = max(worst, float(gap.max()) if gap.numel() else 0.0)
        cases.append(
            {
                "inputs": [leaves(x)[0].numpy() for x in given],
                "outputs": [x.numpy() for x in expected],
                "hotaru": worst,
            }
        )
    import numpy as np

    arrays = {}
    for i, case in enumerate(cases):
        for kind in ("inputs", "outputs"):
            for j, array in enumerate(case[kind]):
                arrays[f"{i}/{kind}/{j}"] = array
    np.savez(folder / f"{name}.npz", **arrays)
    return {
        "cases": len(cases),
        "hotaru": max(c["hotaru"] for c in cases),
        "ms": 1e3 * seconds,
        "nodes": sum(program.operators().values()),
    }


def main() -> None:
    folder = Path(sys.argv[1])
    facts = {}
    for name in sys.argv[2:] or PROGRAMS:
        try:
            facts[name] = write(name, folder)
        except Exception as error:
            facts[name] = {"error": f"{type(error).__name__}: {error}"}
            if len(sys.argv) > 2:
                traceback.print_exc()
    (folder / "facts.json").write_text(json.dumps(facts, indent=1))


if __name__ == "__main__":
    main()
