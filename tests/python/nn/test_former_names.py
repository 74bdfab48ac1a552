"""Modules and methods that PyTorch has by former names."""

from __future__ import annotations

import pytest

import hotaru as torch
from hotaru import nn


def test_former_modules():
    torch.manual_seed(0)
    with pytest.warns(FutureWarning, match=r"nn\.Container"):
        made = nn.Container(a=nn.ReLU())
    assert [name for name, _ in made.named_children()] == ["a"]
    x = torch.randn(2, 3, 4, 4).log_softmax(1)
    target = torch.randint(3, (2, 4, 4))
    with pytest.warns(FutureWarning, match="NLLLoss2d"):
        loss = nn.NLLLoss2d()
    assert torch.equal(loss(x, target), nn.NLLLoss()(x, target))
    norm = nn.CrossMapLRN2d(3, alpha=0.1)
    assert torch.equal(norm(x), nn.LocalResponseNorm(3, alpha=0.1)(x))
    assert repr(norm) == "CrossMapLRN2d(3, alpha=0.1, beta=0.75, k=1)"


def test_modules_say_where_pytorch_has_them():
    from hotaru.nn.modules import conv, instancenorm

    assert instancenorm.InstanceNorm2d is nn.InstanceNorm2d
    assert nn.InstanceNorm2d.__module__ == instancenorm.__name__
    assert conv.LazyConv2d is nn.LazyConv2d


@pytest.mark.parametrize("name", ["eig", "lstsq", "solve", "symeig"])
def test_removed_methods_name_what_is_used_today(name):
    arguments = [torch.eye(2)] if name in ("lstsq", "solve") else []
    with pytest.raises(RuntimeError, match=r"removed.*torch\.linalg"):
        getattr(torch.eye(2), name)(*arguments)


def test_former_methods():
    x = torch.arange(4.0)
    with pytest.warns(UserWarning, match="non-inplace resize"):
        assert x.resize(2, 2).tolist() == [[0, 1], [2, 3]]
    assert x.shape == (4,)
    assert x.const_data_ptr() == x.data_ptr()
    assert (x.name, x.volatile, x.is_distributed()) == (None, False, False)
