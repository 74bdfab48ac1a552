"""jit.script of code that nobody wrote for it: an error, never a crash."""

import importlib
import inspect

import pytest

import hotaru as torch

MODULES = [
    "argparse", "ast", "calendar", "collections", "colorsys", "difflib",
    "fractions", "functools", "heapq", "json.decoder",  "optparse",
    "random", "statistics", "string", "textwrap", "hotaru.functional",
    "hotaru.nn.functional", "hotaru.nn.init", "hotaru.jit._traced",
]  # fmt: skip


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


def test_lists_for_variables_of_other_types():
    def f(x):
        x = [row for row in x if row.sum() > 0]
        return x

    with pytest.raises(RuntimeError, match=r"variable 'x' has type 'Tensor'"):
        torch.jit.script(f)
