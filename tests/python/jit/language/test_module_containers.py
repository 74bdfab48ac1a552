"""Compiled containers of modules: items, lengths, what they say is in them."""

from __future__ import annotations

import pytest

import hotaru as torch
from hotaru import nn


class Holder(nn.Module):
    def __init__(self):
        super().__init__()
        self.mods = nn.ModuleList([nn.ReLU(), nn.Sigmoid()])
        self.named = nn.ModuleDict({"a": nn.ReLU()})
        self.row = nn.Sequential(nn.ReLU())
        self.weights = nn.ParameterList([nn.Parameter(torch.ones(1))])
        self.empty = nn.ModuleDict()


class Before(Holder):
    def forward(self, x):
        return self.mods[-3](x)


class Behind(Holder):
    def forward(self, x):
        return self.row[1](x)


class Weight(Holder):
    def forward(self, x):
        return self.weights[4]


class Unknown(Holder):
    def forward(self, x, i: int):
        return self.mods[i](x)


class Missing(Holder):
    def forward(self, x):
        return self.named["b"](x)


class UnknownName(Holder):
    def forward(self, x, name: str):
        return self.named[name](x)


class Numbered(Holder):
    def forward(self, x):
        return self.named[0](x)


class Mixed(Holder):
    def forward(self, x, i: int):
        both = (x, 1)
        return both[i]


@pytest.mark.parametrize(
    ("cls", "message", "place"),
    [
        (Before, "Index -3 out of range of length 2", "self.mods[-3]"),
        (Behind, "Index 1 out of range of length 1", "self.row[1]"),
        (Weight, "Index 4 out of range of length 1", "self.weights[4]"),
        (Unknown, "only supported with integer literals", "self.mods[i]"),
        (Missing, "Key Error, b:", 'self.named["b"]'),
        (UnknownName, "Unable to extract string literal", "self.named[name]"),
        (Numbered, "Unable to extract string literal", "self.named[0]"),
        (Mixed, "Cannot index into a Tuple[Tensor, int]", "both[i]"),
    ],
)
def test_items_that_no_container_has(cls, message, place):
    with pytest.raises(RuntimeError) as caught:
        torch.jit.script(cls())
    text, *lines = str(caught.value).split("\n")
    assert message in text
    last = next(i for i, each in enumerate(lines) if "<--- HERE" in each)
    line, marks = lines[last - 1 : last + 1]
    at = line.index(place)
    assert marks[at : at + len(place)] == "~" * len(place)


def test_items_before_and_behind():
    class Ends(Holder):
        def forward(self, x):
            return self.mods[-1](x) + self.mods[0](x) + self.weights[-1]

    module, x = Ends(), torch.arange(-2.0, 2.0)
    assert torch.equal(torch.jit.script(module)(x), module(x))


class Seven(nn.ModuleList):
    def __len__(self):
        return 7


class Everything(nn.ModuleDict):
    def __contains__(self, key: str) -> bool:
        return key != "none"


def test_what_a_subclass_says_of_itself_holds():
    class Asking(Holder):
        def __init__(self):
            super().__init__()
            self.seven = Seven([nn.ReLU()])
            self.all = Everything({"a": nn.ReLU()})

        def forward(self):
            return (
                len(self.seven),
                "x" in self.all,
                "none" not in self.all,
                "x" in self.empty,
                "x" not in self.empty,
                "a" in self.named,
                len(self.empty) + len(self.mods),
            )

    module = Asking()
    assert torch.jit.script(module)() == module()
    assert module() == (7, True, True, False, True, True, 2)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ([nn.ReLU()], "list element: Cannot infer concrete type of torch.nn.Module"),
        ((nn.ReLU(), 1), "'tuple' to a TorchScript type. Cannot infer concrete type"),
        (object, "'type' to a TorchScript type. Only tensors and"),
        ([1, "a"], "Found int and str. Its type was inferred"),
        ({"b": 1, "c": "s"}, "Dictionary inputs to traced functions must have"),
        ([], "List trace inputs must have elements. Its type"),
        ([[object()]], "Could not infer type of list element: Could not infer type"),
    ],
)
def test_reasons_for_which_an_attribute_has_no_type(value, reason):
    class Module(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = value

        def forward(self):
            return self.a

    with pytest.raises(RuntimeError) as caught:
        torch.jit.script(Module())
    assert reason in str(caught.value)


@torch.jit.interface
class Wanted(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        pass


def test_attributes_of_interfaces_are_named_by_the_items_that_do_not_fit():
    class Fitting(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x

    class Other(nn.Module):
        def forward(self, x: torch.Tensor) -> int:
            return x.size(0)

    class Chosen(nn.Module):
        def __init__(self):
            super().__init__()
            self.mods = nn.ModuleList([Fitting(), Other()])

        def forward(self, x: torch.Tensor, i: int) -> torch.Tensor:
            one: Wanted = self.mods[i]
            return one.forward(x)

    with pytest.raises(RuntimeError, match="Attribute 1 is not of annotated type"):
        torch.jit.script(Chosen())


def test_subscripts_of_einsum_as_lists():
    def program(x, y):
        return torch.einsum(x, [0, 1], y, [1, 27], [27, 0]), torch.einsum(x, [3, 4])

    x, y = torch.arange(6.0).view(2, 3), torch.arange(12.0).view(3, 4)
    for got, right in zip(torch.jit.script(program)(x, y), program(x, y)):
        assert torch.equal(got, right)

    def unknown(x, places: list[int]):
        return torch.einsum(x, places)

    with pytest.raises(RuntimeError, match="must be known while compiling"):
        torch.jit.script(unknown)


def test_results_of_several_are_written_where_they_shall_be():
    def program(x, a, b):
        both = torch.cummax(x, 1, out=(a, b))
        return both[0]

    x = torch.tensor([[1.0, 3.0, 2.0]])
    for run in (
        torch.jit.script(program),
        torch.jit.trace(program, (x, torch.empty(1, 3), torch.empty(1, 3).long())),
    ):
        a, b = torch.empty(0), torch.empty(0, dtype=torch.int64)
        assert run(x, a, b).tolist() == a.tolist() == [[1, 3, 3]]
        assert b.tolist() == [[0, 1, 1]]
