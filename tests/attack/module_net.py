"""A network whose call depends on everything that a module can hold.

Parameters, buffers, children and containers of all kinds; numbers, texts,
dicts, lists, objects and functions in attributes; attributes of the class, a
global, and modules that no module knows of. `build` makes one with classes of
its own, so that an attack on a class reaches no other network.
"""

from __future__ import annotations

import math

import hotaru as torch
from hotaru import nn

WIDTH = 6

# Read by Net.forward; an attack binds it anew.
OFFSET = 0.125


class Draw:
    """Fixed numbers in (-1, 1): the same ones in every run."""

    def __init__(self) -> None:
        self.drawn = 0

    def __call__(self, *shape, dtype=None):
        count = math.prod(shape)
        flat = [math.sin(1.7 * (self.drawn + i) + 0.3) for i in range(count)]
        self.drawn += count
        return torch.tensor(flat, dtype=dtype).reshape(shape)


class Holder:
    """An object that is no module."""

    def __init__(self, **attributes) -> None:
        self.__dict__.update(attributes)


def build(draw: Draw, rich: bool) -> tuple[nn.Module, dict]:
    """A network with weights of `draw`, and what makes more layers for it.

    Only a rich one has lists and dicts of tensors.
    """

    def linear(bias: bool = True) -> nn.Linear:
        return filled(nn.Linear(WIDTH, WIDTH, bias=bias), draw)

    Block = _block_class(draw, linear)

    class Net(nn.Module):
        level = 0.25

        def __init__(self) -> None:
            super().__init__()
            self.stem = linear()
            self.seq = nn.Sequential(linear(), nn.Tanh(), linear(False))
            self.blocks = nn.ModuleList([Block(), Block()])
            self.table = nn.ModuleDict({"a": linear(), "b": Block()})
            self.weights = nn.ParameterList([draw(WIDTH), draw(WIDTH)])
            self.named = nn.ParameterDict({"u": draw(WIDTH), "v": draw(WIDTH)})
            self.norm = nn.LayerNorm(WIDTH)
            self.batch = nn.BatchNorm1d(WIDTH)
            self.conv = filled(nn.Conv1d(1, 1, 3, padding=1), draw)
            self.drop = nn.Dropout(0.0)
            self.gain = nn.Parameter(1 + draw(WIDTH) / 4)
            self.square = nn.Parameter(draw(WIDTH, WIDTH) / 2)
            self.register_buffer("shift", draw(WIDTH))
            self.register_buffer("mask", torch.ones(WIDTH), persistent=False)
            self.register_parameter("spare", None)
            self.extra = None
            _add_attributes(self, draw, linear, rich)

        def forward(self, x, y=None, *, power=1):
            h = self.act(self.stem(x))
            h = self.seq(h)
            for block in self.blocks:
                h = h + block(h)
            for name in sorted(self.table):
                h = h + torch.tanh(self.table[name](h))
            for weight in self.weights:
                h = h + weight
            for name in sorted(self.named.keys()):
                h = h * torch.sigmoid(self.named[name])
            h = torch.tanh(self.batch(self.norm(h)) @ self.square)
            h = h + self.conv(h.unsqueeze(1)).squeeze(1)
            h = self.drop(h) * self.gain + self.shift * self.mask
            if self.spare is not None:
                h = h + self.spare
            if self.extra is not None:
                h = h + torch.tanh(self.extra(h))
            h = self._plain(h)
            if y is not None:
                h = h + y**power
            return torch.tanh(h)

        def _plain(self, h):
            """Computes with attributes that are no parts of a module."""
            h = h * self.factor + self.count * self.level
            h = torch.tanh(h) if self.mode == "tanh" else torch.sigmoid(h)
            if self.flag:
                h = h + OFFSET
            h = h * self.options["scale"] + self.options["inner"]["k"]
            for coefficient in self.coefficients:
                h = h + coefficient
            h = h * self.pair[0] + self.pair[1] + len(self.names)
            h = torch.sin(h) * self.constant
            for tensor in self.tensors:
                h = h + tensor
            h = h + self.mapped.get("t", 1) * self.holder.scale
            h = h + self.holder.tensor
            h = torch.tanh(h + sum(self.holder.items))
            h = h + torch.tanh(self.holder.module(h))
            h = h + torch.tanh(self.hidden["m"](h))
            for layer in self.layers:
                h = h + torch.tanh(layer(h))
            return h

    makers = _makers(
        linear=linear, block=Block, tanh=nn.Tanh, relu=nn.ReLU, sigmoid=nn.Sigmoid
    )
    return Net(), {**makers, "filled": lambda module: filled(module, draw)}


def _makers(**kinds) -> dict:
    """Returns makers of modules of these kinds, made in advance: that one is
    made is no sign of a change.
    """
    return {name: [make() for _ in range(12)].pop for name, make in kinds.items()}


def _block_class(draw: Draw, linear) -> type[nn.Module]:
    class Block(nn.Module):
        steepness = 0.75

        def __init__(self) -> None:
            super().__init__()
            self.inner = linear()
            self.gain = nn.Parameter(1 + draw(WIDTH) / 4)
            self.register_buffer("shift", draw(WIDTH))
            self.slope = 0.5

        def forward(self, x):
            h = self.inner(x) * self.gain + self.shift
            return torch.tanh(h * self.slope) * self.steepness

    return Block


def _add_attributes(net: nn.Module, draw: Draw, linear, rich: bool) -> None:
    """Adds attributes that are no parameter, buffer or child."""
    # Numbers, texts and containers.
    net.factor, net.count, net.mode = 1.5, 2, "tanh"
    net.flag = True
    net.options = {"scale": 1.25, "inner": {"k": 0.5}}
    net.coefficients = [0.5, 0.25]
    net.pair = (0.5, 2.0)
    net.names = {"one"}
    # Tensors, modules and functions out of the module's sight.
    net.constant = draw(WIDTH)
    net.tensors = [draw(WIDTH), draw(WIDTH)] if rich else []
    net.mapped = {"t": draw(WIDTH)} if rich else {}
    net.holder = Holder(scale=0.5, tensor=draw(WIDTH), module=linear(), items=[1.0])
    net.hidden = {"m": linear()}
    net.layers = [linear()]
    net.act = torch.tanh


def filled(module: nn.Module, draw: Draw) -> nn.Module:
    """The module with parameters of `draw`."""
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(draw(*parameter.shape) / 2)
    return module
