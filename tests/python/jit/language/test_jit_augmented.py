"""Augmented assignment in compiled functions: every operator with every kind of
target, in values, in who else sees them, and in what is evaluated.

Each function is compiled from the text that Python runs, too.
"""

# TorchScript knows the old spellings.
# ruff: noqa: UP006, UP035

from typing import Dict, List, Tuple

import pytest

import hotaru as torch
from hotaru import Tensor

NAMES = {"torch": torch, "Tensor": Tensor, "Dict": Dict, "List": List}

SUBSCRIPTS = [
    "y",
    "y[1]",
    "y[-1]",
    "y[1:]",
    "y[:, 1]",
    "y[..., 0]",
    "y[None]",
    "y[::2]",
    "y[::2, 1:3]",
    "y[0, 1]",
    "y[i]",
    "y[m]",
    "y[y > 2]",
    "y[y > 99]",
    "y[[0, 2]]",
    "y[0, j]",
    "y[:, j]",
    "y[j2, j]",
    "y[1:][i0]",
    "y.t()[j]",
    "y[0][j]",
    "y[i][:, 1]",
    "y[i, 1:]",
    "y[1:, j]",
    "y[None, i]",
    "y.data",
    "y.T[0]",
    "y.view(-1)[k]",
    "y[m, 0]",
]
FLOATS = ["+", "-", "*", "/", "//", "%", "**"]
INTEGERS = ["+", "-", "*", "//", "%", "&", "|", "^", "<<", ">>"]
VALUES = {"2": "2", "tensor": "torch.tensor(3)"}


def both(source: str, name: str = "f"):
    """The function as Python runs it and compiled."""
    space = dict(NAMES)
    exec(source, space)
    return space[name], getattr(torch.jit.CompilationUnit(source), name)


def outcome(f, *arguments):
    try:
        return f(*arguments)
    except (RuntimeError, IndexError) as error:
        return type(error)


def check(f, g, arguments) -> None:
    mine, theirs = arguments(), arguments()
    want, got = outcome(f, *mine), outcome(g, *theirs)
    # Compiled code has copies of the caller's containers, not of tensors.
    assert str(want) == str(got)


def indices() -> tuple:
    return (
        torch.tensor([2, 0]),
        torch.tensor([1, 3]),
        torch.tensor([0, 2]),
        torch.tensor([1, 0]),
        torch.tensor([5, 0, 7]),
        torch.tensor([True, False, True]),
    )


@pytest.mark.parametrize("kind", ["float", "integer"])
def test_operators_on_tensors(kind):
    operators = FLOATS if kind == "float" else INTEGERS
    sources, names = [], []
    for operator in operators:
        for target in SUBSCRIPTS:
            for value in VALUES.values():
                name = f"f{len(names)}"
                names.append((name, f"{target} {operator}= {value}"))
                sources.append(
                    f"def {name}(y: Tensor, i: Tensor, j: Tensor, j2: Tensor,"
                    " i0: Tensor, k: Tensor, m: Tensor):\n"
                    f"    other = y\n    {names[-1][1]}\n    return y, other\n"
                )
    source = "\n".join(sources)
    space = dict(NAMES)
    exec(source, space)
    unit = torch.jit.CompilationUnit(source)
    for name, text in names:

        def arguments():
            y = torch.arange(12).reshape(3, 4) - 2
            return (y.float() if kind == "float" else y, *indices())

        mine, theirs = arguments(), arguments()
        want = outcome(space[name], *mine)
        got = outcome(getattr(unit, name), *theirs)
        assert str(want) == str(got), text
        assert str(mine[0]) == str(theirs[0]), text


@pytest.mark.parametrize("target", ["y", "y[0]", "y[i]", "y[1:]", "y[m]"])
def test_products_of_matrices(target):
    f, g = both(
        "def f(y: Tensor, w: Tensor, i: Tensor, m: Tensor):\n    other = y\n"
        f"    {target} @= w\n    return y, other\n"
    )
    check(
        f,
        g,
        lambda: (
            torch.arange(9.0).reshape(3, 3),
            torch.arange(9.0).reshape(3, 3) - 4,
            torch.tensor([2, 0]),
            torch.tensor([True, False, True]),
        ),
    )


CONTAINERS = {
    "List[int]": (lambda: [5, 7, 9], ["x[1]", "x[-1]"], INTEGERS, "2"),
    "List[float]": (lambda: [5.0, 7.0], ["x[0]", "x[-1]"], FLOATS, "2.0"),
    "List[str]": (lambda: ["a", "b"], ["x[1]"], ["+"], "'z'"),
    "List[Tensor]": (
        lambda: [torch.arange(3.0), torch.ones(3)],
        ["x[0]", "x[-1]", "x[0][1]", "x[1][1:]", "x[0][x[1] > 0]"],
        FLOATS,
        "2",
    ),
    "List[List[int]]": (lambda: [[1], [2, 3]], ["x[1][0]"], ["+", "*"], "2"),
    "Dict[str, int]": (lambda: {"a": 5}, ["x['a']"], INTEGERS, "2"),
    "Dict[int, Tensor]": (
        lambda: {4: torch.arange(3.0)},
        ["x[4]", "x[4][0]", "x[4][torch.tensor([0, 2])]", "x[4][[1]]"],
        FLOATS,
        "2",
    ),
    "Dict[str, List[int]]": (lambda: {"a": [1, 2]}, ["x['a'][1]"], ["-"], "2"),
}


@pytest.mark.parametrize("kind", CONTAINERS)
def test_items_of_containers(kind):
    make, targets, operators, value = CONTAINERS[kind]
    for target in targets:
        for operator in operators:
            f, g = both(
                f"def f(x: {kind}):\n    other = x\n"
                f"    {target} {operator}= {value}\n    return x, other\n"
            )
            check(f, g, lambda: (make(),))


@pytest.mark.parametrize(
    ("kind", "target", "value"),
    [
        ("List[int]", "x", "[3]"),
        ("List[int]", "x", "x"),
        ("List[List[int]]", "x[0]", "[3, 4]"),
        ("Dict[str, List[int]]", "x['a']", "[3, 4]"),
    ],
)
@pytest.mark.parametrize("operator", ["+", "*"])
def test_lists_grow_where_they_are(kind, target, value, operator):
    value = "3" if operator == "*" else value
    f, g = both(
        f"def f(x: {kind}):\n    other = x\n    item = {target}\n"
        f"    {target} {operator}= {value}\n    return x, other, item\n"
    )
    make = {
        "List[int]": lambda: [1, 2],
        "List[List[int]]": lambda: [[1], [2]],
        "Dict[str, List[int]]": lambda: {"a": [1]},
    }[kind]
    check(f, g, lambda: (make(),))


def test_parts_are_evaluated_once():
    f, g = both(
        "def f(y: Tensor, order: List[int], rows: List[Tensor]):\n"
        "    y[order.pop()] += 1.0\n"
        "    rows.pop()[order.pop()] *= 3.0\n"
        "    order[order.pop()] += 10\n"
        "    return y, order, rows\n"
    )
    check(
        f,
        g,
        lambda: (
            torch.arange(4.0),
            [7, 8, 1, 2, 3],
            [torch.ones(3), torch.arange(3.0)],
        ),
    )


def test_slices_of_lists_are_refused():
    for target in ("x[1:]", "x[:]"):
        with pytest.raises(RuntimeError, match="cannot be assigned to"):
            torch.jit.CompilationUnit(
                f"def f(x: List[int]):\n    {target} += [3]\n    return x\n"
            ).f([1, 2])
    with pytest.raises(RuntimeError, match="augmented assignment"):
        torch.jit.CompilationUnit(
            "def f(x: Tuple[int, int]):\n    x[0] += 3\n    return x\n"
        ).f((1, 2))


@torch.jit.script
class Grid:
    """Items that are made when they are asked for."""

    def __init__(self):
        self.values = [1, 2, 3]
        self.reads = 0

    def __getitem__(self, i: int) -> Tensor:
        self.reads += 1
        return torch.tensor(self.values[i])

    def __setitem__(self, i: int, value: Tensor) -> None:
        self.values[i] = int(value)


@torch.jit.script
class Sum:
    """With a method of its own for +=, and without for -=."""

    def __init__(self, total: int):
        self.total = total

    def __iadd__(self, other: int):
        self.total += other
        return self

    def __sub__(self, other: int):
        return Sum(self.total - other)


def grid() -> Tuple[List[int], int]:
    g = Grid()
    g[1] += 10
    g[0] *= 7
    return g.values, g.reads


def sums() -> Tuple[int, int]:
    s = Sum(5)
    same = s
    s += 3
    s -= 1
    return s.total, same.total


@pytest.mark.parametrize("f", [grid, sums])
def test_objects(f):
    assert torch.jit.script(f)() == f()


class Counter(torch.nn.Module):
    """Every kind of attribute is counted in."""

    def __init__(self):
        super().__init__()
        self.register_buffer("seen", torch.zeros(4))
        self.n = 0
        self.names: List[str] = ["a"]
        self.table: Dict[str, int] = {"a": 1}
        self.parts = torch.nn.ModuleList([torch.nn.BatchNorm1d(2)])

    @property
    def twice(self) -> int:
        return self.n * 2

    @twice.setter
    def twice(self, value: int) -> None:
        self.n = value // 2

    def forward(self, i: Tensor):
        self.seen[i] += 1.0
        self.seen[0] -= 0.5
        self.seen *= 2
        self.seen[self.seen > 3] //= 2
        self.n += 3
        self.twice += 4
        self.names += ["b"]
        self.names[0] += "!"
        self.table["a"] <<= 2
        for part in self.parts:
            part.running_mean[0] += 1
            part.running_var += 1
        return self.seen, self.n, self.names, self.table


def test_states_of_modules():
    eager, script = Counter(), torch.jit.script(Counter())
    i = torch.tensor([0, 3])
    for _ in range(3):
        assert str(eager(i)) == str(script(i))
    for name, value in eager.state_dict().items():
        assert torch.equal(value, script.state_dict()[name]), name
