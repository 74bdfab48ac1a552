"""The graphs of compiled programs, as Python reads them."""

from __future__ import annotations

import pytest

import hotaru as torch


def halved(x):
    return x * 0.5


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(2, 2)
        self.scale = 3

    def forward(self, x):
        return torch.relu(self.first(x)) * self.scale


def kinds(graph) -> list[str]:
    return [node.kind() for node in graph.nodes()]


def test_calls_are_calls_and_inlined_ones_are_not():
    @torch.jit.script
    def f(x):
        return halved(x) + halved(x)

    called = f.graph
    assert kinds(called).count("prim::CallFunction") == 2
    call = called.findNode("prim::CallFunction")
    assert call.inputsAt(0).node().s("name") == "halved"
    assert call.inputsAt(1).node() is called.param_node()
    assert "aten::mul" not in kinds(called)
    assert kinds(f.inlined_graph).count("aten::mul") == 2
    assert "prim::CallFunction" not in str(f.inlined_graph)
    # Running it, which inlines for itself, changes neither.
    f(torch.ones(2))
    assert str(f.graph) == str(called)


def test_modules_show_attributes_and_methods():
    net = torch.jit.script(Net())
    graph = net.graph
    names = [n.s("name") for n in graph.findAllNodes("prim::GetAttr")]
    assert names == ["first", "scale"]
    call = graph.findNode("prim::CallMethod")
    assert call.s("name") == "forward"
    assert str(call.inputsAt(0).type()).endswith(".Linear")
    linear = net.inlined_graph.findNode("aten::linear")
    assert [v.node().s("name") for v in list(linear.inputs())[1:]] == ["weight", "bias"]
    assert linear.schema().startswith("aten::linear(Tensor input, ")
    assert linear.namedInput("bias") is linear.inputsAt(2)
    assert net.graph_for(torch.ones(1, 2)).findNode("aten::linear")


def test_constants_stand_first_and_once():
    @torch.jit.script
    def f(x, n: int):
        y = x.sum(1) + x.mean(1)
        if n > 1:
            y = y * 1.0
        return y, "a\n", None

    constants = [n.output().toIValue() for n in f.graph.findAllNodes("prim::Constant")]
    assert kinds(f.graph)[: len(constants)] == ["prim::Constant"] * len(constants)
    assert constants.count(1) == 2  # 1 and 1.0, which are of two types
    assert constants.count(None) == 1
    assert 'str = prim::Constant[value="a\\n"]()' in str(f.graph)


def test_loops_are_of_one_kind():
    @torch.jit.script
    def f(x, n: int):
        for _ in range(n):
            x = x + 1
        while bool(x.sum() < 9):
            x = x * 2
        return x

    counted, endless = f.graph.findAllNodes("prim::Loop")
    assert counted.inputsAt(0).debugName() == "n.1"
    assert counted.inputsAt(1).toIValue() is True
    assert endless.inputsAt(0).toIValue() == 2**63 - 1
    # The condition is computed before the loop and at the body's end.
    assert len(f.graph.findAllNodes("aten::lt")) == 2
    body = next(endless.blocks())
    *_, last = body.nodes()
    assert last.kind() == "aten::Bool"
    assert [v.node().kind() for v in body.outputs()] == ["aten::Bool", "aten::mul"]
    f.graph.lint()


def test_a_programs_graph_is_read_only_and_its_copy_is_not():
    @torch.jit.script
    def f(x):
        return halved(x)

    graph = f.graph
    with pytest.raises(RuntimeError, match="change a copy"):
        next(graph.inputs()).setDebugName("y")
    with pytest.raises(RuntimeError, match="change a copy"):
        graph.findNode("prim::CallFunction").destroy()
    copied = graph.copy()
    torch._C._jit_pass_inline(copied)
    assert kinds(copied) == ["prim::Constant", "aten::mul"]
    next(copied.inputs()).setDebugName("y")
    assert str(copied).startswith("graph(%y : Tensor)")
    changed = graph.copy()
    next(changed.inputs()).setDebugName("y")
    with pytest.raises(RuntimeError, match="inline it before"):
        torch._C._jit_pass_inline(changed)
    assert f(torch.ones(1)) == 0.5


def test_places_are_of_the_source():
    @torch.jit.script
    def f(x):
        return torch.relu(x)

    node = f.graph.findNode("aten::relu")
    torch.testing.FileCheck().check_source_highlighted("torch.relu").run(
        node.sourceRange()
    )
    assert "test_jit_graphs.py:" in str(f.graph)
    assert "test_jit_graphs.py:" not in f.graph.str(False)


def test_text_that_was_printed_is_read_again():
    graph = torch.jit.script(Net()).inlined_graph
    again = torch._C.parse_ir(graph.str(False))
    canonical = torch._C._jit_pass_canonicalize
    assert str(canonical(again, False)) == canonical(graph, False).str(False)


def test_native_modules_are_asked_as_pytorchs():
    native = torch.jit.script(Net())._c
    assert native.hasattr("scale")
    assert not native.hasattr("other")
    assert native.getattr("scale") == 3
    assert type(native.first) is type(native)
    assert native._has_method("forward")
    assert native._get_method("forward").graph.findNode("prim::CallMethod")
    with pytest.raises(AttributeError, match="field with name 'other'"):
        _ = native.other
    with pytest.raises(AttributeError, match="field with name 'other'"):
        native.getattr("other")


def test_code_tells_its_constants():
    class Adds(torch.nn.Module):
        def forward(self, x):
            return x + torch.tensor([1.0, 2.0, 3.0])

    module = torch.jit.trace(Adds(), torch.ones(3))
    code, constants = module.code_with_constants
    assert code == module.code
    assert "CONSTANTS.c0" in code
    assert constants.c0.tolist() == [1.0, 2.0, 3.0]
    assert list(constants.const_mapping) == ["c0"]
    with pytest.raises(AttributeError):
        _ = constants.c1
