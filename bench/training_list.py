"""The networks of bench/training.py: random weights and inputs, each with its
loss and optimizer. Written against `torch`, so that hotaru runs the same lines.
"""

from __future__ import annotations

import onnx_models
import torch
import torch.nn as nn
import torch.nn.functional as F
from models import Residual, convolution
from network_list import mixer, tcn
from onnx_models import TOKENS


def adamw(parameters):
    return torch.optim.AdamW(parameters, lr=1e-3)


def adam(parameters):
    return torch.optim.Adam(parameters, lr=1e-3)


def momentum(parameters):
    return torch.optim.SGD(parameters, lr=0.01, momentum=0.9, weight_decay=1e-4)


def plain(parameters):
    return torch.optim.SGD(parameters, lr=0.01)


def mnist():
    """The network of PyTorch's first example, without its dropout."""
    return nn.Sequential(
        nn.Conv2d(1, 32, 3),
        nn.ReLU(),
        nn.Conv2d(32, 64, 3),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(9216, 128),
        nn.ReLU(),
        nn.Linear(128, 10),
    )


def small_resnet():
    """Residual blocks as for CIFAR's pictures, 16 to 64 channels."""
    layers, inputs = [convolution(3, 16, 3)], 16
    for width in (16, 32, 64):
        for i in range(3):
            stride = 2 if width > inputs and not i else 1
            layers.append(Residual(inputs, width, stride))
            inputs = width
    return nn.Sequential(
        *layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10)
    )


def generator():
    """DCGAN's generator: numbers to pictures of 64 x 64."""
    layers, inputs = [], 100
    for i, width in enumerate((256, 128, 64, 32)):
        stride, pad = (2, 1) if i else (1, 0)
        layers += [
            nn.ConvTranspose2d(inputs, width, 4, stride, pad, bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(),
        ]
        inputs = width
    last = nn.ConvTranspose2d(inputs, 3, 4, 2, 1, bias=False)
    return nn.Sequential(*layers, last, nn.Tanh())


class Variational(nn.Module):
    """PyTorch's example of a variational autoencoder, noise as an input."""

    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(784, 400), nn.Linear(400, 784)
        self.mean, self.spread = nn.Linear(400, 20), nn.Linear(400, 20)
        self.back = nn.Linear(20, 400)

    def forward(self, x, noise):
        h = F.relu(self.first(x))
        mean, spread = self.mean(h), self.spread(h)
        z = mean + noise * torch.exp(0.5 * spread)
        y = torch.sigmoid(self.last(F.relu(self.back(z))))
        apart = -0.5 * (1 + spread - mean.pow(2) - spread.exp()).sum()
        return F.binary_cross_entropy(y, x, reduction="sum") + apart


class Recommender(nn.Module):
    """A small DLRM: tables for eight kinds, their products, perceptrons."""

    def __init__(self, width=32):
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(2000, width) for _ in range(8))
        self.bottom = nn.Sequential(
            nn.Linear(13, 256), nn.ReLU(), nn.Linear(256, width), nn.ReLU()
        )
        self.top = nn.Sequential(
            nn.Linear(width + 81, 256), nn.ReLU(), nn.Linear(256, 1)
        )

    def forward(self, dense, kinds):
        x = self.bottom(dense)
        parts = [x, *(t(k) for t, k in zip(self.tables, kinds.unbind(1)))]
        all_ = torch.stack(parts, 1)
        pairs = (all_ @ all_.transpose(1, 2)).flatten(1)
        return self.top(torch.cat([x, pairs], 1)).squeeze(1)


def classes(model, x, y):
    return F.cross_entropy(model(x), y)


def words(model, x, y):
    return F.cross_entropy(model(x).flatten(0, 1), y.flatten())


def frames(model, x, y):
    return F.nll_loss(model(x).flatten(0, 1), y.flatten())


def squares(model, x, y):
    return F.mse_loss(model(x), y)


def pixels(model, x, y):
    return F.cross_entropy(model(x), y)


def own(model, *inputs):
    return model(*inputs)


def clicks(model, dense, kinds, y):
    return F.binary_cross_entropy_with_logits(model(dense, kinds), y)


def batch(shape, kinds, *target):
    """Numbers of a shape, and classes of another."""
    return lambda: (torch.randn(shape), torch.randint(0, kinds, target))


def text(*shape):
    return lambda: (torch.randint(0, TOKENS, shape), torch.randint(0, TOKENS, shape))


def narrow_gpt():
    """A GPT for characters, as nanoGPT's first: 4 layers of 128."""
    return onnx_models.Gpt(128, 4, 4)


# By name: the model, its loss, its optimizer, what it is given.
NETWORKS = {
    "mlp784_b64": (onnx_models.mlp, classes, adamw, batch((64, 784), 10, 64)),
    "mlp784_b64_sgd": (onnx_models.mlp, classes, plain, batch((64, 784), 10, 64)),
    "mnist_cnn_b64": (mnist, classes, adam, batch((64, 1, 28, 28), 10, 64)),
    "gpt_b4x128": (onnx_models.Gpt, words, adamw, text(4, 128)),
    "lstm_lm_b16x32": (onnx_models.Language, words, plain, text(16, 32)),
    "resnet50_b2x128": (
        onnx_models.resnet,
        classes,
        momentum,
        batch((2, 3, 128, 128), 1000, 2),
    ),
    "unet_b2x64": (
        onnx_models.UNet,
        pixels,
        adamw,
        batch((2, 3, 64, 64), 2, 2, 64, 64),
    ),
    "resnet_cifar_b32": (
        small_resnet,
        classes,
        momentum,
        batch((32, 3, 32, 32), 10, 32),
    ),
    "mobilenet_v2_b4x96": (
        onnx_models.mobilenet,
        classes,
        momentum,
        batch((4, 3, 96, 96), 1000, 4),
    ),
    "efficientnet_b2x96": (
        onnx_models.efficientnet,
        classes,
        adamw,
        batch((2, 3, 96, 96), 1000, 2),
    ),
    "convnext_b2x96": (
        onnx_models.convnext,
        classes,
        adamw,
        batch((2, 3, 96, 96), 1000, 2),
    ),
    "vit_small_b2": (onnx_models.Vit, classes, adamw, batch((2, 3, 224, 224), 1000, 2)),
    "mixer_b2": (mixer, classes, adamw, batch((2, 3, 224, 224), 1000, 2)),
    "gru_speech_b4x100": (
        onnx_models.Speech,
        frames,
        adam,
        batch((4, 80, 100), 32, 4, 50),
    ),
    "tcn_b8x200": (
        tcn,
        squares,
        adam,
        lambda: (torch.randn(8, 40, 200), torch.randn(8, 32, 200)),
    ),
    "dcgan_b16": (
        generator,
        squares,
        adam,
        lambda: (torch.randn(16, 100, 1, 1), torch.randn(16, 3, 64, 64)),
    ),
    "vae_b128": (
        Variational,
        own,
        adam,
        lambda: (torch.rand(128, 784), torch.randn(128, 20)),
    ),
    "dlrm_b256": (
        Recommender,
        clicks,
        plain,
        lambda: (
            torch.randn(256, 13),
            torch.randint(0, 2000, (256, 8)),
            torch.rand(256).round(),
        ),
    ),
}


def make(name):
    """The model, its loss (of the model and inputs), its optimizer, and inputs,
    after a fixed seed.
    """
    build, loss, optimizer, inputs = NETWORKS[name]
    torch.manual_seed(0)
    model, given = build().train(), inputs()
    return model, loss, optimizer(model.parameters()), given
