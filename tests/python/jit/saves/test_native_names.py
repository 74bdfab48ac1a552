"""`torch._C.CompilationUnit` and `torch._C.InferredType`."""

import pytest

import hotaru as torch


@torch.jit.script
def _doubles(x: torch.Tensor):
    return 2 * x


@torch.jit.script
def _branches(x: torch.Tensor, n: int):
    total = x
    for i in range(n):
        if i % 2 == 0:
            total = total + i
    return total, n


def test_functions_are_made_of_graphs():
    unit = torch._C.CompilationUnit()
    made = unit.create_function("doubled", _doubles.graph)
    x = torch.randn(5)
    assert made.name == "doubled"
    assert unit.find_function("doubled") is made
    assert torch.equal(unit.doubled(x), x * 2)
    assert unit.find_function("nothing") is None
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        unit.nothing(x)


def test_functions_of_graphs_stand_beside_those_of_text():
    unit = torch._C.CompilationUnit()
    unit.define("def first(x):\n    return x + 1\n")
    unit.create_function("second", _branches.graph)
    assert [f.name for f in unit.get_functions()] == ["first", "second"]
    result, n = unit.second(torch.zeros(2), 4)
    assert (result.tolist(), n) == ([2, 2], 4)
    unit.define("def third(x):\n    return second(first(x), 3)[0]\n")
    assert unit.third(torch.zeros(1)).tolist() == [3]

    second = unit.second

    @torch.jit.script
    def caller(x):
        return second(x, 3)[0]

    assert caller(torch.zeros(1)).tolist() == [2]


def test_a_name_is_taken_once():
    unit = torch._C.CompilationUnit()
    unit.create_function("f", _doubles.graph)
    with pytest.raises(RuntimeError, match="method 'f' already defined"):
        unit.create_function("f", _branches.graph)
    assert torch.equal(unit.f(torch.ones(2)), torch.full((2,), 2.0))


def test_inferred_types_hold_a_type_or_a_reason():
    found = torch._C.InferredType(torch._C.IntType.get())
    assert found.success()
    assert found.type() == torch._C.IntType.get()
    with pytest.raises(RuntimeError):
        found.reason()
    missing = torch._C.InferredType("it is a secret")
    assert not missing.success()
    assert missing.reason() == "it is a secret"
    with pytest.raises(RuntimeError, match=r"type is null\. Reason: it is a secret"):
        missing.type()


def test_types_that_are_tried_are_inferred_types():
    found = torch._C._jit_try_infer_type([1, 2])
    assert isinstance(found, torch._C.InferredType)
    assert found.success()
    assert str(found.type()) == "List[int]"
    missing = torch._C._jit_try_infer_type(object())
    assert not missing.success()
    assert "got value of type object" in missing.reason()
