"""Products of matrices that a pass puts together give what they gave."""

from __future__ import annotations

import pytest

import hotaru as torch

C = torch._C


def summed(a, b, c, d, e, f, g, h):
    return torch.mm(a, b) + torch.mm(c, d) + (torch.mm(e, f) + torch.mm(g, h))


def left(a, b, c, d, e, f, g, h):
    return [torch.mm(a, x) for x in (a, b, c, d, e, f, g, h)]


def right(a, b, c, d, e, f, g, h):
    return [torch.mm(x, h) for x in (a, b, c, d, e, f, g, h)]


def kinds(graph) -> list[str]:
    return [node.kind() for node in graph.nodes()]


@pytest.mark.parametrize("sizes", [[3] * 8, [2, 2, 5, 5, 3, 3, 4, 4]])
@pytest.mark.parametrize("dtype", [torch.float64, torch.int64])
def test_sums_of_products(sizes, dtype):
    inputs = []
    for i, size in enumerate(sizes):
        shape = (3, size) if i % 2 == 0 else (size, 3)
        inputs.append(torch.randint(-4, 5, shape).to(dtype))
    graph = torch.jit.script(summed).graph.copy()
    assert C._jit_pass_batch_mm(graph)
    assert "aten::mm" not in kinds(graph)
    assert kinds(graph).count("prim::MMTreeReduce") == 1
    again = C._create_function_from_graph("summed", graph)
    torch.testing.assert_close(again(*inputs), summed(*inputs))


@pytest.mark.parametrize("function", [left, right])
@pytest.mark.parametrize("same", [True, False])
def test_products_with_a_side_in_common(function, same):
    inputs = [torch.randn(3, 3, dtype=torch.float64) for _ in range(8)]
    if not same:
        place = 4
        inputs[place] = torch.randn((3, 5) if function is left else (5, 3)).double()
    graph = torch.jit.script(function).graph.copy()
    assert C._jit_pass_batch_mm(graph)
    assert "aten::mm" not in kinds(graph)
    again = C._create_function_from_graph("products", graph)
    for got, wanted in zip(again(*inputs), function(*inputs), strict=True):
        torch.testing.assert_close(got, wanted)


def few(a, b, c, d, e, f):
    return torch.mm(a, b) + torch.mm(c, d) + torch.mm(e, f)


def scaled(a, b, c, d, e, f, g, h):
    x = torch.add(torch.mm(a, b), torch.mm(c, d), alpha=2)
    return x + torch.mm(e, f) + torch.mm(g, h)


def read(a, b, c, d, e, f, g, h):
    x = torch.mm(a, b) + torch.mm(c, d)
    return x + torch.mm(e, f) + torch.mm(g, h), x


def changed(a, b, c, d, e, f, g, h):
    a = torch.zeros_like(a)
    x = torch.mm(a, b)
    a.add_(1)
    return x + torch.mm(c, d) + torch.mm(e, f) + torch.mm(g, a)


def chained(a, b, c, d, e, f, g, h):
    for _ in range(8):
        b = torch.mm(a, b)
    return b


@pytest.mark.parametrize("function", [few, scaled, read, changed, chained])
def test_what_is_not_a_sum_of_four_stays(function):
    graph = torch.jit.script(function).graph.copy()
    before = str(graph)
    assert not C._jit_pass_batch_mm(graph)
    assert str(graph) == before


def test_products_that_need_one_another_stay_apart():
    def f(a, b):
        c = [torch.mm(a, b), torch.mm(a, b + 1), torch.mm(a, b + 2)]
        d = torch.mm(a, c[0] + c[1])
        e = torch.mm(a, d)
        more = [torch.mm(a, x) for x in (b, b, b, b, b)]
        return e, more

    graph = torch.jit.script(f).graph
    C._jit_pass_batch_mm(graph)
    graph.lint()
    again = C._create_function_from_graph("f", graph)
    a, b = torch.randn(2, 2), torch.randn(2, 2)
    torch.testing.assert_close(again(a, b)[0], f(a, b)[0])
