"""Graphs as packages of Python, and modules cut by numbers."""

from __future__ import annotations

import importlib

import pytest
from hotaru.fx.passes.split_module import split_module_simple

import hotaru as torch
from hotaru import fx


class Layers(torch.nn.Module):
    def __init__(self, persistent: bool = True) -> None:
        super().__init__()
        self.l = torch.nn.Linear(2, 3)
        self.register_buffer("b", torch.rand(3), persistent=persistent)
        self.w = torch.nn.Parameter(torch.rand(3))

    def forward(self, x):
        return torch.relu(self.l(x)) + self.b * self.w


def test_a_package_of_a_module(tmp_path, monkeypatch):
    traced = fx.symbolic_trace(Layers())
    traced.to_folder(tmp_path / "written_layers", "Foo")
    monkeypatch.syspath_prepend(tmp_path)
    made = importlib.import_module("written_layers").Foo()
    x = torch.rand(4, 2)
    assert torch.equal(made(x), traced(x))
    assert made.state_dict().keys() == traced.state_dict().keys()
    assert isinstance(made.w, torch.nn.Parameter)


def test_buffers_without_a_file(tmp_path):
    traced = fx.symbolic_trace(Layers(persistent=False))
    with pytest.raises(NotImplementedError, match="'b' is not persistent"):
        traced.to_folder(tmp_path / "more_layers")


class Calls(torch.nn.Module):
    def forward(self, x, y):
        a = x + y
        b = torch.relu(a)
        c = b * y
        return c - a


def test_parts_by_numbers():
    traced = fx.symbolic_trace(Calls())
    calls = [n for n in traced.graph.nodes if n.op == "call_function"]
    parts = {node: i // 2 for i, node in enumerate(calls)}
    split = split_module_simple(traced, parts)
    assert [name for name, _ in split.named_children()] == ["submod_0", "submod_1"]
    x, y = torch.rand(3), torch.rand(3)
    assert torch.equal(split(x, y), traced(x, y))
    named = split_module_simple(traced, parts, partition_affix="z")
    assert [name for name, _ in named.named_children()] == ["submod_z_0", "submod_z_1"]
    with pytest.raises(KeyError):
        split_module_simple(traced, {})
