"""`torch.Tensor(...)`, `torch.FloatTensor(...)` and `x.new(...)`."""

from __future__ import annotations

import numpy as np
import pytest

import hotaru as torch

MAKERS = {
    "Tensor": torch.Tensor,
    "FloatTensor": torch.FloatTensor,
    "new": torch.ones(1).new,
}


@pytest.mark.parametrize("make", MAKERS)
def test_what_they_make(make):
    made = MAKERS[make]
    assert made().shape == (0,)
    assert made(2, 3).shape == (2, 3)
    assert made(np.int64(2)).shape == (2,)
    assert made(torch.Size([2, 3])).shape == (2, 3)
    assert made(2, 3, device="cpu").shape == (2, 3)
    assert made(size=(2,)).shape == (2,)
    assert made(data=[1.0]).tolist() == [1]
    for data in ([1, 2], (1, 2), range(1, 3), np.array([1.0, 2.0])):
        assert made(data).tolist() == [1, 2]
        assert made(data).dtype is torch.float32


NO_SEQUENCES = {
    "float": 2.5,
    "bool": True,
    "NoneType": None,
    "complex": 1j,
    "dict": {},
    "set": {1},
    "object": object(),
    "numpy.float32": np.float32(1),
    "numpy.bool": np.bool_(True),
    "numpy.datetime64": np.datetime64("2020"),
}


@pytest.mark.parametrize("name", NO_SEQUENCES)
@pytest.mark.parametrize("make", MAKERS)
def test_what_is_no_sequence(make, name):
    text = rf"data must be a sequence \(got {name}"
    with pytest.raises(TypeError, match=text):
        MAKERS[make](NO_SEQUENCES[name])


@pytest.mark.parametrize("make", MAKERS)
def test_what_no_signature_has(make):
    made = MAKERS[make]
    for keywords in ({"dtype": torch.float64}, {"foo": 1}):
        with pytest.raises(TypeError, match="invalid combination of arg"):
            made([1, 2], **keywords)
    with pytest.raises(TypeError, match="invalid combination of arg"):
        made((1,), (2,))
    with pytest.raises(TypeError, match=r"object at pos 2"):
        made(2, 2.5)
    with pytest.raises(RuntimeError, match="expects device type: cpu but"):
        made([1.0], device="meta")
    for text in ("ab", b"ab"):
        with pytest.raises(TypeError, match="invalid data type"):
            made(text)


def test_subclasses_are_made_as_well():
    class Mine(torch.Tensor):
        pass

    assert type(Mine([1.0])) is Mine
    assert type(Mine(2, 3)) is Mine
    assert type(Mine(np.ones(2))) is Mine
    x = torch.ones(2)
    assert Mine(x).data_ptr() == x.data_ptr()


FACTORIES = {
    "zeros": lambda **k: torch.zeros(1, **k),
    "ones": lambda **k: torch.ones(1, 2, **k),
    "empty": lambda **k: torch.empty(1, **k),
    "new_zeros": lambda **k: torch.ones(1).new_zeros(1, **k),
    "zeros of a list": lambda **k: torch.zeros([1], **k),
}


@pytest.mark.parametrize("factory", FACTORIES)
def test_the_wrong_keyword_is_named(factory):
    make, name = FACTORIES[factory], factory.split()[0]
    for keyword, value, kind in (
        ("dtype", "float", "torch.dtype, not str"),
        ("device", 1.5, "torch.device, not float"),
    ):
        text = rf"{name}\(\): argument '{keyword}' must be {kind}"
        with pytest.raises(TypeError, match=text):
            make(**{keyword: value})
    with pytest.raises(TypeError, match="unexpected keyword argument 'foo'"):
        make(foo=1)


@pytest.mark.parametrize(
    "name", ["Float", "Double", "Half", "Long", "Int", "Short", "Byte", "Bool"]
)
def test_arrays_of_the_dtype_are_shared(name):
    make = getattr(torch, f"{name}Tensor")
    array = np.ones((2, 3), dtype=make(1).numpy().dtype)
    made = [make(array.T), make(1).new(array.T)]
    array[0, 1] = 0
    for tensor in made:
        assert tensor.tolist() == array.T.tolist()
        assert tensor.stride() == (1, 3)
    other = np.ones(2, dtype=np.uint16)
    copied = make(other)
    other[0] = 0
    assert copied.tolist() == [1, 1]


def test_arrays_are_shared_by_the_default_type():
    array = np.ones(2, dtype=np.float32)
    made = torch.Tensor(array)
    array[0] = 5
    assert made.tolist() == [5, 1]


class Shared(torch.Tensor):
    pass


@pytest.mark.parametrize("kind", [torch.Tensor, Shared])
@pytest.mark.parametrize("leaf", [True, False])
def test_tensors_of_tensors_keep_the_history(kind, leaf):
    x = torch.ones(2, requires_grad=True)
    y = kind(x if leaf else x * 3)
    assert type(y) is kind
    assert not y.is_leaf
    y.sum().backward()
    assert x.grad.tolist() == [1, 1] if leaf else [3, 3]
    plain = torch.ones(2)
    assert kind(plain).data_ptr() == plain.data_ptr()
    assert not kind(plain).requires_grad
