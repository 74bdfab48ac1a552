"""Archives of older versions: operators mean what they meant when they were written."""

from __future__ import annotations

import io
import itertools
import zipfile

import pytest

import hotaru as torch
from hotaru import nn


def of_version(version: int, expression: str):
    """An archive of a version, whose forward is the expression's value."""
    module = torch.jit.ScriptModule()
    module.define("def forward(self, a: Tensor, b: Tensor):\n    return a\n")
    saved, older = io.BytesIO(), io.BytesIO()
    torch.jit.save(module, saved)
    with zipfile.ZipFile(saved) as archive, zipfile.ZipFile(older, "w") as out:
        for name in archive.namelist():
            data = archive.read(name)
            if name.endswith("version"):
                data = f"{version}\n".encode()
            if name.endswith(".py"):
                data = data.replace(b"return a\n", f"return {expression}\n".encode())
            out.writestr(name.replace(".data/version", "version"), data)
    older.seek(0)
    return torch.jit.load(older)


INTEGERS = torch.tensor([7, -7])
FLOATS = torch.tensor([7.0, -7.0])
COMPLEX = torch.tensor([7 + 1j, -7j])
DIVISIONS = (
    "a / b",
    "torch.div(a, b)",
    "a.div(b)",
    "a.clone().div_(b)",
    "torch.div(a, b, out=torch.zeros_like(a + b))",
)


def truncated(a, b):
    plain = not any(x.is_floating_point() or x.is_complex() for x in (a, b))
    return torch.div(a, b, rounding_mode="trunc" if plain else None)


@pytest.mark.parametrize("expression", DIVISIONS)
def test_integers_were_truncated_before_version_4(expression):
    old, new = of_version(3, expression), of_version(4, expression)
    for a, b in itertools.product((INTEGERS, FLOATS, COMPLEX), repeat=2):
        if "_(" in expression and torch.result_type(a, b) != a.dtype:
            continue
        x, wanted = old(a, b), truncated(a, b)
        assert (x.dtype, x.tolist()) == (wanted.dtype, wanted.tolist())
        if a.dtype != torch.int64 or b.dtype != torch.int64:
            assert torch.equal(new(a, b), torch.div(a, b))
    if "out" not in expression and "_(" not in expression:
        assert torch.equal(new(INTEGERS, INTEGERS), torch.ones(2))


@pytest.mark.parametrize(
    ("expression", "wanted"),
    [
        ("a / 2", [3, -3]),
        ("a / 2.0", [3.5, -3.5]),
        ("torch.div(a, 2)", [3, -3]),
        ("a.clone().div_(2)", [3, -3]),
        ("a.div(int(b[0]))", [1, -1]),
        ("a.div(float(b[0]))", [1.0, -1.0]),
        ("torch.true_divide(a, 2)", [3.5, -3.5]),
        ("torch.div(a, 2, rounding_mode='floor')", [3, -4]),
    ],
)
def test_numbers_tell_how_they_divide(expression, wanted):
    found = of_version(2, expression)(INTEGERS, INTEGERS).tolist()
    assert (found, [type(x) for x in found]) == (wanted, [type(x) for x in wanted])


def test_full_of_an_integer_was_of_floats_before_version_5():
    for expression in ("torch.full([2], 7)", "torch.full([2], 7, dtype=None)"):
        assert of_version(4, expression)(FLOATS, FLOATS).dtype == torch.float32
        assert of_version(5, expression)(FLOATS, FLOATS).dtype == torch.int64
    kept = of_version(4, "torch.full([2], 7, dtype=torch.int32)")(FLOATS, FLOATS)
    assert kept.dtype == torch.int32
    assert of_version(4, "torch.full([2], True)")(FLOATS, FLOATS).tolist() == [1.0, 1.0]


@pytest.mark.parametrize("name", ["linspace", "logspace"])
def test_steps_of_a_space_might_be_left_out(name):
    made = getattr(torch, name)
    last = {"linspace": 7, "logspace": 8}[name]
    for steps, count in (("", 100), (", None", 100), (", 5", 5), (", steps=6", 6)):
        found = of_version(last, f"torch.{name}(1, 2{steps})")
        assert torch.equal(found(FLOATS, FLOATS), made(1, 2, count))
    out = of_version(last, f"torch.{name}(1, 2, out=a)")
    assert torch.equal(out(torch.zeros(0), FLOATS), made(1, 2, 100))
    with pytest.raises(RuntimeError, match="steps"):
        of_version(last + 1, f"torch.{name}(1, 2)")(FLOATS, FLOATS)


def test_sizes_were_written_as_a_call():
    found = of_version(3, "torch.full(torch.Size([2, 3]), 1)")
    assert found(FLOATS, FLOATS).shape == (2, 3)


def test_an_archive_keeps_its_meaning_where_it_goes():
    old = of_version(3, "a / b")
    file = io.BytesIO()
    torch.jit.save(old, file)
    file.seek(0)
    assert torch.jit.load(file)(INTEGERS, INTEGERS * 2).tolist() == [0, 0]
    assert torch.jit.freeze(old.eval())(INTEGERS, INTEGERS * 2).tolist() == [0, 0]

    class Around(nn.Module):
        def __init__(self):
            super().__init__()
            self.old = old

        def forward(self, a, b):
            return self.old(a, b), a / b

    for module in (
        torch.jit.script(Around()),
        torch.jit.trace(Around(), (INTEGERS, INTEGERS)),
    ):
        file = io.BytesIO()
        torch.jit.save(module, file)
        file.seek(0)
        inner, outer = torch.jit.load(file)(INTEGERS, INTEGERS * 2)
        assert (inner.tolist(), outer.tolist()) == ([0, 0], [0.5, 0.5])
    assert "prim::If" in str(old.inlined_graph)
