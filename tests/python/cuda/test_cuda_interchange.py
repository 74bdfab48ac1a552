"""Memory of CUDA devices shared with other libraries."""

from __future__ import annotations

import pytest

import hotaru as torch


class Foreign:
    """Another library's array: what it says of itself, and what it keeps."""

    def __init__(self, described, keep=None) -> None:
        self.__cuda_array_interface__ = described
        self.keep = keep


def test_dlpack_shares_the_memory():
    x = torch.arange(12.0, device="cuda").reshape(3, 4)
    y = torch.from_dlpack(x.t())
    assert y.device == x.device
    assert y.stride() == (1, 4)
    assert y.data_ptr() == x.data_ptr()
    x.add_(1)
    assert y.cpu().tolist() == x.t().cpu().tolist()


def test_dlpack_follows_the_work_of_another_stream():
    stream = torch.cuda.Stream()
    for i in range(20):
        with torch.cuda.stream(stream):
            x = torch.full((500,), float(i), device="cuda") * 2
            y = torch.from_dlpack(x)
        assert (y + 1).cpu().tolist() == [2.0 * i + 1] * 500


def test_dlpack_keeps_the_memory():
    y = torch.from_dlpack(torch.full((1000,), 3.0, device="cuda"))
    torch.full((1000,), 4.0, device="cuda")
    assert y.sum().item() == 3000


def test_dlpack_refuses_another_device():
    x = torch.ones(3, device="cuda")
    assert x.__dlpack_device__() == (2, 0)
    with pytest.raises(BufferError, match="not on cpu"):
        torch.from_dlpack(x, device="cpu")
    with pytest.raises(BufferError, match="ambiguous"):
        x.__dlpack__(stream=0)


def test_array_interface_both_ways():
    x = torch.arange(12, device="cuda").reshape(3, 4)
    described = x[:, 1].__cuda_array_interface__
    assert described["shape"] == (3,)
    assert described["strides"] == (32,)
    assert described["typestr"] == "<i8"
    y = torch.as_tensor(Foreign(described, x))
    assert y.device == x.device
    y.mul_(10)
    assert x.cpu().tolist() == [[0, 10, 2, 3], [4, 50, 6, 7], [8, 90, 10, 11]]


def test_array_interface_keeps_its_owner():
    x = torch.full((300,), 2.0, device="cuda")
    y = torch.as_tensor(Foreign(x.__cuda_array_interface__, x))
    del x
    torch.full((300,), 5.0, device="cuda")
    assert y.sum().item() == 600


def test_a_host_pointer_is_no_device_memory():
    x = torch.arange(4.0)
    described = {
        "typestr": "<f4",
        "shape": (4,),
        "data": (x.data_ptr(), False),
        "version": 2,
    }
    with pytest.raises(ValueError, match="resides on host memory"):
        torch.as_tensor(Foreign(described))


def test_array_interface_of_other_tensors():
    assert not hasattr(torch.ones(2), "__cuda_array_interface__")
    with pytest.raises(AttributeError, match="non-CUDA tensor type"):
        _ = torch.ones(2).__cuda_array_interface__
    x = torch.ones(2, device="cuda", requires_grad=True)
    with pytest.raises(RuntimeError, match="requires grad"):
        _ = x.__cuda_array_interface__
