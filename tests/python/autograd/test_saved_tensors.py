"""Hooks on saved tensors, their names on nodes, and writing what is saved."""

from __future__ import annotations

import gc
import weakref

import pytest

import hotaru
from hotaru.autograd import Function, graph


class Square(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x, None)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        x, nothing = ctx.saved_tensors
        assert nothing is None
        return 2 * x * grad


def leaf(*values: float) -> hotaru.Tensor:
    return hotaru.tensor(values, requires_grad=True)


def test_names_come_from_the_schema():
    a, b = leaf(2.0, 3.0), leaf(5.0, 7.0)
    node = (a * b).grad_fn
    assert node._saved_self is a
    assert node._saved_other is b
    result = a.exp()
    assert result.grad_fn._saved_result.grad_fn is result.grad_fn
    square = a * a
    assert square.grad_fn._saved_self is a
    assert square.grad_fn._saved_other is a
    with pytest.raises(AttributeError, match="'MulBackward0' object has no"):
        _ = node._saved_weight


@pytest.mark.parametrize("call", [lambda x: x * x, lambda x: Square.apply(x)])
def test_hooks_see_all_that_is_saved(call):
    packed = []

    def pack(tensor):
        packed.append(tensor.tolist())
        return tensor.detach().numpy().copy()

    a = leaf(2.0, 3.0)
    with graph.saved_tensors_hooks(pack, hotaru.from_numpy):
        out = call(a)
    assert packed
    assert all(values == [2.0, 3.0] for values in packed)
    out.sum().backward()
    assert a.grad.tolist() == [4.0, 6.0]


def test_unpacked_tensors_have_their_history():
    a = leaf(2.0)
    with graph.saved_tensors_hooks(lambda t: t.detach(), lambda t: t):
        out = (a * 1.0) ** 3
    (grad,) = hotaru.autograd.grad(out, a, create_graph=True)
    (second,) = hotaru.autograd.grad(grad, a, create_graph=True)
    assert [grad.item(), second.item()] == [12.0, 12.0]


def test_the_leaf_of_an_unpacked_tensor_is_the_original():
    a = leaf(3.0)
    with graph.saved_tensors_hooks(lambda t: t.detach(), lambda t: t):
        out = a * a
    saved = out.grad_fn._saved_self
    assert saved is not a
    (saved * 2).backward()
    assert a.grad.item() == 2.0
    assert saved.grad is None


def test_inner_hooks_win_and_outer_ones_return():
    seen = []

    def hooks(name):
        return graph.saved_tensors_hooks(
            lambda t: (seen.append(name), t)[1], lambda t: t
        )

    a = leaf(1.0)
    with hooks("outer"):
        with hooks("inner"):
            a.exp()
        a.exp()
    a.exp()
    assert seen == ["inner", "outer"]


def test_errors_of_hooks():
    a = leaf(1.0)
    with (
        graph.saved_tensors_hooks(lambda t: t.add_(1), lambda t: t),
        pytest.raises(RuntimeError, match="pack hook is modifying its"),
    ):
        (a + 1).sin()
    with graph.saved_tensors_hooks(lambda t: t, lambda t: 3):
        out = a.sin()
    with pytest.raises(TypeError, match="result of type int"):
        out.backward()


def test_register_hooks_on_one_saved_tensor():
    a = leaf(2.0)
    out = a.sin() * 0 + a.exp()
    node = a.exp().grad_fn
    raw = node._raw_saved_result
    raw.register_hooks(lambda t: 2 * t, lambda t: t / 2)
    with pytest.raises(RuntimeError, match="already been set"):
        raw.register_hooks(lambda t: t, lambda t: t)
    assert node._saved_result.item() == pytest.approx(a.exp().item())
    out.backward()
    assert a.grad.item() == pytest.approx(a.exp().item())
    product = a * a
    saved = product.grad_fn._raw_saved_self
    product.backward()
    with pytest.raises(RuntimeError, match="second time"):
        _ = product.grad_fn._saved_self
    with pytest.raises(RuntimeError, match="after it has been freed"):
        saved.register_hooks(lambda t: t, lambda t: t)
    square = Square.apply(a)
    nothing = square.grad_fn._raw_saved_tensors[1]
    with pytest.raises(RuntimeError, match="value None is forbidden"):
        nothing.register_hooks(lambda t: t, lambda t: t)
    with pytest.raises(RuntimeError, match="from Python is forbidden"):
        hotaru.autograd.SavedTensor()


def test_disabled_hooks():
    enabled = hotaru._C._autograd._saved_tensors_hooks_is_enabled
    with graph.disable_saved_tensors_hooks("outer"):
        with (
            graph.disable_saved_tensors_hooks("inner"),
            pytest.raises(RuntimeError, match="inner"),
        ):
            graph.save_on_cpu().__enter__()
        with pytest.raises(RuntimeError, match="outer"):
            graph.save_on_cpu().__enter__()
        assert not enabled()
    assert enabled()
    with graph.save_on_cpu(), pytest.raises(RuntimeError, match="never"):
        graph.disable_saved_tensors_hooks("never").__enter__()
    assert enabled()


def test_a_pass_gives_the_thread_its_hooks_back():
    hooks = graph.saved_tensors_hooks(lambda t: t, lambda t: t)
    a = leaf(1.0)

    def leave_entered(grad):
        hooks.__enter__()

    out = a * 2
    out.register_hook(leave_entered)
    out.backward()
    raw = a.exp().grad_fn._raw_saved_result
    raw.register_hooks(lambda t: t, lambda t: t)  # none there yet


def test_what_is_saved_dies_with_the_graph():
    class Packed:
        pass

    packed = []

    def pack(tensor):
        value = Packed()
        packed.append(weakref.ref(value))
        return value

    with graph.saved_tensors_hooks(pack, lambda value: None):
        out = leaf(1.0).exp()
    assert packed[0]() is not None
    del out
    gc.collect()
    assert packed[0]() is None


def test_saved_tensor_that_was_detached():
    a = leaf(1.0).clone()
    out = a.sin()
    a.detach_()
    with pytest.raises(RuntimeError, match="has been detached in-place"):
        out.backward()


def test_mutation_of_saved_tensors():
    def run(a):
        b = a.clone()
        out = (b**2).sum()
        b.sin_()
        out.backward()

    a = leaf(2.0, 3.0)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        run(a)
    with graph.allow_mutation_on_saved_tensors() as context:
        run(a)
        b = a.clone()
        first, second = b**2, b**2
        b[:1].mul_(2)
        assert len(context.cloned) == 1
        del first, second
        assert len(context.cloned) == 0
        late = (a.clone() ** 2).sum()
        with pytest.raises(RuntimeError, match="cannot be nested"):
            graph.allow_mutation_on_saved_tensors().__enter__()
    assert a.grad.tolist() == [4.0, 6.0]
    with pytest.raises(AssertionError, match="outside of the"):
        late.backward()


def test_version_of_memory_written_unseen():
    a = leaf(2.0).clone()
    out = a.sin()
    graph.increment_version(a)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.backward()
    with pytest.raises(RuntimeError, match="Iterable"):
        graph.increment_version([3])
