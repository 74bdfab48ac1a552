"""Models for bench/graphs.py, written against `torch`: hotaru runs them, too.

`make(name)` gives a model in eval mode and its arguments; a model's state goes
in and comes out as tensors, so that every runtime can hold it.
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch
import torch.nn as nn

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples"))

import networks


class Step(nn.Module):
    """One step of an LSTM with 128 inputs and 128 hidden values."""

    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(128, 128)

    def forward(self, x, h, c):
        y, (h, c) = self.lstm(x, (h, c))
        return y, h, c


class Block(nn.Module):
    """Attention with 4 heads and a perceptron, each behind a norm: (L, D)."""

    def __init__(self, width=128, heads=4):
        super().__init__()
        self.heads = heads
        self.norm1 = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.norm2 = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x):
        length, width = x.shape
        qkv = self.qkv(self.norm1(x)).view(length, 3, self.heads, -1)
        q, k, v = qkv.permute(1, 2, 0, 3).unbind(0)
        scores = (q @ k.transpose(1, 2)) * (width // self.heads) ** -0.5
        y = (scores.softmax(-1) @ v).transpose(0, 1).reshape(length, width)
        x = x + self.out(y)
        y = self.up(self.norm2(x))
        return x + self.down(nn.functional.gelu(y))


def transformer():
    return nn.Sequential(*[Block() for _ in range(4)])


def convolution(inputs, outputs, kernel, stride=1, groups=1, relu=True):
    """Convolution, norm and rectifier."""
    layers = [
        nn.Conv2d(
            inputs,
            outputs,
            kernel,
            stride,
            padding=kernel // 2,
            groups=groups,
            bias=False,
        ),
        nn.BatchNorm2d(outputs),
    ]
    return nn.Sequential(*layers, *([nn.ReLU()] if relu else []))


def mobile():
    """MobileNet-like: depthwise and pointwise convolutions, 96 x 96."""
    widths = [(16, 32, 1), (32, 64, 2), (64, 64, 1), (64, 128, 2)]
    widths += [(128, 128, 1), (128, 256, 2), (256, 256, 1)]
    layers = [convolution(3, 16, 3, 2)]
    for inputs, outputs, stride in widths:
        layers += [convolution(inputs, inputs, 3, stride, groups=inputs)]
        layers += [convolution(inputs, outputs, 1)]
    layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(256, 100)]
    return nn.Sequential(*layers)


class Residual(nn.Module):
    """Two convolutions beside a short cut."""

    def __init__(self, inputs, outputs, stride=1):
        super().__init__()
        self.first = convolution(inputs, outputs, 3, stride)
        self.second = convolution(outputs, outputs, 3, relu=False)
        self.cut = nn.Identity()
        if stride != 1 or inputs != outputs:
            self.cut = convolution(inputs, outputs, 1, stride, relu=False)

    def forward(self, x):
        return torch.relu(self.second(self.first(x)) + self.cut(x))


def resnet(width=64):
    """ResNet-18-like: its layers and widths, for pictures of 112 x 112."""
    layers = [convolution(3, width, 7, 2), nn.MaxPool2d(3, 2, 1)]
    inputs = width
    for outputs in (width, 2 * width, 4 * width, 8 * width):
        stride = 1 if inputs == outputs else 2
        layers += [Residual(inputs, outputs, stride)]
        layers += [Residual(outputs, outputs)]
        inputs = outputs
    layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten()]
    return nn.Sequential(*layers, nn.Linear(8 * width, 1000))


# Makers of the models, and the shapes of their arguments.
MODELS = {
    **{name: (make, [shape]) for name, (make, shape) in networks.NETWORKS.items()},
    "LSTM(128) step": (Step, [(1, 1, 128)] * 3),
    "transformer, 64 tokens": (transformer, [(64, 128)]),
    "MobileNet-like": (mobile, [(1, 3, 96, 96)]),
    "ResNet-18-like": (resnet, [(1, 3, 112, 112)]),
}


def make(name):
    """The model with fresh weights, in eval mode, and its arguments."""
    build, shapes = MODELS[name]
    torch.manual_seed(0)
    return build().eval(), tuple(torch.randn(shape) for shape in shapes)
