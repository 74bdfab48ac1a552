"""Exits from inside of blocks, which graphs have as results: graphs of them run
and give what the functions give.
"""

from __future__ import annotations

import itertools

import pytest

import hotaru as torch


def early(a: int, b: int):
    if a > 2:
        return a
    return a + b


def nested(a: int, b: int):
    if a > 2:
        if b > 3:
            return a
        a = a + 5
    else:
        return 7
    c = a * 2
    return c + 1


def all_leave(a: int, b: int):
    if a > 2:
        if b > 2:
            return 1
        return 2
    else:
        if b > 1:
            return 3
        else:
            return 4


def deep(a: int, b: int):
    c = 0
    if a > 1:
        if b > 1:
            if a > 3:
                return 10
            c = 1
        c = c + 2
    if b > 3:
        return c + 100
    return c


def for_all(a: int, b: int):
    x = 0
    for i in range(a):
        if i == 3:
            break
        if i == b:
            continue
        if i + b == 5:
            return -x
        x = x + 1
    return x


def while_all(a: int, b: int):
    x, n = 0, 0
    while n < a:
        n = n + 1
        if n == b:
            continue
        if n > 3:
            if x > 2:
                break
            x = x + 10
        if x + n == 4:
            return 77
        x = x + n
    return x * 100 + n


def loops_inside(a: int, b: int):
    x = 0
    for i in range(a):
        for j in range(b):
            if j > i:
                break
            if i * j == 4:
                return x + 1000
            if j == 1:
                continue
            x = x + i + j
        if x > 6:
            break
    return x


def always(a: int, b: int):
    for i in range(a):
        return i + b
    return -1


def endless(a: int, b: int):
    n = a
    while True:
        n = n + 1
        if n % 4 == b:
            break
        if n > 20:
            return -n
    return n


def refuses(a: int, b: int):
    if a > 2:
        if b > 2:
            return 5
        raise RuntimeError("no")
    elif b == 0:
        c = 3
    else:
        raise RuntimeError("neither")
    return c + a


def optional(a: int, b: int) -> int | None:
    if a > 2:
        return None
    if b > 2:
        return b
    return a


def lists(a: int, b: int):
    out = [a]
    for i in range(b):
        if i == a:
            return out
        out.append(i)
    return [0]


FUNCTIONS = [
    early,
    nested,
    all_leave,
    deep,
    for_all,
    while_all,
    loops_inside,
    always,
    endless,
    refuses,
    optional,
    lists,
]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_graphs_without_exits_run_as_the_functions_do(function):
    graph = torch.jit.script(function).graph
    graph.lint()
    kinds = {node.kind() for node in graph._all_nodes()}
    assert not kinds & {"prim::ReturnStmt", "prim::LoopContinuation"}
    assert graph.return_node().inputsSize() == 1
    again = torch._C._create_function_from_graph(function.__name__, graph)
    for a, b in itertools.product(range(6), range(5)):
        try:
            wanted = function(a, b)
        except RuntimeError as error:
            with pytest.raises(Exception, match=str(error)):
                again(a, b)
            continue
        assert again(a, b) == wanted, (a, b)


def test_early_returns_are_outputs_of_one_condition():
    graph = torch.jit.script(early).graph
    (condition,) = graph.findAllNodes("prim::If")
    assert [v.node() for v in graph.outputs()] == [condition]
    assert [v.type().str() for v in condition.outputs()] == ["int"]
    (last,) = list(condition.blocks())[1].outputs()
    assert last.node().kind() == "aten::add"
    assert graph.findNode("prim::Uninitialized") is None


def test_results_that_are_none_elsewhere_are_optional():
    graph = torch.jit.script(optional).graph
    assert next(graph.outputs()).type().str() == "int?"
