"""Operators defined in Python, called in compiled code."""

import pytest

import hotaru as torch
from hotaru import library


@pytest.fixture
def lib():
    with library._scoped_library("compiled", "FRAGMENT") as made:
        yield made


def call_f(x):
    return torch.ops.compiled.f(x, 2.0) + 1


def test_an_operator_is_called(lib):
    lib.define("f(Tensor x, float k) -> Tensor")
    lib.impl("f", lambda x, k: x * k, "CompositeImplicitAutograd")
    x = torch.ones(2, requires_grad=True)
    y = torch.jit.script(call_f)(x)
    y.sum().backward()
    assert y.tolist() == [3, 3]
    assert x.grad.tolist() == [2, 2]


def call_g(x, y):
    a, n = torch.ops.compiled.g([x, y], [2, 3])
    b, m = torch.ops.compiled.g([x], [1], y, b=False)
    return a + b, n + m


def test_lists_defaults_and_several_results(lib):
    seen = []
    lib.define(
        "g(Tensor[] x, int[] n, Tensor? o=None, bool b=True, str s='q', "
        "Device? d=None) -> (Tensor, int)"
    )

    def kernel(x, n, *rest):
        seen.append(len(rest))
        return sum(x) * n[0], len(n)

    lib.impl("g", kernel, "CPU")
    x = torch.ones(2)
    result, count = torch.jit.script(call_g)(x, x)
    assert result.tolist() == [5, 5]
    assert count == 3
    assert seen == [0, 2]


def call_two(x):
    return torch.ops.compiled.h.two(x, 3)


def test_one_of_several_overloads(lib):
    lib.define("h(Tensor x) -> Tensor")
    lib.define("h.two(Tensor x, int y) -> Tensor")
    lib.impl("h.two", lambda x, y: x + y, "CPU")
    assert torch.jit.script(call_two)(torch.ones(1)).item() == 4


def call_by_name(x):
    return torch.ops.compiled.k(x, y=1)


def test_arguments_by_name_alone_are_refused(lib):
    lib.define("k(Tensor x, *, int y) -> Tensor")
    with pytest.raises(RuntimeError, match="by name alone are not supported"):
        torch.jit.script(call_by_name)


def test_a_trace_calls_a_composite_operator(lib):
    lib.define("f(Tensor x, float k) -> Tensor")
    lib.impl("f", lambda x, k: x * k, "CompositeImplicitAutograd")
    traced = torch.jit.trace(call_f, torch.ones(2))
    assert "torch.mul" not in traced.code
    assert torch.equal(traced(torch.arange(2.0)), torch.arange(2.0) * 2 + 1)
