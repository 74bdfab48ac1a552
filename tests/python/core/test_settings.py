"""Settings of the process, by PyTorch's names."""

from __future__ import annotations

import pytest
from hotaru.backends import _flags

import hotaru as torch


def test_precision_of_products_is_a_permission():
    a, b = torch.rand(8, 8), torch.rand(8, 8)
    exact = a @ b
    assert torch.get_float32_matmul_precision() == "highest"
    try:
        torch.set_float32_matmul_precision("medium")
        assert torch.get_float32_matmul_precision() == "medium"
        assert torch.backends.cuda.matmul.allow_tf32
        assert torch.equal(a @ b, exact)
        with pytest.warns(UserWarning, match="is not one of"):
            torch.set_float32_matmul_precision("low")
        assert torch.get_float32_matmul_precision() == "medium"
    finally:
        torch.set_float32_matmul_precision("highest")
    assert not torch.backends.cuda.matmul.allow_tf32


def test_default_type_by_name_and_by_type():
    before = torch.is_warn_always_enabled()
    torch.set_warn_always(True)
    try:
        with pytest.warns(UserWarning, match="is deprecated as of PyTorch 2.1"):
            torch.set_default_tensor_type("torch.DoubleTensor")
        torch.set_warn_always(before)
        assert torch.ones(1).dtype is torch.float64
    finally:
        torch.set_warn_always(before)
        torch.set_default_tensor_type(torch.FloatTensor)
    assert torch.ones(1).dtype is torch.float32
    with pytest.raises(TypeError, match="floating-point"):
        torch.set_default_tensor_type(torch.LongTensor)
    with pytest.raises(TypeError, match="invalid type"):
        torch.set_default_tensor_type("FloatTensor")


def test_modules_of_devices():
    assert torch.get_device_module("cpu") is torch.cpu
    assert torch.get_device_module(torch.device("cuda")) is torch.cuda
    with pytest.raises(RuntimeError, match="corresponding module"):
        torch.get_device_module("meta")
    assert torch.cpu.is_initialized()


def test_cond_calls_one_branch():
    def never(x):
        raise AssertionError

    x = torch.ones(2, requires_grad=True)
    made = torch.cond(torch.tensor(True), lambda x: x * 3, never, (x,))
    made.sum().backward()
    assert x.grad.tolist() == [3, 3]
    assert torch.cond(False, never, lambda x: x - 1, (x,)).tolist() == [0, 0]
    with pytest.raises(RuntimeError, match="Expected pred"):
        torch.cond(torch.ones(2), never, never, (x,))


def test_operators_in_place_are_functions():
    x = torch.tensor([3.0, float("nan")])
    assert torch.square_(x) is x
    assert torch.nan_to_num_(x).tolist() == [9, 0]
    assert torch.negative_(x).tolist() == [-9, 0]
    assert torch.logit_(torch.tensor([0.5])).tolist() == [0]
    # Tables of overrides know both.
    assert torch.square_ is not torch.Tensor.square_
    names = map(torch.overrides.resolve_name, (torch.square_, x.square_))
    assert list(names) == ["torch.square_", None]
    method = torch.overrides.resolve_name(torch.Tensor.square_)
    assert method == "torch.Tensor.square_"


def test_rrelu_in_place_has_the_gradient_of_what_it_overwrote():
    x = torch.randn(20, requires_grad=True)
    y = x * 1
    assert torch.rrelu_(y, training=True) is y
    y.sum().backward()
    assert torch.allclose(x.grad, (y / x).detach())
    assert (x.grad[x < 0] <= 1 / 3).all()
    assert torch.rrelu_(torch.tensor([-48.0])).tolist() == [-11.0]


def test_clone_of_a_generator_goes_on_by_itself():
    first = torch.Generator().manual_seed(3)
    torch.rand(5, generator=first)
    second = first.clone_state()
    wanted = torch.rand(3, generator=first)
    assert torch.equal(torch.rand(3, generator=second), wanted)
    with pytest.raises(RuntimeError, match="does not use offset"):
        first.get_offset()


def test_constructors_of_subclasses_are_marked_for_exports():
    from hotaru._export import wrappers

    mark = wrappers.mark_subclass_constructor_exportable_experimental

    class Marked(torch.Tensor):
        @mark
        def __init__(self, values):
            self.seen = values

    assert Marked([1.0, 2.0]).seen == [1.0, 2.0]
    with pytest.raises(RuntimeError, match="only be applied on __init__"):
        mark(torch.nn.functional.relu)


def test_matmul_precision_follows_the_flag_of_cuda():
    matmul = torch.backends.cuda.matmul
    before = torch.get_float32_matmul_precision()
    try:
        for allowed, name in ((True, "high"), (False, "highest")):
            matmul.allow_tf32 = allowed
            assert torch.get_float32_matmul_precision() == name
        for name in ("high", "medium", "highest"):
            torch.set_float32_matmul_precision(name)
            assert matmul.allow_tf32 is (name != "highest")
            assert torch.get_float32_matmul_precision() == name
    finally:
        torch.set_float32_matmul_precision(before)


def test_frozen_flags_are_set_again_in_a_block(monkeypatch):
    backends = torch.backends
    monkeypatch.setattr(_flags, "_frozen", True)
    before = backends.cudnn.benchmark
    allowed = getattr(backends, "__allow_nonbracketed_mutation")
    with allowed():
        assert not backends.flags_frozen()
        backends.cudnn.benchmark = not before
        assert backends.cudnn.benchmark is not before
        backends.cudnn.benchmark = before
    assert backends.flags_frozen()
    with pytest.raises(RuntimeError, match="after disable_global_flags"):
        backends.cudnn.benchmark = True
    with pytest.raises(ZeroDivisionError), allowed():
        raise ZeroDivisionError
    assert backends.flags_frozen()
