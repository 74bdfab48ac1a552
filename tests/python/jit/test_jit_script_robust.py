"""jit.script of code that nobody wrote for it: an error, never a crash."""

# TorchScript knows the old spellings.
# ruff: noqa: UP006, UP035

import importlib
import inspect
from typing import Dict, List, Optional, Tuple

import pytest

import hotaru as torch

MODULES = [
    "argparse",
    "ast",
    "calendar",
    "collections",
    "colorsys",
    "difflib",
    "fractions",
    "functools",
    "heapq",
    "json.decoder",
    "optparse",
    "random",
    "statistics",
    "string",
    "textwrap",
    "hotaru.functional",
    "hotaru.nn.functional",
    "hotaru.nn.init",
    "hotaru.jit._tracing.traced",
]


def functions(module):
    for value in list(vars(module).values()):
        if inspect.isfunction(value):
            yield value
        elif inspect.isclass(value) and value.__module__ == module.__name__:
            yield from filter(inspect.isfunction, list(vars(value).values()))


def why_not(function):
    """None if the function compiles, else the error's text."""
    try:
        torch.jit.script(function)
    except (OSError, RuntimeError) as error:
        return str(error)
    return None


@pytest.mark.parametrize("name", MODULES)
def test_functions_compile_or_say_why_not(name):
    tried = 0
    for function in functions(importlib.import_module(name)):
        tried += 1
        text = why_not(function)
        told = ("File ", "requires source access")
        assert text is None or any(t in text for t in told), function
    assert tried > 0


def test_other_names_for_what_the_language_knows():
    together, count = zip, range

    def f(n: int):
        total = 0
        for a, b in together(count(n), [1, 2, 3]):
            total += a * b
        return total

    assert torch.jit.script(f)(3) == f(3)


def test_another_name_for_isinstance():
    check = isinstance

    def f(x, n: Optional[int] = None):
        if check(x, torch.Tensor) and not torch.jit.isinstance(n, int):
            return x + 1
        return x

    assert torch.jit.script(f)(torch.ones(1)) == 2
    assert torch.jit.script(f)(torch.ones(1), 3) == 1


@pytest.mark.parametrize(
    ("value", "wanted", "answer"),
    [
        ([1, 2], List[int], True),
        ([1, "a"], List[int], False),
        ({"a": (1, 2.0)}, Dict[str, Tuple[int, float]], True),
        (None, Optional[List[str]], True),
        ([], (int, List[str]), True),
        (1, List[int], False),
    ],
)
def test_isinstance_of_containers(value, wanted, answer):
    assert torch.jit.isinstance(value, wanted) is answer


def test_lists_for_variables_of_other_types():
    def f(x):
        x = [row for row in x if row.sum() > 0]
        return x

    rows = torch.jit.script(f)(torch.tensor([[1.0], [-1.0]]))
    assert [row.tolist() for row in rows] == [[1.0]]


def test_another_value_under_the_same_name():
    def f(x, n: int):
        x = x.shape[0]
        n = "rows: " + str(n)
        return n * x

    assert torch.jit.script(f)(torch.ones(2), 1) == "rows: 1rows: 1"
