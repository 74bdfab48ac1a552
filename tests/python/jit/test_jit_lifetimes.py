"""Results that are made of a module do not keep it once it is gone itself.

Classes of scripts stay with the process; weights must not stay with them.
"""

from __future__ import annotations

import gc
import io
import weakref

import pytest

import hotaru as torch
from hotaru import fx, nn


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(3, 3)
        self.cells = nn.ModuleList([nn.ReLU(), nn.Linear(3, 3)])
        self.strange = object()  # no type of TorchScript

    def forward(self, x):
        for cell in self.cells:
            x = cell(self.first(x))
        return x

    @torch.jit.export
    def other(self, x):
        return x + 1


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.rnn = nn.LSTM(3, 2)

    def forward(self, x):
        return self.rnn(x)[0]


class Calls(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(3, 3)
        self.called = self.twice

    def twice(self, x):
        return self.first(x) * 2

    def forward(self, x):
        return self.called(x)


class Holds(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(3, 3)
        self.owner = {"of": [self]}

    def forward(self, x):
        return self.first(x)


def _onnx(module, x):
    torch.onnx.export(module, (x,), io.BytesIO(), dynamo=False)


def _saved(module, x):
    file = io.BytesIO()
    torch.jit.save(torch.jit.script(module), file)
    file.seek(0)
    torch.jit.load(file)(x)


WAYS = {
    "script": lambda module, x: torch.jit.script(module)(x),
    "script and save": _saved,
    "script and freeze": lambda module, x: torch.jit.freeze(
        torch.jit.script(module.eval())
    )(x),
    "trace": lambda module, x: torch.jit.trace(module, x)(x),
    "trace_module": lambda module, x: torch.jit.trace_module(module, {"forward": x})(x),
    "onnx": _onnx,
    "export": lambda module, x: torch.export.export(module, (x,)),
    "compile": lambda module, x: torch.compile(module)(x),
    "fx": lambda module, x: fx.symbolic_trace(module)(x),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", [Block, Recurrent, Calls, Holds])
def test_modules_go_with_what_was_made_of_them(kind, way):
    held = []
    for _ in range(3):  # the first of a class is as little kept as the others
        module = kind()
        held += [weakref.ref(module)]
        held += [weakref.ref(child) for child in module.children()]
        held += [weakref.ref(value) for value in module.parameters()]
        WAYS[way](module, torch.ones(2, 1, 3))
        del module
    gc.collect()
    assert [ref() for ref in held] == [None] * len(held)
