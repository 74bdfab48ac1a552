"""Lists and dicts that Python and compiled functions share."""

import math

import pytest

import hotaru as torch


@torch.jit.script
def append(values: list[int], value: int):
    values.append(value)


@torch.jit.script
def put(values: dict[str, float], key: str, value: float):
    values[key] = value


def test_functions_change_lists():
    plain, shared = [1, 2], torch.jit.script([1, 2])
    append(plain, 3)
    append(shared, 3)
    assert plain == [1, 2]
    assert shared == [1, 2, 3]
    shared.append(4)

    @torch.jit.script
    def total(values: list[int]):
        return sum(values)

    assert total(shared) == 10
    assert isinstance(shared, torch._C.ScriptList)


def test_functions_change_dicts():
    shared = torch.jit.script({"a": 1.0})
    put(shared, "b", 2.0)
    assert shared == {"a": 1.0, "b": 2.0}
    assert list(shared.items()) == [("a", 1.0), ("b", 2.0)]


LISTS = [
    lambda v: v[1],
    lambda v: v[-1],
    lambda v: v[5],
    lambda v: v[0:2],
    lambda v: v[::-1],
    lambda v: v.pop(),
    lambda v: v.pop(0),
    lambda v: v.pop(9),
    lambda v: v.insert(-1, 7),
    lambda v: v.insert(50, 7),
    lambda v: v.extend([5, 6]),
    lambda v: v.remove(2),
    lambda v: v.remove(20),
    lambda v: v.index(3),
    lambda v: v.count(1),
    lambda v: v.reverse(),
    lambda v: v.clear(),
    lambda v: v.__setitem__(0, 9),
    lambda v: v.__setitem__(slice(0, 2), [8, 9]),
    lambda v: v.__delitem__(1),
    lambda v: (2 in v, 20 in v),
    lambda v: (len(v), bool(v), repr(v), list(reversed(v))),
]


@pytest.mark.parametrize("act", LISTS, ids=range(len(LISTS)))
def test_methods_of_lists(act):
    plain = [1, 2, 3, 1]
    shared = torch.jit.script(plain)
    outcomes = []
    for values in (plain, shared):
        try:
            outcomes.append(act(values))
        except (IndexError, ValueError) as error:
            outcomes.append(type(error))
    assert outcomes[0] == outcomes[1]
    assert shared == plain


DICTS = [
    lambda v: v["a"],
    lambda v: v["x"],
    lambda v: v[3],
    lambda v: v.get("x", 5),
    lambda v: v.pop("a"),
    lambda v: v.setdefault("n", 3),
    lambda v: v.update({"a": 7, "z": 8}),
    lambda v: v.__delitem__("b"),
    lambda v: v.__delitem__("x"),
    lambda v: v.clear(),
    lambda v: (list(v), list(v.values()), len(v), bool(v), repr(v)),
]


@pytest.mark.parametrize("act", DICTS, ids=range(len(DICTS)))
def test_methods_of_dicts(act):
    plain = {"a": 1, "b": 2}
    shared = torch.jit.script(plain)
    outcomes = []
    for values in (plain, shared):
        try:
            outcomes.append(act(values))
        except KeyError as error:
            outcomes.append(type(error))
    assert outcomes[0] == outcomes[1]
    assert shared == plain


def test_other_types_are_refused():
    values = torch.jit.script([1, 2])
    with pytest.raises(TypeError):
        values.append("a")
    with pytest.raises(TypeError):
        values[0] = None
    table = torch.jit.script({1: 2})
    with pytest.raises(TypeError):
        table["a"] = 3
    with pytest.raises(TypeError):
        table[3] = "a"
    with pytest.raises(TypeError, match="not of one type"):
        torch.jit.script([1, "a"])
    assert values == [1, 2]
    assert table == {1: 2}


def test_slices_of_tuples_backwards():
    def f(x: tuple[int, str, float]):
        return x[::-1], x[:0:-1], x[-10::2], x[2:0:-2]

    given = (1, "a", 2.0)
    assert torch.jit.script(f)(given) == f(given)


def test_formats_of_percent():
    def f(x: float, n: int):
        return "%e %c %d%% %F" % (x, n, n, x)  # noqa: UP031

    assert torch.jit.script(f)(2.5, 65) == f(2.5, 65)

    def g(x: str):
        return "%d" % x  # noqa: UP031

    @torch.jit.script
    def whole(x: float):
        return "%d" % x  # noqa: UP031

    for x in (3.7, -0.5, -8.0, 1e30):
        assert whole(x) == str(int(x))
    for x in (math.nan, math.inf, -math.inf):
        with pytest.raises(RuntimeError, match="cannot convert float"):
            whole(x)
    with pytest.raises(RuntimeError, match="%d requires a number"):
        torch.jit.script(g)("a")


def test_magic_methods_of_compiled_modules():
    class Sized(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.items = [0]

        def forward(self, x):
            return x

        @torch.jit.export
        def __len__(self) -> int:
            return len(self.items) - 1

        @torch.jit.export
        def __contains__(self, key: int) -> bool:
            return key in self.items

    module = torch.jit.script(Sized())
    assert len(module) == 0
    assert module  # a module is true whatever its length
    assert 0 in module
    with pytest.raises(NotImplementedError):
        module[0]


def test_annotations_within_init():
    class Typed(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.items: list[int] = []

        def forward(self, x: list[int]):
            self.items = x
            return 1

    with (
        pytest.warns(UserWarning, match="instance-level annotations"),
        pytest.raises(RuntimeError, match="set nonexistent attribute: items"),
    ):
        torch.jit.script(Typed())


def test_sizes_are_no_dtypes():
    def f(x):
        return x.view(-1), x.view(4, 3)

    x = torch.arange(12.0).reshape(3, 4)
    assert torch.jit.script(f)(x)[0].shape == (12,)
    assert torch.jit.trace(f, x)(x)[1].shape == (4, 3)


def test_aliases_take_what_their_operators_take():
    def f(x):
        return torch.divide(x, 2.0, rounding_mode="floor")

    assert torch.jit.script(f)(torch.tensor([3.0])) == 1


class Counted:
    def __init__(self, count: int):
        self.count = count

    def __bool__(self) -> bool:
        return self.count > 0

    def __int__(self) -> int:
        return self.count

    def __float__(self) -> float:
        return self.count / 2

    def __str__(self) -> str:
        return "counted"

    def __len__(self) -> int:
        return self.count + 1

    def __contains__(self, value: int) -> bool:
        return value == self.count

    def __neg__(self) -> int:
        return -self.count


def test_magic_methods_of_objects():
    def f(count: int):
        made = Counted(count)
        yes = 1 if made else 0
        both = (3 in made, 4 in made, 4 not in made)
        return yes, both, int(made), float(made), str(made), len(made), -made

    assert torch.jit.script(f)(3) == f(3)
    assert torch.jit.script(f)(0) == f(0)


def test_mutable_defaults_are_refused():
    def f(x, y=[1]):  # noqa: B006
        return x

    with pytest.raises(RuntimeError, match="Mutable default parameters"):
        torch.jit.script(f)


def test_optional_values_unwrapped():
    def f(x: int | None):
        return torch.jit._unwrap_optional(x) + 1

    assert torch.jit.script(f)(2) == f(2) == 3
    with pytest.raises(RuntimeError, match="Unwrapping null optional"):
        torch.jit.script(f)(None)


def test_lists_look_for_values_of_their_type_alone():
    shared = torch.jit.script([1, 2, 2])
    assert 2 in shared
    assert 3 not in shared
    assert shared.count(2) == 2
    for ask in (shared.__contains__, shared.count):
        with pytest.raises(TypeError):
            ask("2")
