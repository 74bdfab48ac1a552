"""How tensors of subclasses print; texts of PyTorch 2.13."""

from __future__ import annotations

import hotaru as torch


class Sub(torch.Tensor):
    """A name shorter than "tensor"."""


class ALongerNameThanThat(torch.Tensor):
    """A longer one."""


class OwnParameter(torch.nn.Parameter):
    """A class of parameters."""


def test_one_line():
    x = torch.ones(2)
    sub = x.as_subclass(Sub)
    assert repr(sub) == "Sub([1., 1.])"
    assert repr(torch.tensor(3).as_subclass(Sub)) == "Sub(3)"
    assert repr(torch.ones(0, 3).as_subclass(Sub)) == "Sub([], size=(0, 3))"
    assert (
        repr(torch.nn.Parameter(sub)) == "Parameter(Sub([1., 1.], requires_grad=True))"
    )
    assert (
        repr(OwnParameter(x)) == "Parameter containing:\n"
        "Parameter(OwnParameter([1., 1.], requires_grad=True))"
    )
    assert repr(torch.nn.Buffer(x)) == "tensor([1., 1.])"
    meta = torch.ones(2, device="meta").as_subclass(Sub)
    assert repr(meta) == "Sub(..., device='meta', size=(2,))"


def test_lines_are_as_long_as_the_name_lets_them():
    x = torch.arange(40.0).view(2, 20)
    assert repr(x.as_subclass(Sub)) == (
        "Sub([[ 0.,  1.,  2.,  3.,  4.,  5.,  6.,  7.,  8.,  9., 10., 11., 12."
        ", 13., 14.,\n"
        "      15., 16., 17., 18., 19.],\n"
        "     [20., 21., 22., 23., 24., 25., 26., 27., 28., 29., 30., 31., 32."
        ", 33., 34.,\n"
        "      35., 36., 37., 38., 39.]])"
    )
    before = torch.get_printoptions()
    text = repr(torch.arange(17).double().as_subclass(ALongerNameThanThat))
    margin = " " * len("ALongerNameThanThat([")
    assert text == (
        "ALongerNameThanThat([ 0.,  1.,  2.,  3.,  4.,  5.,  6.,  7.,  8.,  9."
        ", 10., 11.,\n"
        f"{margin}12., 13., 14., 15., 16.], dtype=torch.float64)"
    )
    assert torch.get_printoptions() == before
