"""`__torch_dispatch__` is asked for PyTorch's overloads, and for none where
nothing changes.
"""

from typing import ClassVar

import pytest

import hotaru as torch


class Named(torch.Tensor):
    """Notes the overloads that it is asked for."""

    seen: ClassVar[list] = []

    @staticmethod
    def __new__(cls, data):
        made = torch.Tensor._make_wrapper_subclass(
            cls, data.size(), strides=data.stride(), dtype=data.dtype
        )
        made.inner = data
        return made

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        cls.seen.append(str(func))
        args = [a.inner if isinstance(a, Named) else a for a in args]
        return func(*args, **(kwargs or {}))


NUMBERS = {
    "add": (lambda x: x + 2, "aten.add.Tensor"),
    "add alpha": (lambda x: torch.add(x, 2, alpha=2), "aten.add.Tensor"),
    "add factor": (lambda x: x.add(2, 3), "aten.add.Tensor"),
    "sub": (lambda x: x.sub(1), "aten.sub.Tensor"),
    "sub_ factor": (lambda x: x.sub_(2, 3), "aten.sub_.Tensor"),
    "rsub": (lambda x: 2 - x, "aten.rsub.Scalar"),
    "mul": (lambda x: x * 2.5, "aten.mul.Tensor"),
    "rmul": (lambda x: 2 * x, "aten.mul.Tensor"),
    "div": (lambda x: x / 4, "aten.div.Tensor"),
    "div mode": (
        lambda x: torch.div(x, 2, rounding_mode="floor"),
        "aten.div.Tensor_mode",
    ),
    "floor_divide": (lambda x: x // 2, "aten.floor_divide.default"),
    "add_": (lambda x: x.add_(1), "aten.add_.Tensor"),
    "mul_": (lambda x: x.mul_(2), "aten.mul_.Tensor"),
    "pow": (lambda x: x**2, "aten.pow.Tensor_Scalar"),
    "eq": (lambda x: x == 1, "aten.eq.Scalar"),
    "clamp": (lambda x: x.clamp(min=0), "aten.clamp.default"),
    "xlogy": (lambda x: torch.xlogy(x, 2), "aten.xlogy.Scalar_Other"),
}
TENSORS = (
    "remainder",
    "fmod",
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
    "copysign",
    "xlogy",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "bitwise_left_shift",
    "bitwise_right_shift",
)


@pytest.mark.parametrize("name", TENSORS)
def test_overloads_of_two_tensors(name):
    """Overloads that have a sibling for numbers are called Tensor."""
    for full in (name, f"{name}_"):
        packet = getattr(torch.ops.aten, full)
        assert "default" not in packet.overloads()
        assert packet.Tensor.name() == f"aten::{full}.Tensor"
    if name.endswith("shift"):
        assert "Tensor_Scalar" in packet.overloads()


@pytest.mark.parametrize("call", NUMBERS)
def test_overloads_of_numbers(call):
    function, name = NUMBERS[call]
    values = torch.tensor([1.0, 2.0])
    Named.seen.clear()
    got = function(Named(values.clone()))
    assert Named.seen == [name]
    got = got.inner if isinstance(got, Named) else got
    assert got.tolist() == function(values.clone()).tolist()


def test_a_contiguous_wrapper_stays_itself():
    x = Named(torch.ones(2, 3))
    assert x.contiguous() is x
    Named.seen.clear()
    Named(torch.ones(2, 3).t()).contiguous()
    assert Named.seen == ["aten.clone.default"] or Named.seen == [
        "aten.contiguous.default"
    ]


UNCHANGED = {
    "to": lambda x: x.to(torch.float32),
    "to by name": lambda x: x.to(device="cpu", dtype=torch.float32),
    "to device": lambda x: x.to(torch.device("cpu"), non_blocking=True),
    "to another": lambda x: x.to(torch.ones(1)),
    "float": lambda x: x.float(),
    "cpu": lambda x: x.cpu(),
    "type": lambda x: x.type(torch.float32),
    "type_as": lambda x: x.type_as(x),
    "dropout": lambda x: torch.nn.functional.dropout(x, 0.5, False),
    "dropout of none": lambda x: torch.nn.functional.dropout(x, 0.0),
    "layer": lambda x: torch.nn.Dropout(0.5).eval()(x),
    "resolve_conj": lambda x: x.resolve_conj(),
    "positive": lambda x: +x,
    "conj": lambda x: x.conj(),
    "real": lambda x: x.real,
    "atleast": lambda x: torch.atleast_2d(x),
    "flatten": lambda x: x.flatten(1, 1),
}

CHANGED = {
    "to": lambda x: x.to(torch.float64),
    "copy": lambda x: x.to(torch.float32, copy=True),
    "copy by place": lambda x: x.to(torch.float32, False, True),
    "meta": lambda x: x.to("meta"),
    "double": lambda x: x.double(),
    "dropout": lambda x: torch.nn.functional.dropout(x, 0.5),
    "atleast": lambda x: torch.atleast_3d(x),
    "flatten": lambda x: x.flatten(),
}


@pytest.mark.parametrize("call", UNCHANGED)
def test_wrappers_stay_themselves_where_nothing_changes(call):
    x = Named(torch.ones(2, 3))
    Named.seen.clear()
    assert UNCHANGED[call](x) is x
    assert Named.seen == []


@pytest.mark.parametrize("call", CHANGED)
def test_wrappers_are_asked_where_something_changes(call):
    x = Named(torch.ones(2, 3))
    Named.seen.clear()
    assert CHANGED[call](x) is not x
    assert Named.seen
