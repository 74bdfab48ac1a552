"""Programs that are exported: models, inputs of two sizes, what may vary."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import export_programs as p
import export_sequence as s
import export_vision as v
import torch
from torch import nn
from torch.export import Dim

AUTO = Dim.AUTO


@dataclasses.dataclass
class Entry:
    """A model to export and the calls to compare."""

    name: str
    make: Callable
    # Arguments (and perhaps a dict of keywords) for a batch of that size.
    inputs: Callable
    # Sizes that may vary, as torch.export takes them.
    shapes: object = None
    # Calls with batches of these sizes; the first is exported.
    batches: tuple = (3, 5)
    # Exported and called in training mode.
    training: bool = False
    # Set if gradients and steps are compared.
    trains: bool = True
    # Set if a decomposed program is compared as well.
    decomposed: bool = True
    # False where decomposing drops a detach(), and so changes gradients.
    trains_decomposed: bool = True
    strict: bool = False


def x(*size):
    """Inputs of a batch of such elements."""
    return lambda n: (torch.randn(n, *size),)


def batch(*names, count=1):
    """The first dimension of every argument varies."""
    return tuple({0: Dim("batch", min=1, max=64)} for _ in range(count))


def cached(n):
    return torch.randn(1, n, 8), torch.arange(n)


def gpt(n):
    return torch.randint(0, 20, (n, 7)), torch.randint(0, 20, (n, 7))


def translator(n):
    padding = torch.zeros(n, 5, dtype=torch.bool)
    padding[0, -1] = True
    return torch.randn(n, 5, 8), torch.randn(n, 4, 8), padding


def trees(n):
    xs = [torch.randn(n, 4), torch.randn(n, 4)]
    pair = (torch.randn(n, 4), torch.randn(n, 4))
    inputs = {"x": torch.randn(n, 4), "list": xs}
    return inputs, pair, {"scale": [torch.randn(4)]}


def keywords(n):
    return torch.randn(n, 4), {"bias": torch.randn(4), "gain": 2.0}


def plain(n):
    return torch.randn(n, 4), 3, 0.5, True, None, "text"


def entries() -> list[Entry]:
    """All of them."""
    return [*_layers(), *_texts(), *_forms()]


def _layers() -> list[Entry]:
    first = batch()
    return [
        Entry("mlp", p.Mlp, x(4), first),
        Entry("mlp_static", p.Mlp, x(4), None, (3, 3)),
        Entry(
            "mlp_bf16",
            lambda: p.Mlp(torch.bfloat16),
            lambda n: (torch.randn(n, 4).bfloat16(),),
            first,
        ),
        Entry(
            "mlp_f64",
            lambda: p.Mlp(torch.float64),
            lambda n: (torch.randn(n, 4).double(),),
            first,
        ),
        Entry("bn", p.BatchNorms, x(2, 9), first),
        Entry("bn_train", p.BatchNorms, x(2, 9), first, training=True),
        Entry(
            "dropout_train", p.Dropouts, x(4), first, training=True, decomposed=False
        ),
        Entry("dropout_eval", p.Dropouts, x(4), first),
        Entry("resnet", v.ResNet, x(3, 32, 32), first),
        Entry("resnet_train", v.ResNet, x(3, 32, 32), first, training=True),
        Entry("mobilenet", v.MobileNet, x(3, 16, 16), first),
        Entry("mobilenet_strict", v.MobileNet, x(3, 16, 16), first, strict=True),
        Entry("unet", v.UNet, x(1, 16, 16), first),
        Entry("upscaler", v.Upscaler, x(1, 6, 6), first),
        Entry("vit", v.ViT, x(3, 16, 16), first),
        Entry("vit_train", v.ViT, x(3, 16, 16), first, training=True),
        Entry(
            "lstm", lambda: s.Recurrent(nn.LSTM, 4, 6, batch_first=True), x(5, 4), first
        ),
        Entry(
            "bilstm",
            lambda: s.Recurrent(
                nn.LSTM, 4, 6, num_layers=2, bidirectional=True, batch_first=True
            ),
            x(5, 4),
            first,
        ),
        Entry(
            "gru",
            lambda: s.Recurrent(nn.GRU, 4, 6, bidirectional=True, batch_first=True),
            x(5, 4),
            first,
        ),
        Entry(
            "rnn", lambda: s.Recurrent(nn.RNN, 4, 6, batch_first=True), x(5, 4), first
        ),
        Entry("cells", s.Cells, x(3, 4), first),
    ]


def _texts() -> list[Entry]:
    first = batch()
    return [
        Entry("gpt", s.GPT, gpt, batch(count=2)),
        Entry("gpt_untied", lambda: s.GPT(False), gpt, batch(count=2), training=True),
        Entry(
            "cached",
            s.Cached,
            cached,
            ({1: AUTO}, {0: AUTO}),
            (3, 5),
            trains_decomposed=False,
        ),
        Entry(
            "rotary", s.Rotary, x(6, 16), ({0: Dim("batch"), 1: Dim("time", max=32)},)
        ),
        Entry("translator", s.Translator, translator, None, (3, 3)),
        Entry("audio", s.Audio, x(64), first),
        Entry("bags", s.Bags, lambda n: (torch.randint(0, 10, (n, 3)),), ({0: AUTO},)),
    ]


def _forms() -> list[Entry]:
    first = batch()
    return [
        Entry("cond", p.Cond, x(4), first),
        Entry("nested_cond", p.NestedCond, x(4), first),
        Entry("while_loop", p.WhileLoop, x(4), first, trains=False),
        Entry("rows", p.Rows, x(4), first, trains=False),
        Entry("counter", p.Counter, x(4), first),
        Entry(
            "writes",
            p.Writes,
            lambda n: (torch.randn(n, 4), torch.randn(n, 4)),
            batch(count=2),
            trains_decomposed=False,
        ),
        Entry(
            "trees",
            p.Trees,
            trees,
            {
                "inputs": {"x": {0: AUTO}, "list": [{0: AUTO}, {0: AUTO}]},
                "pair": ({0: AUTO}, {0: AUTO}),
                "scale": [None],
            },
        ),
        Entry(
            "keywords",
            p.Keywords,
            keywords,
            {"x": {0: AUTO}, "bias": None, "gain": None},
        ),
        Entry("plain", p.Plain, plain, ({0: AUTO}, None, None, None, None, None)),
        Entry("constants", p.Constants, x(4), first),
        Entry("sizes", p.Sizes, x(6, 4), ({0: AUTO, 1: AUTO},)),
        Entry("numbers", p.Numbers, x(4), first),
        Entry("no_grad", p.NoGrad, x(4), first, decomposed=False),
        Entry(
            "items",
            p.Items,
            lambda n: (torch.randn(n, 4), torch.tensor(min(n, 4))),
            ({0: AUTO}, None),
        ),
        Entry(
            "indices",
            p.Indices,
            lambda n: (torch.randn(n, 4), torch.tensor([0, 2, 1, 2])),
            ({0: Dim("batch", min=3, max=9)}, None),
        ),
        Entry("linalg", p.Linalg, x(4), first),
        Entry("shared", p.Shared, x(4), first),
        Entry(
            "loss",
            p.Loss,
            lambda n: (torch.randn(n, 4), torch.arange(n) % 4),
            batch(count=2),
        ),
    ]
