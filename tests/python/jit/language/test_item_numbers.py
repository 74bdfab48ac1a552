"""Numbers that item() gives in compiled code: they stay of the kind that they are."""

from __future__ import annotations

import math

import pytest

import hotaru as torch

EXPRESSIONS = (
    "x.item() + 1",
    "1 - x.item()",
    "x.item() * y.item()",
    "x.item() / 2",
    "x.item() // 2",
    "x.item() % 3",
    "x.item() + 1.5",
    "x.item() + True",
    "-x.item()",
    "abs(x.item())",
    "min(3, x.item())",
    "max(x.item(), 2)",
    "max(x.item(), y.item())",
    "min(1.5, x.item())",
    "divmod(x.item(), 2)",
    "x.item() == 3",
    "x.item() <= y.item()",
    "int(x.item())",
    "float(x.item())",
    "str(x.item())",
    "[0, 1, 2, 3, 4][min(3, abs(y.item())):]",
)
NUMBERS = ((3, 2), (-3, 2), (5, -4))


def compiled(expression: str):
    source = f"def f(x: Tensor, y: Tensor):\n    return {expression}\n"
    return torch.jit.CompilationUnit(source).f


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_they_are_what_python_has(expression):
    function = compiled(expression)
    pairs = [*NUMBERS, *(((a + 0.5), (b + 0.5)) for a, b in NUMBERS)]
    for a, b in pairs[: 3 if ":" in expression else 6]:
        x, y = torch.tensor(a), torch.tensor(b)
        found, wanted = function(x, y), eval(expression, {"x": x, "y": y})
        assert found == wanted
        # The least of an int and a float is of both kinds' common one.
        mixed = expression[:3] in ("min", "max") and (
            isinstance(a, float) or "1.5" in expression
        )
        assert mixed or type(found) is type(wanted)
        if isinstance(wanted, tuple):
            assert [type(n) for n in found] == [type(n) for n in wanted]


def test_functions_of_whole_numbers_take_them():
    def f(x: torch.Tensor):
        return math.gcd(x.item(), 4)

    found = torch.jit.script(f)(torch.tensor(6))
    assert (found, type(found)) == (2, int)


def test_a_device_is_named_by_its_type():
    assert (
        compiled("torch.device(type='cpu')")(torch.ones(1), torch.ones(1)).type == "cpu"
    )
