"""Functions and methods from text; dataclasses; properties with setters."""

import dataclasses
import enum
import gc
import io
import resource
import weakref
from typing import NamedTuple

import pytest

import hotaru as torch


def twice(x):
    return x * 2


def test_functions_of_one_text_call_each_other():
    offset = 1  # noqa: F841
    unit = torch.jit.CompilationUnit("""
        def outer(x, n: int = 3):
            return inner(x) * n

        def inner(x):
            return twice(x) + offset
    """)
    x = torch.tensor([1.0])
    assert unit.outer(x) == 9
    assert unit.outer(x, n=1) == 3
    assert unit.inner.name == "inner"
    assert [f.name for f in unit.get_functions()] == ["outer", "inner"]
    assert unit.find_function("missing") is None
    with pytest.raises(AttributeError, match="has no attribute 'missing'"):
        unit.missing  # noqa: B018


def test_later_functions_see_earlier_ones():
    unit = torch.jit.CompilationUnit("def f(x: int):\n    return x + 1")
    unit.define("def g(x: int):\n    return f(f(x))")
    assert unit.g(1) == 3
    with pytest.raises(RuntimeError, match="method 'f' already defined"):
        unit.define("def f(x: int):\n    return x")
    assert unit.f(1) == 2


def test_names_by_a_function():
    unit = torch.jit.CompilationUnit()
    unit.define("def f(x):\n    return known(x)", {"known": twice}.get)
    assert unit.f(torch.ones(1)) == 2


def test_failed_definitions_leave_nothing():
    unit = torch.jit.CompilationUnit()
    with pytest.raises(RuntimeError, match="undefined value nothing"):
        unit.define("def f(x):\n    return nothing(x)")
    assert unit.get_functions() == []
    with pytest.raises(torch.jit.frontend.NotSupportedError, match="try"):
        unit.define("def f(x):\n    try:\n        return x\n")


def test_units_are_apart_and_can_be_saved():
    one = torch.jit.CompilationUnit("def f(x):\n    return x + 1")
    two = torch.jit.CompilationUnit("def f(x):\n    return x + 2")
    again = torch.jit.load(io.BytesIO(two.f.save_to_buffer()))
    x = torch.zeros(1)
    assert (one.f(x), two.f(x), again(x)) == (1, 2, 2)


class Given(torch.jit.ScriptModule):
    def __init__(self, scale):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.full((2,), scale))
        self.define("""
        def forward(self, x):
            return self.helped(x) + self.weight
        """)
        self.define("""
        def helped(self, x):
            return twice(x)
        """)


def test_methods_from_text():
    module = Given(3.0)
    assert module(torch.ones(2)).tolist() == [5.0, 5.0]
    assert module.helped(torch.ones(1)) == 2
    again = torch.jit.load(io.BytesIO(module.save_to_buffer()))
    assert again(torch.ones(2)).tolist() == [5.0, 5.0]
    with pytest.raises(RuntimeError, match="modules loaded from archives"):
        again.define("def other(self, x):\n    return x")


def test_methods_for_compiled_modules():
    class Plain(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.factor = 4.0

        def forward(self, x):
            return x

    module = torch.jit.script(Plain())
    module.define("def scaled(self, x):\n    return x * self.factor")
    assert module.scaled(torch.ones(1)) == 4
    with pytest.raises(RuntimeError, match="method 'scaled' already defined"):
        module.define("def scaled(self, x):\n    return x")


def test_modules_that_are_alike_share_a_class():
    class Sized(torch.nn.Module):
        def __init__(self, size, bias=None):
            super().__init__()
            self.size = size
            self.bias = bias

        def forward(self, x):
            return x + self.size

    one, two, other = (
        torch.jit.script(Sized(*given)) for given in ((1,), (2,), (1, 3))
    )
    assert one._c._type() == two._c._type()
    assert one._c._type() != other._c._type()
    assert two(torch.zeros(1)) == 2


def test_a_class_that_did_not_compile_is_tried_again():
    class Broken(torch.nn.Module):
        def forward(self, x):
            return late(x)  # noqa: F821

    with pytest.raises(RuntimeError, match="undefined value late"):
        torch.jit.script(Broken())
    globals()["late"] = twice
    try:
        assert torch.jit.script(Broken())(torch.ones(1)) == 2
    finally:
        del globals()["late"]


@dataclasses.dataclass(order=True)
class Span:
    begin: int
    end: float = 2.0

    def length(self) -> float:
        return self.end - self.begin


@dataclasses.dataclass
class Checked:
    size: int

    def __post_init__(self):
        self.size = self.size + 1


@dataclasses.dataclass
class Made:
    items: list = dataclasses.field(default_factory=list)


def spans(n: int):
    one = Span(n)
    two = Span(n, end=3.0)
    order = [one < two, one <= two, one > two, one >= two]
    return one.length(), one == two, one == Span(n, 2.0), order


def test_dataclasses():
    assert torch.jit.script(spans)(1) == spans(1)


def test_post_init():
    def f():
        return Checked(1).size

    assert torch.jit.script(f)() == 2


def test_default_factories_are_refused():
    def f():
        return Made()

    with pytest.raises(RuntimeError, match="Default factory initializers"):
        torch.jit.script(f)


class Level:
    def __init__(self, value: int):
        self.stored = value

    @property
    def value(self) -> int:
        return self.stored

    @value.setter
    def value(self, given: int):
        self.stored = given * 10


def test_properties_can_be_set():
    def f():
        level = Level(1)
        level.value = 2
        level.value += 1
        return level.value

    assert torch.jit.script(f)() == f() == 210


def test_properties_of_modules_and_objects_as_attributes():
    class Holder(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.level = Level(5)
            self.total = 0

        @property
        def sum(self) -> int:
            return self.total

        @sum.setter
        def sum(self, given: int):
            self.total = given + self.level.value

        def forward(self, x: int):
            self.sum = x
            return self.sum

    assert torch.jit.script(Holder())(1) == 6


def test_classes_know_themselves():
    class Node:
        def __init__(self, value: int):
            self.value = value

        def after(self, other: "Node") -> "Node":
            return Node(self.value + other.value)

    def f():
        return Node(1).after(Node(2)).value

    assert torch.jit.script(f)() == 3


def test_hashes():
    def f(x: int, y: float, z: str):
        return hash((x, z)) == hash((y, z)), hash(x) == hash(z)

    assert torch.jit.script(f)(1, 1.0, "a") == (True, False)

    def g(x: list[int]):
        return hash(x)

    with pytest.raises(RuntimeError, match="unhashable type"):
        torch.jit.script(g)([1])


def test_backward_within_compiled_code():
    def f(x):
        y = (x * x).sum()
        y.backward()
        return y

    x = torch.tensor([3.0], requires_grad=True)
    torch.jit.script(f)(x)
    assert x.grad == 6


def test_seeds_within_compiled_code():
    def f():
        torch.manual_seed(3)
        return torch.rand(2)

    values = torch.jit.script(f)()
    torch.manual_seed(3)
    assert torch.equal(values, torch.rand(2))


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


def test_traces_of_autograd_functions():
    x = torch.ones(2, requires_grad=True)
    traced = torch.jit.trace(lambda x: Doubled.apply(x) + 1, x)
    assert traced(torch.ones(3)).tolist() == [3.0] * 3


def test_functions_that_archives_of_pytorch_call():
    unit = torch.jit.CompilationUnit(
        """
def sizes(x, y):
    own = torch._infer_size([2, 1], [3])
    return torch.broadcast_shapes(x.size(), y.size()), own

def conjugate(x):
    return torch._conj(x)

def lower(x, cuda: bool, cpu: bool):
    return torch._autocast_to_reduced_precision(
        x, cuda, cpu, torch.float16, torch.bfloat16
    )

def higher(x, cuda: bool, cpu: bool):
    return torch._autocast_to_full_precision(x, cuda, cpu)
"""
    )
    assert unit.sizes(torch.ones(2, 1), torch.ones(4)) == ([2, 4], [2, 3])
    with pytest.raises(Exception, match="size"):
        unit.sizes(torch.ones(2), torch.ones(3))
    assert unit.conjugate(torch.tensor(1 + 2j)).item() == 1 - 2j
    x = torch.ones(2, requires_grad=True)
    assert unit.lower(x, False, True).dtype == torch.bfloat16
    assert unit.lower(x, True, False) is x
    assert unit.lower(x.double(), True, True).dtype == torch.float64
    half = unit.lower(x, True, True)
    assert unit.higher(half, False, True).dtype == torch.float32
    assert unit.higher(half, True, False).dtype == torch.bfloat16
    assert unit.higher(x.double(), True, True).dtype == torch.float64
    unit.higher(half, True, True).sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


def test_scripts_call_the_functions_of_units():
    offset = 3
    unit = torch.jit.CompilationUnit("""
        def inner(x):
            return x * offset

        def outer(x):
            return inner(x) + 1
    """)
    outer = unit.outer
    del unit, offset

    @torch.jit.script
    def twice_outer(x):
        return outer(outer(x))

    class Calls(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.function = outer

        def forward(self, x):
            return self.function(x) + twice_outer(x)

    x = torch.tensor([1.0, 2.0])
    assert torch.equal(twice_outer(x), (x * 3 + 1) * 3 + 1)
    assert torch.equal(torch.jit.script(Calls())(x), x * 12 + 5)
    traced = torch.jit.trace(lambda x: outer(x) * 2, x)
    assert torch.equal(traced(x), x * 6 + 2)


class Point(NamedTuple):
    x: int
    y: int


class Color(enum.Enum):
    RED = 1


@torch.jit.script
def scripted(x: int) -> int:
    return x + 10


def test_units_use_what_other_scripts_have():
    """The second text needs what the first did not: both move."""
    unit = torch.jit.CompilationUnit("def f(x: int):\n    return x + 1")
    unit.define("def g(x: int):\n    return scripted(f(x))")
    unit.define("def h(p: Point):\n    return g(p.x) + p.y")
    unit.define("def c(a: Color):\n    return a == Color.RED")
    unit.define("def n(x):\n    with torch.no_grad():\n        return x * 2")
    assert (unit.f(1), unit.g(1)) == (2, 12)
    assert unit.h(Point(1, 5)) == 17
    assert unit.c(Color.RED)
    assert not unit.n(torch.ones(1, requires_grad=True)).requires_grad
    with pytest.raises(RuntimeError, match="undefined value nothing"):
        unit.define("def z(p: Point):\n    return nothing(p)")
    assert [f.name for f in unit.get_functions()] == ["f", "g", "h", "c", "n"]


def test_units_keep_no_names_and_no_memory():
    class Big:
        pass

    def make():
        seen = Big()
        unit = torch.jit.CompilationUnit("def f(x):\n    return twice(x).relu()")
        return unit.f, weakref.ref(seen), weakref.ref(unit)

    function, seen, unit = make()
    assert seen() is None
    assert unit() is None
    assert "twice" in str(function.graph)  # compiled again, without its names
    assert function(torch.ones(1)) == 2

    def resident():
        with open("/proc/self/statm") as statm:
            return int(statm.read().split()[1]) * resource.getpagesize()

    def many(count):
        for _ in range(count):
            unit = torch.jit.CompilationUnit("def f(x: int):\n  return x + 1")
            assert unit.f(1) == 2
        gc.collect()

    many(300)
    before = resident()
    many(1000)
    assert resident() - before < 2_000_000  # 9 kB of each were kept
