"""Parts of lists of modules."""

from __future__ import annotations

from collections import OrderedDict

import pytest
from hotaru.nn.modules.module import register_module_module_registration_hook

from hotaru import nn


def test_a_part_holds_the_same_modules_by_new_names():
    layers = nn.ModuleList([nn.ReLU(), nn.Tanh(), nn.Linear(2, 2)])
    part = layers[1:]
    assert type(part) is nn.ModuleList
    assert [name for name, _ in part.named_children()] == ["0", "1"]
    assert part[0] is layers[1]
    assert part[-1] is layers[2]
    assert [n for n, _ in part.named_parameters()] == ["1.weight", "1.bias"]
    part.append(nn.ReLU())
    assert (len(part), len(layers)) == (3, 3)
    assert [*layers[::-1]] == [*layers][::-1]
    assert len(layers[5:]) == 0


def test_a_part_of_a_subclass_is_of_it():
    class Own(nn.ModuleList):
        def __init__(self, modules=None):
            super().__init__(modules)
            self.made = True

    assert Own([nn.ReLU(), nn.ReLU()])[:1].made


def test_hooks_see_the_modules_of_a_part():
    layers, seen = nn.ModuleList([nn.ReLU(), nn.Tanh()]), []
    handle = register_module_module_registration_hook(
        lambda module, name, child: seen.append((name, type(child)))
    )
    with handle:
        layers[:]
    assert seen == [("0", nn.ReLU), ("1", nn.Tanh)]


@pytest.mark.parametrize(
    ("source", "order"),
    [
        ({"b": 1, "a": 2}, ["a", "b"]),
        (OrderedDict(b=1, a=2), ["b", "a"]),
        ([("b", 1), ("a", 2)], ["b", "a"]),
        (nn.ParameterDict([("b", 1), ("a", 2)]), ["b", "a"]),
    ],
)
def test_order_of_a_parameter_dict(source, order):
    """A plain dict promises none, so its keys are sorted; optimizers and files
    number parameters by it.
    """
    assert list(nn.ParameterDict(source)) == order
    updated = nn.ParameterDict({"c": 0})
    updated.update(source)
    assert list(updated) == ["c", *order]
    assert list(updated.fromkeys(["b", "a"])) == ["b", "a"]
