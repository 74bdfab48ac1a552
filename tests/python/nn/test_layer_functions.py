"""Layers call the functions of `nn.functional` that PyTorch's call, when they
are called: tools that count operations put their own in place of these.
"""

import numpy as np
import pytest
from hotaru.nn import functional as F

import hotaru as torch
from hotaru import nn

V = torch.rand(4, 4)
X = {1: torch.rand(2, 4, 8), 2: torch.rand(2, 4, 8, 8), 3: torch.rand(2, 4, 4, 4, 4)}
Q = torch.rand(3, 2, 4)
CLASSES = torch.randint(0, 4, (4,))
ONES = torch.ones(4)


def _by_axes():
    for d, x in X.items():
        yield f"Conv{d}d", (4, 4, 3), (x,), f"conv{d}d"
        circular = (4, 4, 3, 1, 1, 1, 1, True, "circular")
        yield f"Conv{d}d", circular, (x,), f"pad conv{d}d"
        yield f"ConvTranspose{d}d", (4, 4, 3), (x,), f"conv_transpose{d}d"
        for kind in ["max", "avg"]:
            name = kind.title()
            yield f"{name}Pool{d}d", (2,), (x,), f"{kind}_pool{d}d"
            adaptive = f"adaptive_{kind}_pool{d}d"
            yield f"Adaptive{name}Pool{d}d", (2,), (x,), adaptive
        yield f"LPPool{d}d", (2, 2), (x,), f"lp_pool{d}d"
        pooled = getattr(F, f"max_pool{d}d")(x, 2, return_indices=True)
        yield f"MaxUnpool{d}d", (2,), pooled, f"max_unpool{d}d"
        yield f"BatchNorm{d}d", (4,), (x,), "batch_norm"
        yield f"InstanceNorm{d}d", (4,), (x,), "instance_norm"
        yield f"Dropout{d}d", (), (x,), f"dropout{d}d"
        yield f"ReflectionPad{d}d", (1,), (x,), "pad"
    for d in (2, 3):
        name = f"fractional_max_pool{d}d"
        yield f"FractionalMaxPool{d}d", (2, 2), (X[d],), name


def _activations():
    functions = {
        "ReLU": "relu",
        "ReLU6": "hardtanh",
        "ELU": "elu",
        "SELU": "selu",
        "CELU": "celu",
        "GELU": "gelu",
        "Hardtanh": "hardtanh",
        "Hardswish": "hardswish",
        "Hardsigmoid": "hardsigmoid",
        "SiLU": "silu",
        "Mish": "mish",
        "Softplus": "softplus",
        "Softshrink": "softshrink",
        "Hardshrink": "hardshrink",
        "Tanhshrink": "tanhshrink",
        "LogSigmoid": "logsigmoid",
        "Softsign": "softsign",
        "LeakyReLU": "leaky_relu",
        "RReLU": "rrelu",
        "PReLU": "prelu",
        "GLU": "glu",
        "Dropout": "dropout",
        "AlphaDropout": "alpha_dropout",
        "FeatureAlphaDropout": "feature_alpha_dropout",
    }
    for name, function in functions.items():
        yield name, (), (V,), function
    yield "Sigmoid", (), (V,), ""
    yield "Tanh", (), (V,), ""
    yield "Softmax", (-1,), (V,), "softmax"
    yield "LogSoftmax", (-1,), (V,), "log_softmax"


def _losses():
    functions = {
        "L1Loss": "l1_loss",
        "MSELoss": "mse_loss",
        "HuberLoss": "huber_loss",
        "SmoothL1Loss": "smooth_l1_loss",
        "KLDivLoss": "kl_div",
        "BCELoss": "binary_cross_entropy",
        "BCEWithLogitsLoss": "binary_cross_entropy_with_logits",
        "PoissonNLLLoss": "poisson_nll_loss",
        "SoftMarginLoss": "soft_margin_loss",
        "HingeEmbeddingLoss": "hinge_embedding_loss",
        "MultiLabelSoftMarginLoss": "multilabel_soft_margin_loss",
    }
    for name, function in functions.items():
        yield name, (), (V, V), function
    yield "CrossEntropyLoss", (), (V, CLASSES), "cross_entropy"
    yield "NLLLoss", (), (V, CLASSES), "nll_loss"
    yield "MultiMarginLoss", (), (V, CLASSES), "multi_margin_loss"
    none = torch.zeros(4, 4, dtype=torch.long)
    yield "MultiLabelMarginLoss", (), (V, none), "multilabel_margin_loss"
    yield "CosineEmbeddingLoss", (), (V, V, ONES), "cosine_embedding_loss"
    yield "MarginRankingLoss", (), (ONES,) * 3, "margin_ranking_loss"
    yield "TripletMarginLoss", (), (V,) * 3, "triplet_margin_loss"


def _others():
    yield "Linear", (4, 4), (V,), "linear"
    yield "Bilinear", (4, 4, 2), (V, V), "bilinear"
    yield "LayerNorm", (4,), (V,), "layer_norm"
    yield "GroupNorm", (2, 4), (X[2],), "group_norm"
    yield "Embedding", (4, 3), (CLASSES,), "embedding"
    yield "PixelShuffle", (2,), (X[2],), "pixel_shuffle"
    yield "Upsample", (None, 2), (X[2],), "interpolate"
    yield "Unfold", (2,), (X[2],), "unfold"
    yield "RNN", (4, 3), (Q,), ""
    yield "LSTMCell", (4, 3), (V,), ""
    feed = "linear dropout linear dropout layer_norm"
    attend = "multi_head_attention_forward dropout layer_norm"
    yield "TransformerEncoderLayer", (4, 2, 8), (Q,), f"{attend} {feed}"
    both = f"{attend} {attend} {feed}"
    yield "TransformerDecoderLayer", (4, 2, 8), (Q, Q), both


CASES = [*_by_axes(), *_activations(), *_losses(), *_others()]


@pytest.mark.parametrize(("name", "options", "inputs", "names"), CASES)
def test_functions_that_a_layer_calls(name, options, inputs, names, monkeypatch):
    layer = getattr(nn, name)(*options)
    seen, within = [], []

    def watched(own, function):
        def call(*args, **kwargs):
            if not within:
                seen.append(own)
            within.append(own)
            try:
                return function(*args, **kwargs)
            finally:
                within.pop()

        return call

    every = {word for case in CASES for word in case[3].split()}
    for own in every:
        monkeypatch.setattr(F, own, watched(own, getattr(F, own)))
    layer(*inputs)
    assert seen == names.split()


@pytest.mark.parametrize("name", ["Conv2d", "MaxPool2d", "Dropout2d"])
def test_replaced_functions_reach_compiled_layers(name, monkeypatch):
    options, inputs, function = next(c[1:] for c in CASES if c[0] == name)
    layer = torch.compile(getattr(nn, name)(*options))
    layer(*inputs)
    monkeypatch.setattr(F, function, lambda *args: torch.full((1,), 7.0))
    assert layer(*inputs).tolist() == [7.0]


@pytest.mark.parametrize("name", ["Conv2d", "MaxPool2d", "MSELoss", "Dropout"])
def test_layers_are_still_scripted(name):
    options, inputs = next(c[1:3] for c in CASES if c[0] == name)
    layer = getattr(nn, name)(*options).eval()
    torch.testing.assert_close(
        torch.jit.script(layer)(*inputs), layer(*inputs), rtol=0, atol=0
    )


@pytest.mark.parametrize("number", [np.int64, np.int32, torch.tensor])
def test_sizes_may_be_integers_of_any_kind(number):
    two, x = number(2), X[2]
    for got, expected in [
        (F.interpolate(x, size=two), F.interpolate(x, size=2)),
        (F.interpolate(x, scale_factor=two), F.interpolate(x, scale_factor=2)),
        (nn.Upsample(two)(x), nn.Upsample(2)(x)),
        (F.max_pool2d(x, two), F.max_pool2d(x, 2)),
        (
            F.max_unpool2d(*F.max_pool2d(x, 2, return_indices=True), two),
            F.max_unpool2d(*F.max_pool2d(x, 2, return_indices=True), 2),
        ),
        (torch.hann_window(two), torch.hann_window(2)),
        (torch.kaiser_window(two), torch.kaiser_window(2)),
    ]:
        assert torch.equal(got, expected)
    pooled = F.fractional_max_pool2d(x, two, output_size=two)
    assert pooled.shape == (2, 4, 2, 2)
    if number.__name__ != "tensor":
        assert torch.equal(F.lp_pool2d(x, two, two), F.lp_pool2d(x, 2, 2))
        assert nn.LayerNorm(two).weight.shape == (2,)
        assert nn.RMSNorm(two).weight.shape == (2,)
