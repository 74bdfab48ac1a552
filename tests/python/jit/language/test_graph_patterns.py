"""Graphs rewritten by patterns, cloned by nodes, with what is made twice."""

from __future__ import annotations

import pytest

import hotaru as torch

MULMUL = """
graph(%a, %b, %c):
  %q = aten::mul(%a, %b)
  %r = aten::mul(%q, %c)
  return (%r)"""
FUSED = """
graph(%a, %b, %c):
  %r = my::fused(%a, %b, %c)
  return (%r)"""


def _rewritten(text: str, pattern: str, replacement: str, pairs=()) -> torch._C.Graph:
    graph = torch._C.parse_ir(text)
    torch._C._jit_pass_custom_pattern_based_rewrite_graph(
        pattern, replacement, graph, value_name_pairs=pairs
    )
    graph.lint()
    return graph


def _kinds(graph) -> list:
    return [node.kind() for node in graph.nodes()]


def _steps(*lines: str, result: str) -> str:
    body = "\n".join(f"  {line}" for line in lines)
    return f"graph(%x, %y, %z):\n{body}\n  return ({result})"


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        # The later of two that overlap stays.
        (
            _steps(
                "%t = aten::mul(%x, %y)",
                "%p = aten::mul(%t, %z)",
                "%u = aten::mul(%p, %x)",
                result="%u",
            ),
            ["my::fused", "aten::mul"],
        ),
        (
            _steps(
                "%t = aten::mul(%x, %y)",
                "%p = aten::mul(%t, %z)",
                "%u = aten::mul(%p, %x)",
                "%o = aten::mul(%u, %y)",
                result="%o",
            ),
            ["my::fused", "my::fused"],
        ),
        # A value between that others take keeps the part as it is.
        (
            _steps(
                "%t = aten::mul(%x, %y)",
                "%p = aten::mul(%t, %z)",
                "%u = aten::add(%p, %t)",
                result="%u",
            ),
            ["aten::mul", "aten::mul", "aten::add"],
        ),
        (
            _steps("%t = aten::mul(%x, %y)", "%p = aten::mul(%z, %t)", result="%p"),
            ["aten::mul", "aten::mul"],
        ),
    ],
)
def test_parts_that_are_like_the_pattern_are_replaced(text, kinds):
    assert _kinds(_rewritten(text, MULMUL, FUSED)) == kinds


def test_one_parameter_stands_for_one_value():
    same = "graph(%a):\n  %r = aten::mul(%a, %a)\n  return (%r)"
    square = "graph(%a):\n  %r = my::square(%a)\n  return (%r)"
    text = _steps("%t = aten::mul(%x, %x)", "%p = aten::mul(%t, %y)", result="%p")
    assert _kinds(_rewritten(text, same, square)) == ["my::square", "aten::mul"]


def test_attributes_are_compared_and_results_may_be_parameters():
    pattern = (
        "graph(%a):\n  %c = prim::Const[value=1]()\n"
        "  %r = aten::add(%a, %c)\n  return (%r)"
    )
    gone = "graph(%a):\n  return (%a)"
    one = "graph(%x):\n  %c = prim::Const[value={}]()\n  %r = aten::add(%x, %c)\n"
    kept = _rewritten(one.format(2) + "  return (%r)", pattern, gone)
    assert len(_kinds(kept)) == 2
    taken = _rewritten(one.format(1) + "  return (%r)", pattern, gone)
    assert _kinds(taken) == []
    assert next(taken.outputs()) is next(taken.inputs())


def test_blocks_are_rewritten_and_no_match_reaches_out_of_one():
    text = """
graph(%x, %y, %c : bool):
  %t = aten::mul(%x, %y)
  %o = prim::If(%c)
    block0():
      %a = aten::mul(%x, %x)
      %b = aten::mul(%a, %y)
      -> (%b)
    block1():
      %d = aten::mul(%t, %y)
      -> (%d)
  return (%o)"""
    graph = _rewritten(text, MULMUL, FUSED)
    inner = [[n.kind() for n in b.nodes()] for b in graph.findNode("prim::If").blocks()]
    assert inner == [["my::fused"], ["aten::mul"]]
    assert _kinds(graph) == ["aten::mul", "prim::If"]


def test_places_of_the_source_follow_the_pairs_of_names():
    @torch.jit.script
    def program(x, y):
        z = x * y
        return z * x

    graph = program.graph.copy()
    first = next(node.sourceRange() for node in graph.nodes())
    for pairs, kept in (([("r", "q")], True), ([], False)):
        changed = graph.copy()
        torch._C._jit_pass_custom_pattern_based_rewrite_graph(
            MULMUL, FUSED, changed, value_name_pairs=pairs
        )
        (node,) = changed.nodes()
        assert (node.sourceRange() == first) is kept


def test_patterns_that_do_not_fit_are_refused():
    text = _steps("%t = aten::mul(%x, %y)", result="%t")
    other = "graph(%a):\n  %r = my::one(%a)\n  return (%r)"
    with pytest.raises(RuntimeError, match="as many parameters and results"):
        _rewritten(text, MULMUL, other)
    with pytest.raises(RuntimeError, match="needs a node"):
        _rewritten(text, "graph(%a):\n  return (%a)", other)


def test_nodes_are_cloned_with_their_blocks():
    @torch.jit.script
    def program(x, flag: bool):
        y = x + 1
        if flag:
            y = y * x
        return y

    graph, made = program.graph, torch._C.Graph()
    values = {value: made.addInput().setTypeAs(value) for value in graph.inputs()}
    for node in graph.nodes():
        clone = made.createClone(node, lambda value: values[value])
        made.appendNode(clone)
        values.update(zip(node.outputs(), clone.outputs()))
    for value in graph.outputs():
        made.registerOutput(values[value])
    made.lint()
    assert _kinds(made) == _kinds(graph)
    x = torch.arange(3.0)
    run = torch._C._create_function_from_graph("forward", made)
    assert [run(x, flag).tolist() for flag in (True, False)] == [[0, 2, 6], [1, 2, 3]]


def test_results_that_may_be_changed_stay_two_things():
    @torch.jit.script
    def tensors(x):
        return x + x, x + x

    @torch.jit.script
    def numbers(x: int):
        return x + x, x + x

    @torch.jit.script
    def one_is_given(x):
        y = x + x
        return (x + x) * 2, y

    for program, count in ((tensors, 2), (numbers, 1), (one_is_given, 1)):
        graph = program.graph.copy()
        torch._C._jit_pass_cse(graph)
        assert _kinds(graph).count("aten::add") == count


def test_arithmetic_of_a_text_is_made_once_also_within_blocks():
    graph = torch._C.parse_ir("""
graph(%n : int, %c : bool):
  %a : int = aten::add(%n, %n)
  %o : int = prim::If(%c)
    block0():
      %b : int = aten::add(%n, %n)
      -> (%b)
    block1():
      -> (%a)
  return (%o)""")
    torch._C._jit_pass_cse(graph)
    assert len(graph.findAllNodes("aten::add")) == 1
    graph.lint()
