"""Settings of `torch.jit`: nothing compiled, attributes left out, places hidden."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys

import pytest

import hotaru as torch
from hotaru import nn


@pytest.fixture
def disabled():
    torch.jit._state.disable()
    try:
        yield
    finally:
        torch.jit._state.enable()


@pytest.mark.usefixtures("disabled")
def test_nothing_is_compiled_while_that_is_off():
    def program(x):
        return x + 1

    module, x = nn.Linear(2, 2), torch.ones(1, 2)
    assert torch.jit.script(program) is program
    assert torch.jit.trace(program, x) is program
    assert torch.jit.script(module) is torch.jit.trace(module, x) is module
    assert torch.jit.trace_module(module, {"forward": x}) is module

    class Made(torch.jit.ScriptModule):
        @torch.jit.script_method
        def forward(self, x):
            return x.tolist()  # of no type that programs have

    assert Made()(x) == [[1, 1]]


def test_the_environment_says_it_too():
    text = (
        "import hotaru as torch\n"
        "f = lambda x: x\n"
        "print(torch.jit.trace(f, torch.ones(1)) is f)"
    )
    for value, answer in (("0", "True"), ("1", "False")):
        ran = subprocess.run(
            [sys.executable, "-c", text],
            env={**os.environ, "PYTORCH_JIT": value},
            capture_output=True,
            text=True,
            check=True,
        )
        assert ran.stdout.strip() == answer


def test_attributes_that_a_class_leaves_out():
    class Left(nn.Module):
        __jit_ignored_attributes__ = ("a",)

        def __init__(self, a, b):
            super().__init__()
            self.a, self.b = a, b

        def forward(self, x):
            return x + self.b

    one = torch.jit.script(Left(nn.Linear(2, 2), 5))
    two = torch.jit.script(Left("text", 7))
    assert one._c._type() == two._c._type()
    assert not one._c.hasattr("a")
    assert isinstance(one.a, nn.Linear)
    assert (one(1 * torch.ones(1)).item(), two.a) == (6, "text")
    Left.__jit_ignored_attributes__ = ("a", "c")
    assert torch.jit.script(Left("text", 7))._c._type() != two._c._type()


def test_places_of_the_source_are_hidden_within_a_block():
    @torch.jit.script
    def program(x):
        return torch.add(x, x)

    graph = program.graph
    assert "test_jit_state.py" in repr(graph)
    with torch.jit._hide_source_ranges():
        assert "# " not in repr(graph)
        assert "test_jit_state.py" in graph.str(print_source_ranges=True)
    assert "test_jit_state.py" in repr(graph)


def test_compiled_functions_are_in_no_pickle():
    @torch.jit.script
    def program(x):
        return x

    with pytest.raises(pickle.PickleError, match="ScriptFunction cannot be pickled"):
        pickle.dumps(program)


def test_names_that_no_namespace_of_operators_has():
    for name in ("__origin__", "__self__"):
        with pytest.raises(AttributeError, match=f"Invalid attribute '{name}' for"):
            getattr(torch.ops.aten, name)
