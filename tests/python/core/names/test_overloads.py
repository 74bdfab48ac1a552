"""torch.ops.aten: packets of operators and their overloads."""

import copy
import pickle

import pytest

import hotaru as torch

aten = torch.ops.aten


def test_packets_and_overloads_have_pytorchs_names():
    assert str(aten.add) == "aten.add"
    assert str(aten.add.Tensor) == "aten.add.Tensor"
    assert repr(aten.add) == "<OpOverloadPacket(op='aten.add')>"
    assert (
        repr(aten.add.Tensor)
        == "<OpOverload(op='aten.add', overload='Tensor')>"
    )
    assert aten.add.Tensor.name() == "aten::add.Tensor"
    assert aten.relu.default.name() == "aten::relu"
    assert aten.add.Tensor.__name__ == "add.Tensor"
    assert aten.add.overloads()[:2] == ["Tensor", "Scalar"]
    assert isinstance(aten.add.Tensor, torch._ops.OpOverload)
    assert isinstance(aten.add, torch._ops.OpOverloadPacket)


def test_they_are_the_same_each_time_and_in_copies():
    assert aten.add is torch.ops.aten.add
    for op in (aten.add, aten.add.Tensor):
        assert copy.deepcopy(op) is op
        assert pickle.loads(pickle.dumps(op)) is op


def test_they_call_the_operator():
    x = torch.tensor([1.0, 2.0])
    assert aten.add.Tensor(x, x, alpha=2).tolist() == [3.0, 6.0]
    assert aten.add.Tensor(x, 1).tolist() == [2.0, 3.0]
    assert aten.add.Scalar(x, 1).tolist() == [2.0, 3.0]
    assert aten.cat([x, x]).tolist() == [1.0, 2.0, 1.0, 2.0]


def test_what_does_not_fit_is_refused():
    x = torch.ones(2)
    with pytest.raises(RuntimeError, match="value for argument 'other'"):
        aten.add.Tensor(x)
    with pytest.raises(
        RuntimeError,
        match="Expected a value of type 'number' for argument 'other'",
    ):
        aten.add.Scalar(x, x)
    with pytest.raises(
        AttributeError,
        match=r"op of 'aten\.add' has no overload name 'foo'",
    ):
        aten.add.foo  # noqa: B018
    with pytest.raises(
        AttributeError,
        match="'_OpNamespace' 'aten' object has no attribute 'nonesuch'",
    ):
        aten.nonesuch  # noqa: B018


def test_the_protocol_sees_them():
    class Duck:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return func

    assert aten.add.Tensor(Duck(), 1) is aten.add.Tensor
    assert aten.cat([Duck()]) is aten.cat


def test_scripts_may_call_them():
    @torch.jit.script
    def program(x):
        return torch.ops.aten.relu(x)

    assert program(torch.tensor([-1.0, 1.0])).tolist() == [0.0, 1.0]
