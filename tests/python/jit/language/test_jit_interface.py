"""jit.interface: what fits one, swapping modules, errors."""

# ruff: noqa: PIE790, UP006, UP035

import io
import re
import threading
from typing import List, Optional

import pytest

import hotaru as torch
from hotaru import Tensor

nn = torch.nn


@torch.jit.interface
class Maps(nn.Module):
    """Modules that map a tensor to another."""

    def forward(self, x: Tensor, k: Optional[int]) -> Optional[Tensor]:
        pass


class Adds(nn.Module):
    """Fits exactly, and has a parameter."""

    def __init__(self, value: float):
        super().__init__()
        self.value = nn.Parameter(torch.tensor(value))

    def forward(self, x: Tensor, k: Optional[int]) -> Optional[Tensor]:
        return x + self.value if k is None else x + k


class TakesMore(nn.Module):
    """Parameters of wider types, a default, a result of a narrower type."""

    def forward(self, x: Optional[Tensor], k: Optional[int] = None):
        return torch.zeros(2) if x is None else -x


class OtherName(nn.Module):
    """A parameter has another name."""

    def forward(self, y: Tensor, k: Optional[int]) -> Optional[Tensor]:
        return y


class OneMore(nn.Module):
    """One parameter more, even with a default."""

    def forward(self, x: Tensor, k: Optional[int], z: int = 3) -> Optional[Tensor]:
        return x * z


class TakesLess(nn.Module):
    """A parameter of a narrower type."""

    def forward(self, x: Tensor, k: int) -> Optional[Tensor]:
        return x


class GivesMore(nn.Module):
    """A result of a wider type."""

    def forward(self, x: Tensor, k: Optional[int]) -> Tensor:
        return x

    def other(self) -> int:
        return 1


@torch.jit.interface
class MapsAndCounts(nn.Module):
    """As Maps, with a method that nothing else has."""

    def forward(self, x: Tensor, k: Optional[int]) -> Tensor:
        pass

    def other(self) -> int:
        pass


class Holder(nn.Module):
    """A module of which only the interface is known."""

    inner: Maps

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x: Tensor):
        y = self.inner(x, None)
        assert y is not None
        z = self.inner(k=2, x=y)
        assert z is not None
        return y, z


class Counter(nn.Module):
    """The methods of the interface are compiled without being exported."""

    inner: "MapsAndCounts"

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x: Tensor):
        return self.inner(x, k=3) * self.inner.other()


def _reloaded(module):
    return torch.jit.load(io.BytesIO(module.save_to_buffer()))


def _lists(pair):
    return [t.tolist() for t in pair]


X = torch.ones(2)


@pytest.mark.parametrize("make", [lambda: Adds(0.5), TakesMore])
def test_modules_that_fit(make):
    module = Holder(make())
    expected = _lists(module(X))
    compiled = torch.jit.script(module)
    assert _lists(compiled(X)) == expected
    assert _lists(_reloaded(compiled)(X)) == expected
    assert _lists(torch.jit.freeze(compiled.eval())(X)) == expected


def test_methods_are_compiled_because_the_interface_has_them():
    compiled = torch.jit.script(Counter(GivesMore()))
    assert compiled(X).tolist() == [1, 1]
    assert compiled.inner.other() == 1
    assert _reloaded(compiled)(X).tolist() == [1, 1]


@pytest.mark.parametrize(
    ("module", "message"),
    [
        (
            OtherName(),
            "forward(__torch__.test_jit_interface.OtherName self, Tensor y, int? k)",
        ),
        (OneMore(), "int z=3"),
        (TakesLess(), "int k) -> Tensor?"),
    ],
    ids=["name", "number", "type"],
)
def test_modules_that_do_not_fit(module, message):
    with pytest.raises(RuntimeError, match="is not compatible") as caught:
        torch.jit.script(Holder(module))
    assert re.sub(r"___torch_mangle_\d+\.", "", str(caught.value)).count(message)


def test_missing_method():
    with pytest.raises(RuntimeError, match="does not have method 'other'"):
        torch.jit.script(Counter(TakesMore()))


def test_swapping_modules():
    compiled = torch.jit.script(Holder(Adds(1.0)))
    again = _reloaded(compiled)
    for module in (compiled, again):
        assert _lists(module(X)) == [[2, 2], [4, 4]]
        module.inner = torch.jit.script(TakesMore())
        assert _lists(module(X)) == [[-1, -1], [1, 1]]
        with pytest.raises(RuntimeError, match=r"(?s)for field.*forward"):
            module.inner = torch.jit.script(OneMore())
        with pytest.raises(RuntimeError, match="non-scripted module"):
            module.inner = Adds(1.0)
        with pytest.raises(RuntimeError, match="for field"):
            module.inner = 3
        assert _lists(module(X)) == [[-1, -1], [1, 1]]
    # Modules of two archives, whose types are not the same objects.
    other = _reloaded(torch.jit.script(Holder(Adds(5.0))))
    again.inner = other.inner
    assert _lists(again(X)) == [[6, 6], [8, 8]]


def test_parameters_of_swapped_modules():
    compiled = torch.jit.script(Holder(TakesMore()))
    assert not list(compiled.parameters())
    compiled.inner = torch.jit.script(Adds(2.0))
    assert [n for n, _ in compiled.named_parameters()] == ["inner.value"]
    compiled(X)[0].sum().backward()
    assert compiled.inner.value.grad == 2


@torch.jit.interface
class Named:
    """Objects with a name."""

    def name(self, times: int) -> str:
        """Anything may stand before `pass`, if it is a docstring."""
        pass


class Person:
    """Compiled when it is first needed."""

    def __init__(self, first: str):
        self.first = first

    def name(self, times: int) -> str:
        return self.first * times


class Number:
    """Holds another type."""

    def __init__(self, n: int):
        self.n = n

    def name(self, times: int):
        return str(self.n + times)


def names(one: Named, others: Optional[List[Named]] = None) -> str:
    text = one.name(times=2)
    if others is not None:
        for other in others:
            text += "," + other.name(3)
    return text


def nobody(n: int) -> str:
    who: Named = Person("a")
    for i in range(n):
        if i == 1:
            who = Number(5)
    return names(who, [Number(1), who])


def test_objects():
    compiled = torch.jit.script(names)
    torch.jit.script(Person)
    torch.jit.script(Number)
    assert compiled(Person("ab")) == "abab"
    assert compiled(Number(1), [Person("x"), Number(2)]) == "3,xxx,5"
    with pytest.raises(RuntimeError, match="Expected a value"):
        compiled(3)
    assert torch.jit.script(nobody)(1) == "aa,4,aaa"
    assert torch.jit.script(nobody)(2) == "7,4,8"


def test_threads_that_ask_at_once():
    """The first question whether a class fits takes the unit's lock."""
    results = []

    def work():
        module = torch.jit.script(Holder(Adds(1.0)))
        module.inner = torch.jit.script(TakesMore())
        results.append(_lists(module(X)))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert results == [[[-1, -1], [1, 1]]] * 4


def _no_result():
    @torch.jit.interface
    class Wrong:
        def f(self, x):
            pass


def _a_body():
    @torch.jit.interface
    class Wrong:
        def f(self, x) -> int:
            return 1


def _unknown_type():
    @torch.jit.interface
    class Wrong:
        def f(self, x: "Nothing") -> int:  # noqa: F821
            pass


def _inherits():
    @torch.jit.interface
    class Wrong(Maps):
        def f(self, x) -> int:
            pass


def _no_class():
    torch.jit.interface(names)


def _called():
    def function(x):
        return Maps()

    torch.jit.script(function)


def _unknown_method():
    def function(x: Maps):
        return x.something(1)

    torch.jit.script(function)


def _too_few():
    def function(m: Maps, x: Tensor):
        return m.forward(x)

    torch.jit.script(function)


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (_no_result, "must have a return type annotated"),
        (_a_body, "should only contain a single 'pass' statement"),
        (_unknown_type, "Unknown type name 'Nothing'"),
        (_inherits, "does not support inheritance yet"),
        (_no_class, "must be applied to a class"),
        (_called, "cannot call a value of type"),
        (_unknown_method, "object has no attribute or method 'something'"),
        (_too_few, "Argument k not provided"),
    ],
)
def test_errors(program, message):
    with pytest.raises(RuntimeError, match=message):
        program()


@torch.jit.interface
class Reflexive:
    """Its method takes another of its kind."""

    def meet(self, other: "Reflexive") -> int:
        pass


@torch.jit.interface
class Broader:
    """As the other, by another name."""

    def meet(self, other: Reflexive) -> int:
        pass


class Meets:
    """Fits both if both fit each other."""

    def __init__(self, n: int):
        self.n = n

    def meet(self, other: Broader) -> int:
        return self.n


def meeting(a: Reflexive, b: Broader) -> int:
    return a.meet(b) * 10 + b.meet(a)


def test_interfaces_that_need_each_other():
    torch.jit.script(Meets)
    assert torch.jit.script(meeting)(Meets(1), Meets(2)) == 12


def test_long_chains_of_interfaces(tmp_path, monkeypatch):
    lines = ["import hotaru as torch"]
    for i in range(150):
        for kind in "AB":
            argument = f"{kind}{i - 1}" if i else "int"
            lines += [
                "@torch.jit.interface",
                f"class {kind}{i}:",
                f"    def f(self, o: {argument}) -> int:",
                "        pass",
            ]
    lines += ["def g(x: B149) -> int:", "    return 1"]
    lines += ["def f(x: A149) -> int:", "    return g(x)"]
    (tmp_path / "interface_chain.py").write_text("\n".join(lines) + "\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    import interface_chain

    with pytest.raises(RuntimeError, match="more than 100 levels deep"):
        torch.jit.script(interface_chain.f)


def test_interfaces_may_say_types_in_comments_and_texts_anywhere():
    @torch.jit.interface
    class Commented(torch.nn.Module):
        def forward(self, x):
            # type: (Tensor) -> Tensor
            """One."""
            pass
            """Two."""

    class Doubled(torch.nn.Module):
        def forward(self, x):
            return x * 2

    class Holder(torch.nn.Module):
        part: Commented

        def __init__(self):
            super().__init__()
            self.part = Doubled()

        def forward(self, x):
            return self.part.forward(x)

    assert torch.jit.script(Holder())(torch.ones(1)) == 2
