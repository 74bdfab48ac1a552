"""The order of products in `einsum`, as the package opt_einsum finds it."""

from types import SimpleNamespace

import pytest
from hotaru.backends import _einsum

import hotaru as torch

LIBRARY = torch.backends.opt_einsum
EQUATION = "ab,bc,cd->ad"


@pytest.fixture(autouse=True)
def kept():
    before = dict(LIBRARY._values)
    yield
    LIBRARY._values.update(before)


class LastFirst:
    """A package that takes the last two operands first."""

    asked = ()

    def contract_path(self, equation, *operands, optimize):
        self.asked = (equation, [tuple(t.shape) for t in operands], optimize)
        steps = [
            ((2, 1), {"c"}, "cd,bc->bd", (), False),
            ((1, 0), {"b"}, "bd,ab->ad", (), False),
        ]
        return [(1, 2), (0, 1)], SimpleNamespace(contraction_list=steps)


@pytest.fixture
def package(monkeypatch):
    found = LastFirst()
    monkeypatch.setattr(_einsum, "_package", lambda: found)
    return found


@pytest.fixture
def no_package(monkeypatch):
    monkeypatch.setattr(_einsum, "_package", lambda: None)


def numbers():
    """Factors whose product overflows from left to right, and only there."""
    return [torch.full((1, 1), x, requires_grad=True) for x in (9e29, 8e29, 1e-30)]


def test_the_order_that_the_package_finds_is_taken(package):
    factors = numbers()
    product = torch.einsum(EQUATION, *factors)
    assert package.asked == (EQUATION, [(1, 1)] * 3, "auto")
    torch.testing.assert_close(product.item(), 7.2e29, rtol=1e-6, atol=0)
    product.backward()
    torch.testing.assert_close(factors[0].grad.item(), 0.8, rtol=1e-6, atol=0)
    as_list = torch.einsum(EQUATION, factors)
    assert torch.isfinite(as_list).all()


def test_other_spellings_of_the_equation_are_ordered_too(package):
    a, b, c = numbers()
    product = torch.einsum(a, [0, 1], b, [1, 2], c, [2, 3], [0, 3])
    assert package.asked[0] == "AB,BC,CD->AD"
    assert torch.isfinite(product).all()


def test_two_operands_and_the_switch_ask_no_package(package):
    a, b, c = numbers()
    torch.einsum("ab,bc->ac", a, c)
    assert package.asked == ()
    LIBRARY.enabled = False
    assert torch.isinf(torch.einsum(EQUATION, a, b, c)).all()
    assert package.asked == ()


def test_settings_with_the_package(package):
    assert LIBRARY.is_available() is True
    assert LIBRARY.get_opt_einsum() is package
    assert (LIBRARY.enabled, LIBRARY.strategy) == (True, "auto")
    with LIBRARY.flags(strategy="greedy"):
        torch.einsum(EQUATION, *numbers())
        assert package.asked[-1] == "greedy"
    assert LIBRARY.strategy == "auto"
    LIBRARY.strategy = "auto-hq"  # the package knows more than are checked
    torch.einsum(EQUATION, *numbers())
    assert package.asked[-1] == "auto-hq"
    with pytest.raises(ValueError, match="must be one of the following"):
        LIBRARY.set_flags(True, "fast")
    assert LIBRARY.set_flags(False) == (True, "auto-hq")
    with pytest.raises(ValueError, match="opt_einsum is not enabled"):
        LIBRARY.set_flags(None, "greedy")


def test_settings_without_the_package(no_package):
    assert LIBRARY.is_available() is False
    assert (LIBRARY.enabled, LIBRARY.strategy) == (False, None)
    assert LIBRARY.get_opt_einsum() is None
    LIBRARY.enabled = True  # PyTorch's keeps it, too, and orders nothing
    assert torch.isinf(torch.einsum(EQUATION, *numbers())).all()
    with pytest.raises(ValueError, match="opt_einsum is not available"):
        LIBRARY.set_flags(True)
    with (
        pytest.raises(ValueError, match="opt_einsum is not available"),
        LIBRARY.flags(enabled=False, strategy="greedy"),
    ):
        pass
