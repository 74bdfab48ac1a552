"""== and `in` of containers in scripts: as Python has them."""

import pytest

import hotaru as torch

# Types, two equal values that are not the same objects, and another.
CASES = {
    "Dict[str, int]": ({"a": 1, "b": 2}, {"b": 2, "a": 1}, {"a": 1, "c": 2}),
    "Dict[int, List[int]]": ({1: [2]}, {1: [2]}, {1: [3]}),
    "Dict[str, Tuple[int, str]]": ({"a": (1, "b")}, {"a": (1, "b")}, {"a": (1, "c")}),
    "List[Dict[str, int]]": ([{"a": 1}], [{"a": 1}], [{"a": 1, "b": 2}]),
    "List[List[int]]": ([[1], [2]], [[1], [2]], [[1], []]),
    "Tuple[int, List[float]]": ((1, [1.5]), (1, [1.5]), (1, [-1.5])),
    "List[complex]": ([1j], [1j], [1 + 1j]),
    "List[Optional[int]]": ([1, None], [1, None], [None, 1]),
}


def compiled(source):
    return torch.jit.CompilationUnit(source).f


@pytest.mark.parametrize("kind", CASES)
def test_equality(kind):
    value, equal, other = CASES[kind]
    f = compiled(
        f"def f(x: {kind}, y: {kind}, l: List[{kind}]):\n"
        "    return x == y, x != y, x in l, y not in l, l.count(x)\n"
    )
    assert f(value, equal, [other, equal]) == (True, False, True, False, 1)
    assert f(value, other, [value]) == (False, True, True, True, 1)


def f_of_tensors(expression):
    return compiled(
        "def f(x: Tensor, l: List[Tensor], m: List[Tensor]):\n"
        f"    return {expression}\n"
    )


@pytest.mark.parametrize(
    "expression", ["x in l", "x not in l", "l.index(x)", "l.count(x)"]
)
def test_tensors_of_one_element(expression):
    x, items = torch.tensor([2.0]), [torch.tensor([1.0]), torch.tensor([2.0])]
    expected = eval(expression, {"x": x, "l": items})
    assert f_of_tensors(expression)(x, items, items) == expected


def test_lists_of_tensors():
    made = [[torch.tensor(float(i)) for i in range(3)] for _ in range(2)]
    equal, unequal = f_of_tensors("l == m"), f_of_tensors("l != m")
    assert equal(made[0][0], *made)
    assert not unequal(made[0][0], *made)
    made[1][1] = torch.tensor(5.0)
    assert not equal(made[0][0], *made)


@pytest.mark.parametrize("expression", ["x in l", "l == m", "l.count(x)"])
def test_tensors_of_several_elements(expression):
    """One that is the same object is equal, of others nobody can say."""
    x = torch.ones(2)
    f = f_of_tensors(expression)
    assert f(x, [x], [x]) in (True, 1)
    with pytest.raises(RuntimeError, match="more than one value is ambiguous"):
        f(x, [torch.ones(2)], [torch.ones(2)])
