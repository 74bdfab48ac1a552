"""Files of modules and other objects: written, read, refused."""

from __future__ import annotations

import copy
import io
import pickle
import zipfile

import pytest

import hotaru as torch
from hotaru import nn


class Net(nn.Module):
    """Shares a parameter and views one storage twice."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 3)
        self.tied = self.fc.weight
        self.attention = nn.MultiheadAttention(4, 2, batch_first=True)
        self.norm = nn.BatchNorm1d(3)
        whole = torch.arange(6.0)
        self.register_buffer("head", whole[:2])
        self.register_buffer("tail", whole[2:])
        self.act = nn.functional.relu
        self.register_forward_pre_hook(seen)


def seen(module, args):
    """A hook that changes nothing."""


def _written(obj, **options) -> io.BytesIO:
    file = io.BytesIO()
    torch.save(obj, file, **options)
    file.seek(0)
    return file


def test_module_comes_back_with_what_it_shares():
    net = Net().eval()
    file = _written({"net": net, "dtype": torch.float64, "n": [1, "a"]})
    found = torch.load(file, weights_only=False)
    other = found["net"]
    assert type(other) is Net
    assert not other.training
    assert found["dtype"] is torch.float64
    assert found["n"] == [1, "a"]
    x = torch.ones(1, 2)
    assert torch.equal(other.fc(x), net.fc(x))
    assert other.tied is other.fc.weight
    assert isinstance(other.fc.weight, nn.Parameter)
    assert other.fc.weight.requires_grad
    other.tail[0] = 7  # one storage still, so the whole sees it
    assert other.head.data_ptr() + 8 == other.tail.data_ptr()
    assert other.act is nn.functional.relu
    assert list(other._forward_pre_hooks.values()) == [seen]


def test_file_on_disk(tmp_path):
    path = tmp_path / "net.pt"
    torch.save(nn.LSTM(2, 3), path)
    other = torch.load(str(path), weights_only=False)
    assert other(torch.ones(1, 1, 2))[0].shape == (1, 1, 3)


def test_nothing_is_run_unless_asked():
    file = _written(nn.ReLU())
    with pytest.raises(pickle.UnpicklingError, match="not an allowed"):
        torch.load(file)


def test_names_are_pytorchs():
    text = zipfile.ZipFile(_written(Net())).read("archive/data.pkl")
    assert b"ctorch.nn.modules.linear\nLinear\n" in text
    assert b"ctorch._utils\n_rebuild_tensor_v2\n" in text
    assert b"chotaru" not in text


def test_classes_that_other_files_define_are_found():
    named = b"ctorch.nn.modules.instancenorm\nInstanceNorm2d\n."
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("archive/data.pkl", b"\x80\x02" + named)
        archive.writestr("archive/version", "3\n")
    file.seek(0)
    assert torch.load(file, weights_only=False) is nn.InstanceNorm2d


def test_storage_of_two_dtypes_is_refused():
    bits = torch.zeros(2)
    both = [nn.ReLU(), bits, bits.view(torch.int32)]
    with pytest.raises(RuntimeError, match="as different types"):
        _written(both)


def test_what_pickle_refuses():
    with pytest.raises((pickle.PicklingError, AttributeError, TypeError)):
        _written(lambda: 0)


def test_subclass_keeps_class_and_attributes():
    tensor = torch.Tensor._make_subclass(Tagged, torch.arange(3.0))
    tensor.tag = "x"
    other = torch.load(_written([tensor, nn.ReLU()]), weights_only=False)[0]
    assert type(other) is Tagged
    assert other.tag == "x"
    assert other.tolist() == [0, 1, 2]


class Tagged(torch.Tensor):
    """A tensor with attributes."""


def test_parameter_of_a_subclass_stays_one():
    made = nn.Parameter(torch.arange(2.0).as_subclass(Tagged))
    assert type(made) is Tagged
    assert isinstance(made, nn.Parameter)
    assert isinstance(made, Tagged)
    assert not isinstance(torch.ones(1).as_subclass(Tagged), nn.Parameter)
    assert not isinstance(made, nn.UninitializedParameter)
    assert made.requires_grad
    net = nn.Module()
    net.weight = made
    assert list(net.state_dict()) == ["weight"]
    other = copy.deepcopy(net)
    assert type(other.weight) is Tagged
    found = torch.load(_written(net), weights_only=False)
    assert type(found.weight) is Tagged
    assert [n for n, _ in found.named_parameters()] == ["weight"]
    (made * 3).sum().backward()
    assert made.grad.tolist() == [3, 3]


class Forgetful(torch.Tensor):
    """Loses its class."""

    def detach(self):
        return torch.ones(2)


def test_parameter_of_a_subclass_that_loses_it():
    with pytest.raises(
        RuntimeError,
        match="an instance of type Forgetful requires that detach\\(\\) return",
    ):
        nn.Parameter(torch.ones(2).as_subclass(Forgetful))
