"""Symbolic functions that libraries import, and call with a graph."""

from __future__ import annotations

import pytest
from hotaru.onnx import (
    symbolic_opset9,
    symbolic_opset11,
    symbolic_opset12,
    symbolic_opset13,
)

import hotaru as torch


class Graph:
    """Graph whose nodes are computed as they are written."""

    def __init__(self) -> None:
        self.nodes: list[str] = []

    def op(self, name, *inputs, **attributes):
        self.nodes.append(name)
        return getattr(self, name)(*inputs, **attributes)

    def Constant(self, value_t):  # noqa: N802
        return value_t

    def Cast(self, x, to_i):  # noqa: N802
        return x.to({9: torch.bool}[to_i])

    def Where(self, mask, x, y):  # noqa: N802
        return torch.where(mask, x, y)

    def ReduceMax(self, x, axes_i, keepdims_i):  # noqa: N802
        return x.amax(axes_i, bool(keepdims_i))

    def ReduceSum(self, x, axes_i, keepdims_i):  # noqa: N802
        return x.sum(axes_i, bool(keepdims_i))

    def Softmax(self, x, axis_i):  # noqa: N802
        return x.softmax(axis_i)

    def Reshape(self, x, shape):  # noqa: N802
        return x.reshape(shape.tolist())

    def __getattr__(self, name):
        return getattr(torch, name.lower())


@pytest.mark.parametrize("module", [symbolic_opset9, symbolic_opset13])
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_softmax(module, dim):
    x = torch.randn(2, 3, 4)
    torch.testing.assert_close(module.softmax(Graph(), x, dim), x.softmax(dim))


def test_masks_and_numbers():
    x = torch.randn(2, 3)
    mask = (x > 0).to(torch.uint8)
    for module in (symbolic_opset9, symbolic_opset11, symbolic_opset12):
        g = Graph()
        found = module.masked_fill(g, x, mask, -2.5)
        assert torch.equal(found, x.masked_fill(mask.bool(), -2.5))
        assert g.nodes == ["Cast", "Constant", "Where"]
    g = Graph()
    assert torch.equal(symbolic_opset9.add(g, x, 2, 3), x + 6)
    assert torch.equal(symbolic_opset9.sub(g, x, x, 1), x - x)
    assert torch.equal(symbolic_opset9.mul(g, x, 2.0), x * 2)
    assert torch.equal(symbolic_opset9.reshape(g, x, [3, 2]), x.reshape(3, 2))
    for name in ("cos", "exp", "neg", "relu", "sigmoid", "sin", "tanh"):
        found = getattr(symbolic_opset9, name)(g, x)
        assert torch.equal(found, getattr(torch, name)(x)), name


def test_dropout():
    x = torch.ones(2)
    for module in (symbolic_opset9, symbolic_opset12):
        assert module.dropout(Graph(), x, 0.5, False) is x

    class Written(Graph):
        def Dropout(self, *inputs, **attributes):  # noqa: N802
            return [float(i) for i in inputs[1:]], attributes

    assert symbolic_opset9.dropout(Written(), x, 0.5, True) == ([], {"ratio_f": 0.5})
    found = symbolic_opset12.dropout(Written(), x, 0.5, True)
    assert found == ([0.5, 1.0], {})


def test_others_are_named():
    with pytest.raises(AttributeError, match=r"g\.op"):
        symbolic_opset9.lstm  # noqa: B018
