"""Wrapper subclasses whose `__torch_dispatch__` is written in odd ways."""

import pytest

import hotaru as torch


class Shallow(torch.Tensor):
    """Unwraps what is an argument itself, and nothing in lists."""

    @staticmethod
    def __new__(cls, x):
        made = torch.Tensor._make_wrapper_subclass(
            cls, x.shape, dtype=x.dtype, requires_grad=x.requires_grad
        )
        made.inner = x.detach()
        return made

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        plain = [a.inner if isinstance(a, Shallow) else a for a in args]
        found = func(*plain, **(kwargs or {}))
        return Shallow(found) if isinstance(found, torch.Tensor) else found


def test_a_derivative_that_asks_for_itself_is_an_error():
    x = Shallow(torch.ones(2)).requires_grad_()
    with pytest.raises(RecursionError, match=r"sum.*vjp.*tree_map"):
        (x * 2).sum().backward()
    with pytest.raises(RecursionError, match="tree_map"):  # once more
        (x * 2).sum().backward()


def test_a_wrapper_is_of_a_class():
    with pytest.raises(TypeError, match="cls must be a type"):
        torch.Tensor._make_wrapper_subclass(torch.ones(2), (2,))
