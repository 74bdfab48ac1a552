"""Hooks of the backward pass: their order, and hooks that change hooks.

What is expected is what PyTorch 2.13 does, unless a test says otherwise.
"""

import pytest

import hotaru as torch


def leaf(*shape):
    return torch.ones(*shape, requires_grad=True)


def added(tensor, kind, hook):
    """Adds a hook of one of the five kinds to a tensor."""
    if kind == "tensor":
        return tensor.register_hook(hook)
    if kind == "post_accumulate":
        return tensor.register_post_accumulate_grad_hook(hook)
    if kind == "node":
        return tensor.grad_fn.register_hook(hook)
    return tensor.grad_fn.register_prehook(hook)


@pytest.mark.parametrize(
    "kind", ["leaf", "post_accumulate", "tensor", "node", "prehook"]
)
def test_hooks_that_remove_and_add_hooks(kind):
    """A pass runs the hooks that were there when it came to them."""
    x = leaf(2)
    y = x * 2
    target = x if kind in ("leaf", "post_accumulate") else y
    kind = "tensor" if kind == "leaf" else kind
    calls, handles = [], []

    def first(*args):
        calls.append("first")
        for handle in handles:
            handle.remove()
        added(target, kind, lambda *args: calls.append("third"))

    def second(*args):
        calls.append("second")

    handles += [added(target, kind, hook) for hook in (first, second)]
    y.sum().backward(retain_graph=True)
    assert calls == ["first", "second"]
    y.sum().backward()
    assert calls == ["first", "second", "third"]


def test_removal_after_the_tensor_is_gone():
    handle = (leaf(2) * 2).register_hook(lambda grad: None)
    handle.remove()
    handle.remove()
    with leaf(2).register_hook(lambda grad: None) as handle:
        pass
    handle.remove()


def test_order_of_hooks():
    """Hooks of tensors, retained gradients, those of nodes, then the node."""
    x = leaf(2)
    y = x * 3
    seen = []

    def tensor_hook(grad):
        seen.append(("tensor", grad.tolist()))
        return grad + 1

    def prehook(grads):
        seen.append(("prehook", grads[0].tolist()))
        return (grads[0] * 10,)

    y.grad_fn.register_prehook(prehook)
    y.register_hook(tensor_hook)
    y.retain_grad()
    y.sum().backward()
    assert seen == [("tensor", [1, 1]), ("prehook", [2, 2])]
    assert y.grad.tolist() == [2, 2]
    assert x.grad.tolist() == [60, 60]


def test_hook_of_a_leaf_runs_in_grad():
    x = leaf(2)
    x.register_hook(lambda grad: grad * 2)
    (grad,) = torch.autograd.grad((x * 3).sum(), x)
    assert grad.tolist() == [6, 6]
    assert x.grad is None


def test_hook_of_an_output_without_gradient():
    """It is called with None, which it cannot replace."""
    x = leaf(2, 2)
    a, b = x.unbind(0)
    seen = []
    handle = a.register_hook(seen.append)
    b.sum().backward(retain_graph=True)
    assert seen == [None]
    handle.remove()
    a.register_hook(lambda grad: torch.ones(2))
    with pytest.raises(RuntimeError, match="can't replace a None gradient"):
        b.sum().backward()


class _NoGradient(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return None


class _Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


def test_nodes_whose_gradients_are_all_undefined_run():
    x = leaf(2)
    y = _Doubled.apply(x)
    seen = []
    y.register_hook(seen.append)
    _NoGradient.apply(y).sum().backward()
    assert seen == [None]
    assert x.grad.tolist() == [0, 0]


WRONG = [
    ("tensor", lambda g: torch.ones(3), "hook '<lambda>' has changed the size"),
    (
        "tensor",
        lambda g: torch.ones(2, dtype=torch.float64),
        "changed the type of value .was torch.FloatTensor got torch.Double",
    ),
    ("prehook", lambda g: (), "incorrect number of values .got 0, but expe"),
    ("prehook", lambda g: (g[0], g[0]), "number of values .got 2, but expe"),
    ("prehook", lambda g: (torch.ones(3),), "has changed the size of value"),
    ("node", lambda i, o: (), "incorrect number of values .got 0, but expe"),
    ("node", lambda i, o: (torch.ones(5), None), "has changed the size"),
]


@pytest.mark.parametrize(("kind", "hook", "message"), WRONG)
def test_hooks_that_return_what_does_not_fit(kind, hook, message):
    y = leaf(2) * 2
    added(y, kind, hook)
    with pytest.raises(RuntimeError, match=message):
        y.sum().backward()


def test_hooks_that_return_no_tensors():
    y = leaf(2) * 2
    y.grad_fn.register_prehook(lambda grads: grads[0])
    with pytest.raises(TypeError, match="expected tuple, but hook returned"):
        y.sum().backward()


def test_retained_gradient_follows_writes_through_views():
    weights = torch.arange(4.0).reshape(2, 2)
    x = leaf(2, 2)
    y = x * 2
    row = y[0]
    row.retain_grad()
    y.retain_grad()
    row.mul_(3)
    (y * weights).sum().backward()
    assert y.grad.tolist() == weights.tolist()
    assert row.grad is None

    y = leaf(2, 2) * 2
    row = y[0]
    row.retain_grad()
    row.mul_(3)
    row.sum().backward()
    assert row.grad.tolist() == [1, 1]


def test_retained_gradients_of_tensors_that_went():
    """The node of a tensor that was written and dropped forgets it."""
    x = leaf(4)
    for _ in range(50):
        y = x * 2
        y.retain_grad()
        y[:2].mul_(3)
        z = y * 1
        del y
        z.sum().backward()
    assert x.grad.tolist() == [300, 300, 100, 100]


def test_grad_under_its_other_name():
    x = leaf(2)
    x._grad = torch.full((2,), 3.0)
    assert x.grad.tolist() == [3, 3]
    assert x._grad is x.grad
    with pytest.raises(RuntimeError, match="attempting to assign a gradient"):
        x._grad = torch.ones(3)
    x._grad = None
    assert x.grad is None


def test_empty_inputs():
    x = leaf(2)
    with pytest.raises(RuntimeError, match=r"`backward..` cannot be empty"):
        x.sum().backward(inputs=[])
    with pytest.raises(RuntimeError, match=r"`grad..` cannot be empty"):
        torch.autograd.grad(x.sum(), [])


def test_nodes_are_the_same_object():
    y = leaf(2) * 2
    assert y.grad_fn is y.grad_fn
    assert (y + 1).grad_fn.next_functions[0][0] is y.grad_fn
