"""Compiled code and the Python around it: aliases, defaults, statics, calls."""

# TorchScript knows the old spellings, and they are what is tested.
# ruff: noqa: UP006, UP035

from typing import Any, Dict, List, NamedTuple, Optional, Tuple, Union

import pytest

import hotaru as torch
from hotaru import Tensor, nn

Text, Whole, Real, Truth, Both = str, int, float, bool, complex


class Point(NamedTuple):
    x: Optional[int] = None
    y: List[int] = []  # noqa: RUF012
    z: int = 3


class Bare(NamedTuple):
    x: Tensor = torch.ones(1)


class Tools:
    def __init__(self, n: int):
        self.n = n

    @staticmethod
    def tiled(x: Tensor, counts: List[int]) -> Tensor:
        return x.repeat(counts)

    def more(self, m: int) -> int:
        return self.n + m


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor: float = 2.0):
        ctx.factor = factor
        return x * factor

    @staticmethod
    def backward(ctx, g):
        return g * ctx.factor, None


def test_aliases_of_python_s_types():
    def f(a: Text, b: Whole, c: Real, d: Truth, e: Both, g: Dict[Text, Whole]):
        y: Whole = 3
        lines = torch.jit.annotate(List[Text], [])
        lines.append(a)
        return b + y, c, d, e, lines, g

    schema = torch.jit.script(f).schema
    shown = [str(argument.type) for argument in schema.arguments]
    assert shown == ["str", "int", "float", "bool", "complex", "Dict[str, int]"]
    given = ("a", 1, 2.0, True, 1j, {"k": 1})
    assert torch.jit.script(f)(*given) == f(*given)

    def kind(x: Union[Whole, Text]) -> Text:
        if isinstance(x, Whole):
            return "whole"
        return x

    assert [torch.jit.script(kind)(x) for x in (1, "t")] == ["whole", "t"]


def test_defaults_of_named_tuples():
    def f():
        return Point(), Point(4), Point(z=5), Point(1, [2], z=7)

    compiled = torch.jit.script(f)
    assert compiled() == f()
    shown = "NamedTuple(x : int? = None, y : int[] = [], z : int = 3)"
    assert shown in str(compiled.graph)

    def changes():
        p = Point()
        p.y.append(1)
        return Point().y, p.y

    assert torch.jit.script(changes)() == ([], [1])

    def tensors(p: Bare):
        return p.x

    with pytest.raises(RuntimeError, match="Tensors are not supported as default"):
        torch.jit.script(tensors)


def test_static_methods_of_classes_with_others():
    def f(x: Tensor) -> Tuple[Tensor, int]:
        return Tools.tiled(x, [2]), Tools(3).more(4)

    result, n = torch.jit.script(f)(torch.ones(2))
    assert (result.tolist(), n) == ([1, 1, 1, 1], 7)

    def of_an_object(x: Tensor):
        return Tools(3).tiled(x, [2])

    with pytest.raises(RuntimeError, match="no attribute or method 'tiled'"):
        torch.jit.script(of_an_object)


def test_functions_with_gradients_of_their_own():
    def f(x):
        return Double.apply(x) + Double.apply(x, 5.0)

    x = torch.ones(2, requires_grad=True)
    result = torch.jit.script(f)(x)
    assert result.tolist() == [7, 7]
    result.sum().backward()
    assert x.grad.tolist() == [7, 7]


def test_numbers_come_as_they_are_declared():
    def f(a: bool, b: int, c: float, d: Optional[bool], e: List[float]):
        return a, b, c, d, e

    got = torch.jit.script(f)(2, True, True, 0, [1, True])
    assert [repr(value) for value in got] == ["True", "1", "1.0", "False", "[1.0, 1.0]"]

    def of_dicts(d: Dict[str, bool], e: Dict[str, List[int]]):
        return d, e

    got = torch.jit.script(of_dicts)({"a": 1}, {"b": [True]})
    assert repr(got) == "({'a': True}, {'b': [1]})"
    for wrong in ((1.5, 1), ("s", 1)):
        with pytest.raises(RuntimeError, match="Expected a value of type"):
            torch.jit.script(lambda_of_ints)(*wrong)


def lambda_of_ints(a: int, b: int):
    return a + b


def test_unions_stand_in_pytorch_s_order():
    def f(x: Union[str, int, None]) -> Union[str, Tuple[int, int], List[int], int]:
        return 1 if x is None else x

    compiled = torch.jit.script(f)
    assert "x: Union[int, NoneType, str]) -> Union[Tuple" in compiled.code

    def held(x: Union[str, Tuple[Optional[int], int], Tuple[int, int]]) -> str:
        return "f"

    assert "Union((int?, int), str)" in str(torch.jit.script(held).graph)
    with pytest.raises(RuntimeError, match=r"member of .* but instead found type List"):
        compiled([1.5])


def test_empty_lists_keep_the_dtype_of_their_elements():
    def f(a: List[int], b: List[bool], c: List[float], d: List[List[int]]):
        return torch.tensor(a), torch.as_tensor(b), torch.tensor(c), torch.tensor(d)

    compiled = torch.jit.script(f)
    for given in (([], [], [], []), ([1], [True], [1.0], [[2]])):
        got = [t.dtype for t in compiled(*given)]
        assert got == [torch.int64, torch.bool, torch.float32, torch.int64]

    def untold():
        return torch.tensor([])

    def none():
        return torch.tensor([None])

    with pytest.raises(RuntimeError, match="got Tensor\nEmpty lists default to"):
        torch.jit.script(untold)()
    with pytest.raises(RuntimeError, match="ints, floats, or bools, got None"):
        torch.jit.script(none)()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([(1, 2), ("a", "b")], "Only values of same type can be compared. Found Tuple"),
        ([(1, (2, 3)), (2, ("a", "b"))], "Only values of same type can be compared"),
        ([3, "a"], "Only values of same type can be compared. Found int and str"),
        ([({1: 2}, 1)], r"in \(Dict\(int, int\), int\) are not sortable"),
        ([[1], [2]], "can be sorted, got list of List.int."),
    ],
)
def test_what_has_no_order(given, message):
    def f(values: List[Any]):
        values.sort()
        return values

    with pytest.raises(RuntimeError, match=message):
        torch.jit.script(f)(given)
    assert torch.jit.script(f)([(2, "a"), (1, "b")]) == [(1, "b"), (2, "a")]


def test_functions_left_to_python_give_what_they_declare():
    @torch.jit.ignore
    def wrong() -> Tensor:
        return ((3, 4),)

    @torch.jit.ignore
    def nothing(n: int):
        assert n == 4

    def f():
        return wrong()

    def g() -> int:
        nothing(4)
        return 5

    with pytest.raises(RuntimeError, match="but instead got value of type tuple"):
        torch.jit.script(f)()
    assert torch.jit.script(g)() == 5


def test_methods_left_out_may_have_any_signature():
    class Holder:
        def __init__(self):
            self.n = 1

        @torch.jit.unused
        def left_out(self, x: int, y: "Iterator", **more) -> int:  # noqa: F821
            return next(y)

        @torch.jit._drop
        def __iter__(self) -> "Iterator":  # noqa: F821
            return iter([])

        def calls(self) -> int:
            return self.left_out(y="hi", x=3)

    def f(calls: bool) -> int:
        h = Holder()
        if calls:
            return h.calls()
        return h.n

    compiled = torch.jit.script(f)
    assert compiled(False) == 1
    with pytest.raises(torch.jit.Error, match="Cannot call @unused methods"):
        compiled(True)


def test_attributes_asked_for_by_name():
    class Net(nn.Module):
        __constants__ = ("fee",)

        def __init__(self):
            super().__init__()
            self.fee = 3

        def forward(self):
            names = hasattr(self, "fee"), hasattr(self, "late"), hasattr(self, "no")
            return names, hasattr(self, "several")

        def late(self):
            return 1

        @torch.jit._overload_method
        def several(self, x: Tensor): ...

        def several(self, x):  # noqa: F811
            return 2

    assert torch.jit.script(Net())() == ((True, True, False), True)


class Counter:
    def __init__(self, n: int):
        self.n = n

    def put(self, n: int):
        self.n = n

    @property
    def twice(self) -> int:
        return self.n * 2


class Several:
    def __call__(self, *values):
        return sum(values)


@torch.jit.ignore
class LeftOut:
    def wrong(self):
        return "a" + 200


def test_objects_that_are_compiled_are_shared():
    counter = torch.jit.script(Counter(1))

    def f(c: Counter):
        c.put(c.n + 1)

    torch.jit.script(f)(counter)
    assert (counter.n, counter.twice) == (2, 4)
    counter.n = 7
    torch.jit.script(f)(counter)
    assert counter.n == 8
    with pytest.raises(RuntimeError, match="can't take variable number of arguments"):
        torch.jit.script(Several())


def test_what_is_called_and_not_compiled_is_left_to_python():
    class Scale(nn.Module):
        def __init__(self):
            super().__init__()
            self.factor = nn.Parameter(torch.full((1,), 3.0))

        def forward(self, x):
            return x * self.factor

    class Name:
        def __call__(self, x, *more) -> str:
            return type(x).__name__

    scale, name = Scale(), Name()

    def f(x):
        return scale(x) + 1, name(x)

    compiled = torch.jit.script(f)
    result, text = compiled(torch.ones(1))
    assert (result.tolist(), text) == ([4], "Tensor")
    result.sum().backward()
    assert scale.factor.grad.tolist() == [1]
    assert "python_value" in str(compiled.graph)

    def by_keyword(x):
        return scale(x=x)

    with pytest.raises(RuntimeError, match="keyword arguments in Python calls"):
        torch.jit.script(by_keyword)

    def instance():
        return LeftOut()

    with pytest.raises(torch.jit.frontend.FrontendError, match="Cannot instantiate"):
        torch.jit.script(instance)


def test_attributes_of_script_modules():
    class Net(torch.jit.ScriptModule):
        def __init__(self):
            super().__init__()
            self.rate = torch.jit.Attribute(0.1, float)
            assert self.rate > 0
            self.seen = torch.jit.Attribute([], List[int])
            self.scheme = torch.per_tensor_symmetric
            self.register_buffer("state", torch.zeros(1))

        @torch.jit.script_method
        def forward(self, n: int):
            self.seen.append(n)
            self.state.set_(torch.ones(2))
            same = self.scheme == torch.per_tensor_symmetric
            return self.rate, self.seen, same

    net = Net()
    assert net(3) == (0.1, [3], True)
    assert net.state.tolist() == [1, 1]


def test_members_of_classes_by_name():
    def f():
        c = Counter(1)
        of_class = hasattr(Counter, "put"), hasattr(Counter, "no")
        return of_class, hasattr(c, "n"), hasattr(c, "put"), hasattr(c, "no")

    assert torch.jit.script(f)() == ((True, False), True, True, False)


def test_modules_whose_forward_is_python_s():
    class Inner(nn.Module):
        @torch.jit.ignore
        def forward(self, x: Tensor) -> Tensor:
            return torch.tensor(x.tolist()) * 2

    class Outer(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = Inner()

        def forward(self, x):
            return self.inner(x) + 1

    assert torch.jit.script(Outer())(torch.ones(2)).tolist() == [3, 3]


def test_lists_of_unlike_lengths_are_no_tensors():
    def f():
        return torch.tensor([[2, 2], [1]])

    with pytest.raises(RuntimeError, match="Expected sequence of length 2 at dim 1"):
        torch.jit.script(f)()
