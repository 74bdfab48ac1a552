"""The meta device: shapes and dtypes without elements."""

from __future__ import annotations

import pytest

import hotaru as torch


def test_shapes_and_dtypes():
    a = torch.empty(2, 3, device="meta")
    b = torch.ones(3, dtype=torch.float64, device="meta")
    assert a.is_meta
    assert (a + b).is_meta
    assert (a + b).dtype == torch.float64
    assert (a + 1).shape == (2, 3)
    assert (a @ torch.empty(3, 4, device="meta")).shape == (2, 4)
    assert a.sum(0).shape == (3,)
    assert a.t().stride() == (1, 3)
    assert a.add_(b).is_meta
    assert torch.cat([a, a]).shape == (4, 3)
    assert a.to(torch.int32).dtype == torch.int32
    assert repr(a) == "tensor(..., device='meta', size=(2, 3))"
    assert torch.zeros_like(a).is_meta
    assert torch.randn(2, device="meta").is_meta


def test_no_memory():
    huge = torch.empty(2**40, device="meta")
    assert huge.data_ptr() == 0
    assert huge.untyped_storage().nbytes() == 2**42
    huge.untyped_storage().resize_(2**43)
    assert huge.resize_(2**41).shape == (2**41,)


def test_errors_of_shapes():
    a = torch.empty(2, 3, device="meta")
    with pytest.raises(RuntimeError, match="must match the size"):
        a + torch.empty(2, device="meta")
    with pytest.raises(RuntimeError, match="same device"):
        torch.ones(3) + a
    with pytest.raises(RuntimeError, match="same device"):
        a + torch.ones(3)


def test_there_are_no_elements():
    a = torch.empty(2, device="meta")
    with pytest.raises(NotImplementedError, match="Cannot copy out of meta"):
        a.cpu()
    with pytest.raises(NotImplementedError, match="Cannot copy out of meta"):
        a.tolist()
    with pytest.raises(RuntimeError, match=r"item.. cannot be called on meta"):
        a[0].item()
    with pytest.raises(TypeError, match="can't convert meta device type"):
        a.numpy()
    with pytest.raises(NotImplementedError, match="Not available for 'meta'"):
        a.untyped_storage()[0]
    assert torch.ones(2).to("meta").shape == (2,)
    torch.empty(2, device="meta").copy_(torch.ones(2))


def test_modules_and_gradients():
    model = torch.nn.Linear(3, 4, device="meta")
    out = model(torch.empty(2, 3, device="meta"))
    assert out.shape == (2, 4)
    out.sum().backward()
    assert model.weight.grad.is_meta
    assert model.weight.grad.shape == (4, 3)


def test_draws_leave_the_generator_alone():
    torch.manual_seed(3)
    expected = torch.rand(2)
    torch.manual_seed(3)
    torch.rand(5, device="meta")
    assert torch.equal(torch.rand(2), expected)


MOVED = {
    "as_tensor": torch.as_tensor,
    "as_tensor dtype": lambda x: torch.as_tensor(x, dtype=torch.float64),
    "asarray": torch.asarray,
    "tensor": torch.tensor,
}


@pytest.mark.parametrize("call", MOVED)
@pytest.mark.parametrize("data", [torch.ones(2), [1.0, 2.0]])
def test_the_default_device_is_where_data_goes(call, data):
    with torch.device("meta"):
        assert MOVED[call](data).is_meta
    assert MOVED[call](data).device.type == "cpu"
    assert torch.as_tensor(torch.ones(2, device="meta")).is_meta
