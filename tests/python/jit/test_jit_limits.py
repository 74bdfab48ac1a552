"""Sizes in which a program may be large: what is saved loads again, and honest
code of any size compiles.
"""

# ruff: noqa: UP006, UP035

import io
import threading
import time
import zipfile
from typing import Dict, List

import pytest

import hotaru as torch


def again(module):
    buffer = io.BytesIO()
    torch.jit.save(module, buffer)
    buffer.seek(0)
    return torch.jit.load(buffer)


def compiled(source: str):
    return torch.jit.CompilationUnit(source)


class Holder(torch.nn.Module):
    """Large attributes of every kind."""

    def __init__(self, n: int):
        super().__init__()
        self.ids: Dict[str, int] = {f"w{i}": i for i in range(n)}
        self.lists: Dict[str, List[int]] = {str(i): [i, i] for i in range(n)}
        self.numbers: Dict[int, float] = {i: i / 2 for i in range(n)}
        self.names: List[str] = [f"token{i}" for i in range(n)]
        self.pairs: List[List[int]] = [[i, i + 1] for i in range(n)]

    def forward(self, i: int):
        return (
            self.ids[f"w{i}"],
            self.lists[str(i)][1],
            self.numbers[i],
            self.names[i],
            self.pairs[i][1],
        )


def test_large_attributes():
    n = 100_000
    found = again(torch.jit.script(Holder(n)))(n - 1)
    assert found == (n - 1, n - 1, (n - 1) / 2, f"token{n - 1}", n)


def chain(n: int) -> str:
    lines = ["def f(i: int) -> int:", "    if i == 0:", "        return 0"]
    for k in range(1, n):
        lines += [f"    elif i == {k}:", f"        return {k * 7 % 11}"]
    return "\n".join([*lines, "    else:", "        return -1"]) + "\n"


@pytest.mark.parametrize("n", [97, 300])
def test_chains_of_elif(n):
    f = compiled(chain(n)).f
    loaded = again(f)
    for i in (0, 1, n // 2, n - 1, n):
        assert f(i) == loaded(i) == (i * 7 % 11 if i < n else -1)


def test_long_chains_are_lowered_sooner_than_read():
    """The first call lowers a chain, every part of which is read once: by
    processor time it is a tenth of what reading the source takes.
    """
    begin = time.process_time()
    f = compiled(chain(4000)).f
    read = time.process_time()
    assert f(4000) == -1
    assert time.process_time() - read < read - begin


def test_chains_in_loops_and_with_names():
    lines = ["def f(n: int):", "    a = 0", "    for i in range(n):"]
    for k in range(150):
        word = "if" if k == 0 else "elif"
        lines += [f"        {word} i == {k}:", f"            a += {k}"]
    assert compiled("\n".join([*lines, "    return a\n"])).f(150) == 11175


CHAINS = {
    "sum": (" + ".join(["x"] * 3000), 3000.0),
    "alternating": (" - ".join(["x"] * 3000), -2998.0),
    "product": (" * ".join(["x"] * 1000), 1.0),
    "mixed": (" + ".join(f"x * {k}." for k in range(1500)), 1124250.0),
    "brackets": ("(" * 300 + "x" + ")" * 300, 1.0),
    "right": ("x + (" * 300 + "x" + ")" * 300, 301.0),
    "calls": ("torch.abs(" * 300 + "x" + ")" * 300, 1.0),
    "methods": ("x" + ".abs()" * 400, 1.0),
    "negations": ("- " * 300 + "x", 1.0),
}


@pytest.mark.parametrize("name", CHAINS)
def test_long_expressions(name):
    text, want = CHAINS[name]
    f = compiled(f"def f(x: Tensor):\n    return {text}\n").f
    x = torch.ones((), dtype=torch.float64)
    assert f(x).item() == again(f)(x).item() == want


def test_long_strings_and_lists():
    text = " + ".join(["x", "','"] * 1000)
    assert len(compiled(f"def f(x: str):\n    return {text}\n").f("ab")) == 3000
    text = " + ".join(["[1]"] * 1000)
    assert compiled(f"def f():\n    return {text}\n").f() == [1] * 1000


@pytest.mark.parametrize("depth", [58, 95])
def test_nested_ifs_and_loops(depth):
    lines = ["def f(n: int):", "    a = 0"]
    for k in range(depth):
        lines.append("    " * (k + 1) + f"if n > {k}:")
        lines.append("    " * (k + 2) + "a += 1")
    f = compiled("\n".join([*lines, "    return a\n"])).f
    loaded = again(f)
    for n in (0, depth // 2, depth):
        assert f(n) == loaded(n) == n


class Nest(torch.nn.Module):
    """One module in another, and code that asks each for the next."""

    def __init__(self, depth: int):
        super().__init__()
        self.inner = Nest(depth - 1) if depth else torch.nn.Identity()

    def forward(self, x):
        return self.inner(x) + 1


@pytest.mark.parametrize("depth", [58, 100])
def test_modules_in_modules(depth):
    module = torch.jit.script(Nest(depth))
    x = torch.zeros(1)
    assert module(x).item() == again(module)(x).item() == depth + 1
    module = torch.nn.Identity()
    for _ in range(depth):
        module = torch.nn.Sequential(module, torch.nn.Identity())
    assert again(torch.jit.script(module))(x).item() == 0


def test_long_traces():
    def f(x):
        for _ in range(3000):
            x = x * 1.0 + 1.0
        return x

    traced = torch.jit.trace(f, torch.zeros(1))
    assert again(traced)(torch.zeros(1)).item() == 3000


HOSTILE = {
    "brackets": "return " + "(" * 100_000 + "x",
    "lists": "return " + "[" * 100_000,
    "negations": "return " + "-" * 100_000 + "x",
    "powers": "return " + "x ** " * 100_000 + "x",
    "methods": "return x" + ".abs()" * 100_000,
    "ands": "return " + "x and " * 100_000 + "x",
    "subscripts": "return x" + "[0]" * 100_000,
    "conditions": "return " + "1 if x else " * 100_000 + "2",
}


@pytest.mark.parametrize("small_stack", [False, True])
@pytest.mark.parametrize("name", HOSTILE)
def test_endless_nesting_is_an_error(name, small_stack):
    source = f"def f(x: int):\n    {HOSTILE[name]}\n"
    caught = []

    def run():
        try:
            compiled(source).f(1)
        except RuntimeError as error:
            caught.append(str(error))

    if not small_stack:
        run()
    else:
        before = threading.stack_size(1 << 20)
        thread = threading.Thread(target=run)
        thread.start()
        threading.stack_size(before)
        thread.join()
    assert len(caught) == 1


@pytest.mark.parametrize("size", [256 << 10, 1 << 20, 8 << 20])
def test_nesting_that_a_stack_does_not_hold_is_an_error(size):
    """Deep, but within the parser's limit: an answer or an error, no crash."""
    deep = "\n".join(
        ["def f(n: int):"]
        + ["  " * k + f"  if n > {k}:" for k in range(600)]
        + ["  " * 601 + "return 1", "  return 0", ""]
    )
    long = chain(20_000)
    ended = []

    def run():
        for source in (deep, long):
            try:
                ended.append(str(compiled(source).f(-1)))
            except RuntimeError as error:
                ended.append(str(error))

    before = threading.stack_size(size)
    thread = threading.Thread(target=run)
    thread.start()
    threading.stack_size(before)
    thread.join()
    assert len(ended) == 2
    for found, want in zip(ended, ("0", "-1"), strict=True):
        assert found == want or "nested" in found


def test_archives_that_were_packed_again():
    """Everything in them is deflated, the weights to almost nothing."""
    layer = torch.nn.Linear(1000, 10_000, bias=False)
    torch.nn.init.ones_(layer.weight)
    plain, packed = io.BytesIO(), io.BytesIO()
    torch.jit.save(torch.jit.script(layer), plain)
    with (
        zipfile.ZipFile(plain) as source,
        zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as target,
    ):
        for name in source.namelist():
            target.writestr(name, source.read(name))
    assert len(packed.getvalue()) < 1_000_000
    packed.seek(0)
    assert torch.jit.load(packed)(torch.ones(1, 1000))[0, 9999].item() == 1000
