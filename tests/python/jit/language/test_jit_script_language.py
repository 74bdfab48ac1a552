"""jit.script of functions: every construct gives what Python gives.

Each function below is called as it stands and compiled; the results agree in
values, types and dtypes.
"""

# TorchScript knows the old spellings, and they are what is tested.
# ruff: noqa: RUF005, RUF059, SIM300, UP006, UP032, UP035

import math
from typing import Any, Dict, List, NamedTuple, Optional, Tuple, Union

import hotaru.nn.functional as F
import pytest

import hotaru as torch
from hotaru import Tensor

X = torch.arange(6.0).reshape(2, 3)
OFFSET = 5
SIZES = [2, 3]


class Point(NamedTuple):
    """Two fields of different types."""

    x: Tensor
    n: int


def branches(x, flag: bool):
    if flag:
        y = x * 2
    elif x.sum() > 3:
        y = x + 1
    else:
        y = x
    return y if x.dim() == 2 else -y


def loops(n: int):
    total = 0
    for i in range(n):
        if i == 2:
            continue
        if i == 7:
            break
        total += i
    k = 10
    while True:
        k -= 3
        if k < 0:
            return total, k, list(range(10, 0, -3))


def search(values: List[int], wanted: int) -> int:
    for i, value in enumerate(values):
        if value == wanted:
            return i
    return -1


def lists(values: List[int]):
    out: List[int] = []
    for value in values:
        out.append(value * value)
    out.extend([7, 8])
    out.insert(0, 9)
    last = out.pop()
    out.reverse()
    out.sort()
    table = [[i * j for j in range(3)] for i in range(2)]
    return out, last, out.index(7), out[1:], out[::-1], [0] * 3, table, sum(out)


def dicts(counts: Dict[str, int]):
    total = 0
    for name, count in counts.items():
        total += count if name != "b" else 10 * count
    counts["z"] = total
    del counts["a"]
    squares = {i: i * i for i in range(3)}
    return counts, "b" in counts, counts.get("q", 5), squares, len(counts)


def tuples(pair: Tuple[int, Tensor], three: Tuple[int, int, int]):
    n, x = pair
    first, *rest = three
    (a, b), c = (n, first), three[-1]
    return x + n, rest, a, b, c, three[:2], (1,) + three


def zipped(a: List[int], b: List[float]):
    total = 0.0
    for i, (p, q) in enumerate(zip(a, b)):
        total += i * p * q
    for p in reversed(a):
        total = total * 2 + p
    return total


def rows(x):
    total = torch.zeros(3)
    for row in x:
        total = total + row * 2
    return total


def strings(s: str, n: int):
    both = f"n={n} {{s}}={s[1:]}"
    count = 0
    for c in s:
        if c == "a":
            count += 1
    return both, count, s.upper(), s.split(","), s[1:], "{}-{}".format(s, n)


def sizes_as_tuples(x):
    return x.size() == (2, 3), x.shape != (2, 3), (3,) == x[0].shape


def numbers(a: int, b: float):
    return (
        a // 2,
        a % 3,
        a / 4,
        -a,
        a * b,
        a + b,
        b - a,
        b // 2,
        abs(-a),
        min(a, 3),
        max(b, 1.0),
        int(b),
        float(a),
        bool(a),
        a & 3,
        a | 8,
        a ^ 1,
        a << 2,
        0 < a < 10,
        a == 3 or a > 5,
        not a > 2,
        a in [1, 7],
        a not in (7, 8),
    )


def maths(v: float):
    return math.sqrt(v), math.floor(v), math.exp(v), math.pi * v, math.log(v)


def optional(x, y: Optional[Tensor] = None, k: Optional[int] = None):
    if y is None:
        y = torch.ones_like(x)
    if k is not None and k > 3:
        return x + y * k
    return x + y


def unions(v: Union[int, str]) -> str:
    if isinstance(v, int):
        return "int " + str(v + 1)
    else:
        return "str " + v


def anything(v: Any) -> int:
    if isinstance(v, Tensor):
        return v.dim()
    return -1


def subscripts(x):
    y = x.clone()
    y[0] = 5
    y[:, 1] += 10
    y[y > 10] = 0
    return x[0], x[:, 1], x[..., -1], x[None], x[0, ::2], x[x > 2], y


def with_numbers(x):
    n = x.long()
    return (
        2 * x,
        1 - x,
        1 / (x + 1),
        3 > x,
        2.5 + n,
        n * 2,
        n / 2,
        x // 2,
        7 // (x + 1),
        2.0**x,
        x % 2,
        x * True,
        n << 1,
        -x,
        x**2,
    )


def attributes(x):
    b, c = x.shape
    y = x.to(torch.float64).int()
    return x.view(c, b), x.size(0), x.dim(), x.T, x.dtype == torch.float32, y


def creation(x):
    made = torch.zeros(2, dtype=torch.long), torch.full([2], 3.5)
    return made, torch.tensor([1, 2]), torch.arange(3), torch.ones_like(x)


def several(x):
    values, indices = x.max(dim=1)
    a, b, c = torch.split(x, 1, dim=1)
    return values, indices, torch.chunk(x, 2)[0], a, c, torch.std_mean(x)


def functionals(x):
    return (
        F.relu(x - 2),
        F.softmax(x, dim=1),
        F.leaky_relu(x, 0.1),
        F.gelu(x),
        F.hardtanh(x),
        F.layer_norm(x, [3]),
        F.normalize(x),
        F.pad(x, [1, 1]),
        F.dropout(x, 0.5, False),
        F.mse_loss(x, x * 2),
        F.one_hot(x.long()),
    )


def pools(x):
    return (
        F.max_pool2d(x, 2),
        F.max_pool2d(x, [2, 2], stride=1),
        F.avg_pool2d(x, 2),
        F.max_pool2d(x, 2, return_indices=True),
        F.adaptive_avg_pool2d(x, 2),
        F.interpolate(x, scale_factor=2.0),
        F.interpolate(x, size=3),
    )


def helper(a, k: int = 2):
    return a * k + OFFSET


def calls(x):
    def unused(y):
        return y

    sizes = SIZES
    return helper(x) + helper(x, 3) + helper(x, k=4), sizes


def closed_over():
    inner_offset = 3
    scale = (1, 2.5)

    def inner(a):
        return a + inner_offset

    def outer(x):
        return inner(inner(x)) * scale[1]

    return outer


def named(p: Point):
    made = Point(p.x * 2, n=p.n + 1)
    return made.n, p.x * p.n, made[0]


def recursive(n: int) -> int:
    if n <= 1:
        return 1
    return n * recursive(n - 1)


def old_style(x, n):
    # type: (Tensor, int) -> Tensor
    return x * n


def nothing(values: List[int]) -> None:
    assert len(values) > 0, "empty"


def to_list(x):
    out: List[List[float]] = x.tolist()
    return out


def annotated(x):
    parts = torch.jit.annotate(List[Tensor], [])
    parts.append(x)
    return torch.stack(parts)


CASES = [
    (branches, (X, True)),
    (branches, (X, False)),
    (branches, (X * 0, False)),
    (branches, (X[0], False)),
    (loops, (3,)),
    (loops, (20,)),
    (search, ([4, 5, 6], 6)),
    (search, ([1], 2)),
    (lists, ([3, 1, 2],)),
    (dicts, ({"a": 1, "b": 2},)),
    (tuples, ((2, X), (1, 2, 3))),
    (zipped, ([1, 2, 3], [0.5, 0.25, 2.0])),
    (rows, (X,)),
    (strings, ("a,ba", 3)),
    (sizes_as_tuples, (X,)),
    (numbers, (7, 2.5)),
    (numbers, (2, 3.0)),
    (maths, (2.5,)),
    (optional, (X,)),
    (optional, (X, X)),
    (optional, (X, None, 5)),
    (optional, (X, None, 2)),
    (unions, (3,)),
    (unions, ("q",)),
    (anything, (X,)),
    (anything, ("a",)),
    (subscripts, (X,)),
    (with_numbers, (X,)),
    (attributes, (X,)),
    (creation, (X,)),
    (several, (X,)),
    (functionals, (X,)),
    (pools, (torch.arange(16.0).reshape(1, 1, 4, 4),)),
    (calls, (X,)),
    (closed_over(), (X,)),
    (named, (Point(X, 3),)),
    (recursive, (6,)),
    (old_style, (X, 3)),
    (nothing, ([1],)),
    (to_list, (X,)),
    (annotated, (X,)),
]


def copied(value):
    """The arguments anew: Python changes them, compiled code its copies."""
    if isinstance(value, Tensor):
        return value.clone()
    if isinstance(value, list):
        return [copied(item) for item in value]
    if isinstance(value, dict):
        return {key: copied(item) for key, item in value.items()}
    if isinstance(value, tuple):
        items = [copied(item) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    return value


def same(a, b) -> bool:
    """Equal in type and value; sizes are lists, as in TorchScript."""
    if isinstance(a, torch.Size):
        a = list(a)
    if isinstance(a, Tensor):
        return (
            isinstance(b, Tensor)
            and a.dtype == b.dtype
            and a.shape == b.shape
            and torch.allclose(a.double(), b.double(), rtol=1e-6, atol=1e-6)
        )
    if isinstance(a, (list, tuple)):
        kind = list if isinstance(a, list) else tuple
        return (
            isinstance(b, (list, tuple) if kind is list else tuple)
            and len(a) == len(b)
            and all(map(same, a, b))
        )
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    if isinstance(a, float):
        return isinstance(b, float) and math.isclose(a, b)
    return type(a) is type(b) and a == b


@pytest.mark.parametrize(
    ("function", "arguments"), CASES, ids=[f.__name__ for f, _ in CASES]
)
def test_compiled_gives_what_python_gives(function, arguments):
    mine, theirs = copied(arguments), copied(arguments)
    expected = function(*theirs)
    result = torch.jit.script(function)(*mine)
    assert same(expected, result), (expected, result)


def test_named_tuples_come_back_as_their_class():
    def make(x) -> Point:
        return Point(x, 3)

    result = torch.jit.script(make)(X)
    assert isinstance(result, Point)
    assert result.n == 3


def test_keywords_and_defaults():
    def f(x, n: int = 2, *, scale: float = 1):
        return x * n * scale

    compiled = torch.jit.script(f)
    assert torch.equal(compiled(X), X * 2)
    assert torch.equal(compiled(n=3, x=X, scale=2), X * 6)
    text = "f(Tensor x, int n=2, *, float scale=1.) -> Tensor"
    assert str(compiled.schema) == text


def test_function_keeps_its_name_text_and_graph():
    @torch.jit.script
    def doubled(x):
        """Twice."""
        return x * 2

    assert (doubled.name, doubled.__name__) == ("doubled", "doubled")
    assert doubled.__doc__ == "Twice."
    assert isinstance(doubled, torch.jit.ScriptFunction)
    assert "aten::mul" in str(doubled.graph)
    assert doubled.code.startswith("def doubled(x: Tensor) -> Tensor:\n")
    assert "torch.mul(x, 2)" in doubled.code
    assert torch.jit.script(doubled) is doubled


def test_gradients_flow_through():
    def f(x, w):
        y = torch.tanh(x @ w)
        with torch.no_grad():
            scale = y.max()
        return (y * scale).sum()

    grads = []
    for function in (f, torch.jit.script(f)):
        x = X.clone().requires_grad_()
        w = torch.ones(3, 2, requires_grad=True)
        function(x, w).backward()
        grads.append((x.grad, w.grad))
    assert same(*grads)


def test_grad_modes():
    def f(x):
        with torch.no_grad():
            a = x * 2
            with torch.enable_grad():
                b = x * 3
        return a, b, x * 4

    x = X.clone().requires_grad_()
    flags = [y.requires_grad for y in torch.jit.script(f)(x)]
    assert flags == [False, True, True]


def test_random_draws_are_pythons():
    def f(n: int):
        return torch.rand(n, n), torch.randn([2, n]), torch.randint(0, 10, [n])

    torch.manual_seed(0)
    expected = f(2)
    torch.manual_seed(0)
    assert same(expected, torch.jit.script(f)(2))


@torch.jit.script
class Counter:
    """Counts, and remembers what it counted."""

    def __init__(self, start: int):
        self.value = start
        self.seen: List[int] = []

    def add(self, n: int):
        self.value += n
        self.seen.append(n)
        return self

    def __add__(self, other: int) -> int:
        return self.value + other

    @property
    def twice(self) -> int:
        return 2 * self.value


def test_classes():
    def f(n: int):
        counter = Counter(10)
        counter.add(n).add(2)
        return counter.value, counter.seen, counter + 5, counter.twice

    assert torch.jit.script(f)(3) == f(3) == (15, [3, 2], 20, 30)


def test_instances_come_and_go():
    def f(counter: Counter, n: int) -> Counter:
        counter.add(n)
        return counter

    mine = Counter(10)
    theirs = torch.jit.script(f)(mine, 3)
    assert mine.value == 10, "compiled code works on a copy"
    assert (theirs.value, theirs.seen, theirs.twice) == (13, [3], 26)
    theirs.add(4)
    theirs.value = 20
    assert theirs.seen == [3, 4]
    assert torch.jit.script(f)(theirs, 1).value == 21
    with pytest.raises(AttributeError):
        theirs.no_such_attribute  # noqa: B018
    with pytest.raises(TypeError, match="value"):
        theirs.value = "a"
    mine.value = "a"
    with pytest.raises(RuntimeError, match="cast attribute 'value' to type int"):
        torch.jit.script(f)(mine, 1)
    del mine.value
    with pytest.raises(RuntimeError, match="object was missing attribute value"):
        torch.jit.script(f)(mine, 1)


def test_is_scripting_chooses_the_branch():
    def f(x):
        if torch.jit.is_scripting():
            return x + 1
        else:
            return x.what_tensors_do_not_have()

    assert torch.equal(torch.jit.script(f)(X), X + 1)


def test_prints_where_python_prints(capsys):
    def f(n: int):
        print("n is", n, 2.5, [1, 2])

    torch.jit.script(f)(3)
    assert capsys.readouterr().out == "n is 3 2.5 [1, 2]\n"


def test_python_functions_left_out():
    @torch.jit.ignore
    def in_python(x: Tensor, n: int) -> Tensor:
        return torch.tensor(x.tolist()) + {"n": n}["n"]

    @torch.jit.unused
    def never(x):
        return {1, 2}

    def f(x, flag: bool):
        if flag:
            return never(x)
        return in_python(x, 2) * 3

    compiled = torch.jit.script(f)
    assert torch.equal(compiled(X, False), (X + 2) * 3)
    with pytest.raises(torch.jit.Error, match="annotated to be ignored"):
        compiled(X, True)


def test_sizes_by_the_names_of_common_types():
    from hotaru.nn.common_types import _size_2_t, _size_any_t

    @torch.jit.script
    def area(size: _size_2_t) -> int:
        return size[0] * size[1]

    assert area(3) == 9
    assert area([2, 5]) == 10

    def unknown(size: _size_any_t) -> int:
        return size[0]

    with pytest.raises(RuntimeError, match="Unknown type name '_size_any_t'"):
        torch.jit.script(unknown)


def test_lists_of_some_length_need_a_number():
    with pytest.raises(
        RuntimeError, match="subscript of Broadcastable list must be a positive integer"
    ):
        torch.jit.CompilationUnit("def f(x: BroadcastingListx[int]):\n    return x\n")


def one(x):
    return x


def test_arguments_are_given_once():
    def operator(a):
        return torch.sum(a, self=a)

    def function(a):
        return one(a, x=a)

    for what, name in ((operator, "self"), (function, "x")):
        text = f"Keyword argument {name} specified twice"
        with pytest.raises(RuntimeError, match=text):
            torch.jit.script(what)


def test_checks():
    def check(x: int) -> int:
        torch._check(x > 0)
        torch._check(x < 9, "too large")
        return x

    compiled = torch.jit.script(check)
    assert compiled(3) == 3
    with pytest.raises(torch.jit.Error, match="AssertionError: too large"):
        compiled(9)
    with pytest.raises(torch.jit.Error, match="AssertionError"):
        compiled(0)


@pytest.mark.parametrize(
    "place", ["::2", "::-1", "4:0:-1", "-1:-4:-1", ":3:-1", "10:0:-3", "3:3:-1"]
)
def test_slices_of_strings_have_steps(place):
    source = f"def f(s: str):\n    return s[{place}]\n"
    expected = eval(f"'abcdef'[{place}]")
    assert torch.jit.CompilationUnit(source).f("abcdef") == expected


TEXTS = [
    (torch.tensor(2.5), "2.5\n[ CPUFloatType{} ]"),
    (torch.tensor([1, 2000]), "    1\n 2000\n[ CPULongType{2} ]"),
    (torch.zeros(0, 2), "[ CPUFloatType{0,2} ]"),
    (torch.tensor([[0.5, -1.0]]), " 0.5000 -1.0000\n[ CPUFloatType{1,2} ]"),
    (
        torch.ones(1, 1, 2, dtype=torch.bool),
        "(1,.,.) = \n 1  1\n[ CPUBoolType{1,1,2} ]",
    ),
]


@pytest.mark.parametrize(("x", "text"), TEXTS)
def test_text_of_tensors(x, text):
    """Their elements, as PyTorch's C++ prints them."""

    @torch.jit.script
    def shown(x: torch.Tensor):
        return f"{x}", "{} {}".format([x], 1), str(x)

    assert shown(x) == (text, f"[{text}] 1", text)
