"""Tensors made in inference mode, and what they must not be used for."""

from __future__ import annotations

import threading

import pytest

import hotaru


def made(*sizes: int) -> hotaru.Tensor:
    with hotaru.inference_mode():
        return hotaru.ones(*sizes)


def test_who_is_one():
    normal = hotaru.ones(2)
    tensor = made(2)
    assert tensor.is_inference()
    assert hotaru.is_inference(tensor)
    assert tensor.detach().is_inference()
    assert tensor[:1].is_inference()
    assert not tensor[:1]._is_view()
    assert not (tensor * 2).is_inference()
    assert not tensor.clone().is_inference()
    with hotaru.inference_mode():
        assert not normal.is_inference()
        assert not normal.view(2).is_inference()
        assert (normal * 2).is_inference()
        with hotaru.inference_mode(False):
            assert not (normal * 2).is_inference()
        assert hotaru.ones(2).is_inference()
    assert not hotaru.ones(2).is_inference()


def test_it_has_no_version():
    tensor = made(2)
    with pytest.raises(RuntimeError, match="do not track version counter"):
        _ = tensor._version
    hotaru.autograd.graph.increment_version(tensor)
    assert hotaru.ones(2)._version == 0


def test_writes_outside_of_the_mode():
    tensor = made(2, 2)
    message = "Inplace update to inference tensor outside InferenceMode"
    for write in (
        lambda t: t.add_(1),
        lambda t: t.copy_(hotaru.zeros(2, 2)),
        lambda t: t.zero_(),
        lambda t: t.t_(),
        lambda t: t[0].mul_(2),
        lambda t: t.__setitem__(0, 3.0),
        lambda t: hotaru.sin(hotaru.zeros(2, 2), out=t),
    ):
        with pytest.raises(RuntimeError, match=message):
            write(tensor)
    assert tensor.tolist() == [[1.0, 1.0], [1.0, 1.0]]
    with hotaru.inference_mode():
        assert tensor.add_(1).sum().item() == 8.0


def test_autograd_refuses_it():
    tensor = made(2)
    leaf = hotaru.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="cannot be saved for backward"):
        leaf * tensor
    with pytest.raises(RuntimeError, match="Setting requires_grad=True on"):
        tensor.requires_grad_()
    (leaf + tensor).sum().backward()
    assert leaf.grad.tolist() == [1.0, 1.0]


def test_writes_in_the_mode_are_counted_for_others():
    leaf = hotaru.ones(2, requires_grad=True)
    inner = leaf.clone()
    out = inner * inner
    with hotaru.inference_mode():
        inner.add_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.sum().backward()


def test_views_made_in_the_mode():
    base = hotaru.ones(2, requires_grad=True).clone()
    with hotaru.inference_mode():
        view = base.view(2)
    message = "created in inference mode and is being modified inplace"
    for write in (lambda t: t.add_(1), lambda t: t.unsqueeze_(0)):
        with pytest.raises(RuntimeError, match=message):
            write(view)


def test_the_mode_is_a_threads_own():
    found = []
    with hotaru.inference_mode():
        thread = threading.Thread(
            target=lambda: found.append(hotaru.ones(1).is_inference())
        )
        thread.start()
        thread.join()
    assert found == [False]
