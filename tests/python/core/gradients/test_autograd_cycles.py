"""Cycles through tensors, hooks and nodes, which the collector has to free."""

import gc
import weakref

import pytest

import hotaru as torch


class Thing:
    """Something to hold on to."""


class _Kept(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.y = x * 2
        return ctx.y

    @staticmethod
    def backward(ctx, grad):
        return grad


def leaf():
    return torch.ones(2, requires_grad=True)


def hook_of_a_leaf():
    x = leaf()
    x.register_hook(lambda grad: x)
    return x


def hook_with_its_handle():
    thing, thing.x = Thing(), leaf()
    thing.handle = thing.x.register_hook(lambda grad: thing)
    return thing


def hook_after_accumulation():
    x = leaf()
    x.register_post_accumulate_grad_hook(lambda tensor: x)
    return x


def hook_of_a_weight():
    module = torch.nn.Linear(2, 2)
    module.weight.register_hook(lambda grad: (module, None)[1])
    module(torch.ones(2, 2)).sum().backward()
    return module


def hook_of_a_result():
    y = leaf() * 2
    y.register_hook(lambda grad: y)
    return y


def hook_of_a_node():
    thing = Thing()
    thing.y = leaf() * 2
    thing.y.grad_fn.register_hook(lambda *grads: thing)
    return thing


def prehook_of_a_kept_node():
    thing = Thing()
    thing.node = (leaf() * 2).grad_fn
    thing.node.register_prehook(lambda grads: thing)
    return thing


def attribute_of_a_parameter():
    x = torch.nn.Parameter(torch.ones(2))
    x.me = x
    return x


def attribute_of_a_tensor():
    x = torch.ones(2)
    x.me = [x]
    return x


def entry_of_its_dict():
    x = torch.ones(2)
    x.__dict__["me"] = x
    return x


def attribute_of_a_gradient():
    x = leaf()
    x.sum().backward()
    x.grad.x = x
    return x


def attribute_of_a_subclass():
    class Mine(torch.Tensor):
        pass

    x = Mine(torch.ones(2))
    x.me = x
    return x


def output_kept_by_its_function():
    return _Kept.apply(leaf())


def output_kept_and_used():
    y = _Kept.apply(leaf())
    y.exp()
    return y


CYCLES = [
    hook_of_a_leaf,
    hook_with_its_handle,
    hook_after_accumulation,
    hook_of_a_weight,
    hook_of_a_result,
    hook_of_a_node,
    prehook_of_a_kept_node,
    attribute_of_a_parameter,
    attribute_of_a_tensor,
    entry_of_its_dict,
    attribute_of_a_gradient,
    attribute_of_a_subclass,
    output_kept_by_its_function,
    output_kept_and_used,
]


@pytest.mark.parametrize("make", CYCLES)
def test_freed(make):
    gone = weakref.ref(make())
    gc.collect()
    assert gone() is None


def test_hooks_of_tensors_that_live_on():
    """Nothing is taken from a tensor that C++ still holds."""
    x = leaf()
    calls = []
    x.register_hook(calls.append)
    y = x * 3
    y.register_hook(calls.append)
    y.grad_fn.register_prehook(lambda grads: calls.append(grads[0]))
    z = y * 2
    del x, y
    gc.collect()
    z.sum().backward()
    assert [c.tolist() for c in calls] == [[2, 2], [2, 2], [6, 6]]


def test_collecting_while_hooks_run():
    x = leaf()
    calls = []

    def hook(grad):
        gc.collect()
        calls.append(x)

    x.register_hook(hook)
    (x * 2).sum().backward()
    gc.collect()
    (x * 2).sum().backward()
    assert len(calls) == 2


def test_plain_tensors_are_not_tracked():
    """The collector's visits are only for tensors that may be in a cycle."""
    assert not gc.is_tracked(torch.ones(2) + 1)
    assert gc.is_tracked(leaf() * 2)
