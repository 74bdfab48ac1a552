"""Numbers in the place of tensors, first and second, under every name."""

from __future__ import annotations

import pytest

import hotaru as torch

I, X = torch.tensor([3, 4]), torch.tensor([1.0, 3.0])
SAME = [
    ("multiply", "mul"),
    ("subtract", "sub"),
    ("divide", "div"),
    ("true_divide", "div"),
]


@pytest.mark.parametrize(("name", "plain"), SAME)
@pytest.mark.parametrize("x", [I, X], ids=["integers", "floats"])
@pytest.mark.parametrize("number", [2, 0.5, 1 + 1j])
def test_second_names(name, plain, x, number):
    f, g = getattr(torch, name), getattr(torch, plain)
    for got in (f(x, number), f(x, other=number), getattr(x, name)(number)):
        assert got.dtype == g(x, number).dtype
        assert torch.equal(got, g(x, number))
    assert torch.equal(f(number, x), g(number, x))
    assert f(6, 3).item() == g(6, 3).item()


def test_values_and_dtypes():
    assert torch.multiply(X, 2).tolist() == [2, 6]
    assert torch.subtract(X, other=0.5).tolist() == [0.5, 2.5]
    assert torch.divide(X, 2).tolist() == [0.5, 1.5]
    assert torch.multiply(I, True).dtype == torch.int64
    assert I.multiply(1.5).dtype == torch.float32
    assert torch.subtract(torch.tensor([5.0, 6.0]), 2, alpha=2).tolist() == [1, 2]
    assert torch.subtract(2, X, alpha=2).tolist() == [0, -4]


@pytest.mark.parametrize("mode", ["floor", "trunc", None])
def test_divide_with_rounding(mode):
    for other in (2, -2.5, torch.tensor(2.0)):
        want = torch.div(X, other, rounding_mode=mode)
        assert torch.equal(torch.divide(X, other, rounding_mode=mode), want)
        assert torch.equal(X.divide(other, rounding_mode=mode), want)
        into = X.clone().divide_(other, rounding_mode=mode)
        assert torch.equal(into, want)


BITS = {
    "bitwise_and": [2, 0],
    "bitwise_or": [3, 6],
    "bitwise_xor": [1, 6],
    "bitwise_left_shift": [16, 32],
    "bitwise_right_shift": [0, 0],
}


@pytest.mark.parametrize("name", BITS)
@pytest.mark.parametrize("dtype", [torch.int64, torch.int8, torch.uint8])
def test_bits_of_a_number_first(name, dtype):
    got = getattr(torch, name)(2, I.to(dtype))
    assert got.tolist() == BITS[name]
    assert got.dtype == dtype


def test_copies_of_a_number():
    assert torch.zeros(2).copy_(3).tolist() == [3, 3]
    assert torch.zeros((), dtype=torch.int32).copy_(2.0).item() == 2
    assert torch.zeros(2).copy_(True).tolist() == [1, 1]
    x = torch.ones(2, requires_grad=True)
    y = (x * 2).copy_(5)
    y.sum().backward()
    assert x.grad.tolist() == [0, 0]


def test_to_the_device_that_it_is_on():
    assert X.to(None) is X
    assert X.to(None, dtype=torch.float64).dtype == torch.float64
    assert X.to(None, torch.float64).dtype == torch.float64
    assert X.to(device=None, dtype=torch.int32).dtype == torch.int32
    assert X.to(None, torch.float32, copy=True) is not X


LIKE = {
    "randn_like": ((), [1.5410, -0.2934]),
    "rand_like": ((), [0.4963, 0.7682]),
    "randint_like": ((5,), [4, 4]),
    "randint_like of a range": ((2, 5), [4, 4]),
}


@pytest.mark.parametrize("name", LIKE)
def test_draws_like_a_tensor_by_a_generator(name):
    arguments, _ = LIKE[name]
    f = getattr(torch, name.split()[0])
    state = torch.get_rng_state()
    first = f(X, *arguments, generator=torch.Generator().manual_seed(0))
    assert torch.equal(torch.get_rng_state(), state)
    again = f(X, *arguments, generator=torch.Generator().manual_seed(0))
    torch.manual_seed(0)
    assert torch.equal(first, again)
    assert torch.equal(first, f(X, *arguments))
    torch.set_rng_state(state)


def test_values_of_draws_by_a_generator():
    g = torch.Generator().manual_seed(0)
    got = [
        [f"{v:.4f}" for v in f.tolist()]
        for f in (
            torch.randn_like(X, generator=g),
            torch.rand_like(X, generator=g),
            torch.randint_like(X, 5, generator=g),
        )
    ]
    assert got == [["1.5410", "-0.2934"], ["0.3074", "0.6341"], ["2.0000", "3.0000"]]
    high = torch.randint_like(X, torch.tensor(5), generator=g.manual_seed(0))
    assert torch.equal(high, torch.randint_like(X, 5, generator=g.manual_seed(0)))


def test_fill_by_a_tensor():
    value = torch.tensor(2.0, requires_grad=True)
    got = torch.fill(torch.zeros(3), value)
    assert got.tolist() == [2, 2, 2]
    got.sum().backward()
    assert value.grad.item() == 3


def test_names_of_result_type():
    assert torch.result_type(tensor=I, other=0.5) == torch.float32
    assert torch.result_type(scalar=2, tensor=I) == torch.int64
    assert torch.result_type(scalar1=2, scalar2=0.5) == torch.float32
    assert torch.result_type(tensor1=I, tensor2=X) == torch.float32
