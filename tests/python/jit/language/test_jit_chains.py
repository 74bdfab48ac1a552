"""Chains of elif in archives: flat, of any length, and the same programs."""

# The annotations are those that old programs have.
# ruff: noqa: UP006, UP035, UP045

from __future__ import annotations

import io
import itertools
from typing import Dict, List, Optional

import pytest

import hotaru as torch


def loaded(module):
    """Saves the module, and loads the archive."""
    file = io.BytesIO()
    torch.jit.save(module, file)
    file.seek(0)
    return torch.jit.load(file)


def chain(count, condition="x == {i}"):
    """A module of one chain, by text: Python's own parser has limits."""
    lines = ["def forward(self, x: int, y: int) -> int:"]
    lines += ["  if x == -1:", "    r = -1"]
    for i in range(count):
        lines += [f"  elif {condition.format(i=i)}:", f"    r = {2 * i}"]
    lines += ["  else:", "    r = -7", "  return r", ""]
    module = torch.jit.ScriptModule()
    module.define("\n".join(lines))
    return module


class Counter(torch.nn.Module):
    """Conditions that leave traces, in an order that must stay."""

    calls: List[str]

    def __init__(self):
        super().__init__()
        self.calls = []
        self.last = 0

    def see(self, name: str, value: int) -> int:
        self.calls.append(name)
        self.last = value
        return value

    def forward(self, x: int, y: int) -> List[str]:
        self.calls = [""]
        if self.see("a", x) == 0:
            self.calls.append("zero")
        elif self.see("b", x) + self.last * self.see("c", y) == 3:
            self.calls.append("three")
        elif self.see("d", y) > 1 and self.see("e", x) > self.last:
            self.calls.append("never")
        elif self.see("f", x) > 2 or not self.see("g", y) > 0:
            self.calls.append("or")
        elif self.see("h", self.see("i", x)) == self.see("j", y):
            self.calls.append("nested")
        return self.calls


class Values(torch.nn.Module):
    """Several variables, some of which a part leaves as they are."""

    def forward(self, x: int, y: int) -> Dict[str, int]:
        a, b, c = 1, 2, 3
        if x == 0:
            a = 10
        elif x == 1:
            b, c = c, b
        elif x == 2 and y > 0:
            a, c = c, a
        elif x == 3:
            a = b
            b = a + c
        else:
            c = 0
        return {"a": a, "b": b, "c": c}


class Leaves(torch.nn.Module):
    """Parts that return, raise, break and continue."""

    def forward(self, x: int, y: int) -> int:
        total = 0
        for i in range(6):
            if i == x:
                continue
            elif i == y:
                total += 100
            elif i > 4:
                break
            elif x + y == 5:
                return -total
            elif x == 1 and y == 1:
                raise ValueError("one")
            total += i
        if x == 0:
            return total
        elif y == 0:
            total += 7
        elif x == y:
            return total + 1000
        else:
            raise ValueError("other")
        return total


class Widens(torch.nn.Module):
    def forward(self, x: int, y: int) -> Optional[int]:
        out: Optional[int] = None
        if x == 0:
            out = y
        elif x == 1:
            out = None
        elif out is not None and out > 3:
            out = 5
        elif isinstance(out, int) or x > 2:
            out = x if y == 0 else None if y == 1 else y
        return out


class Refines(torch.nn.Module):
    def value(self, x: int) -> Optional[int]:
        return None if x == 0 else x

    def forward(self, x: int, y: int) -> int:
        first = self.value(x)
        second = self.value(y)
        if first is None:
            return -1
        elif second is None:
            return first
        elif first + second == 3 or second == first:
            return 3
        else:
            return first * second


MODULES = [Counter, Values, Leaves, Widens, Refines]


def outcome(module, x, y):
    try:
        return module(x, y)
    except Exception as error:
        return "one" in str(error), "other" in str(error)


@pytest.mark.parametrize("kind", MODULES)
def test_archives_keep_chains(kind):
    plain, scripted = kind(), torch.jit.script(kind())
    back = loaded(scripted)
    again = loaded(back)
    assert kind is Refines or "elif" in again.code
    assert again.code == back.code
    for x, y in itertools.product(range(5), repeat=2):
        want = outcome(plain, x, y)
        for module in (scripted, back, again):
            assert outcome(module, x, y) == want, (x, y)


@pytest.mark.parametrize("kind", [Values, Widens, Refines])
def test_frozen_chains(kind):
    frozen = loaded(torch.jit.freeze(torch.jit.script(kind()).eval()))
    plain = kind()
    for x, y in itertools.product(range(5), repeat=2):
        assert frozen(x, y) == plain(x, y)


@pytest.mark.parametrize(
    "condition", ["x == {i}", "x == {i} and (y > 0 or not y == -1)"]
)
def test_a_thousand_parts(condition):
    back = loaded(chain(1000, condition))
    assert [back(x, 1) for x in (-1, 0, 5, 999, 1000)] == [-1, 0, 10, 1998, -7]


def test_tens_of_thousands_of_parts():
    """An archive grows with the chain, not with its square; what the stack
    has no room for is an error.
    """
    module = chain(12000)
    file = io.BytesIO()
    torch.jit.save(module, file)
    assert len(file.getvalue()) < 1 << 20
    file.seek(0)
    torch.jit.load(file)
    with pytest.raises(RuntimeError, match="stack allows"):
        chain(60000)


def test_what_no_elif_can_say_is_nested():
    condition = "len([z for z in range(y) if z > 2]) == {i}"
    back = loaded(chain(20, condition))
    assert [back(7, y) for y in (0, 12, 40)] == [0, 18, -7]
    deep = chain(1100, condition)
    assert loaded(deep).code == deep.code


def test_long_conditions_stay_lines():
    """Brackets are limited, too."""
    back = loaded(chain(2, " and ".join(["x == {i}"] + ["y > 0"] * 1500)))
    assert [back(1, 1), back(1, 0), back(-1, 0)] == [2, -7, -1]


@pytest.mark.parametrize(
    "shape",
    [
        "(INNER if x > N else N)",
        "(N if x > N else INNER)",
        "int(x > N and INNER == 1)",
        "int(x < N or INNER == 1)",
        "len([z for z in range(INNER) if z > N if z < 9])",
    ],
)
def test_nested_expressions_come_back(shape):
    """Each level may be more than one in the archive."""
    text = "1"
    for i in range(300):
        text = shape.replace("INNER", text).replace("N", str(i % 7))
    module = torch.jit.ScriptModule()
    module.define(f"def forward(self, x: int) -> int:\n  return {text}\n")
    back = loaded(module)
    for x in (-1, 3, 8):
        assert back(x) == module(x)
