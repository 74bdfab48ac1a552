"""Rights of functions written in Python, and what is said of mistakes."""

from __future__ import annotations

import gc
import weakref

import pytest
from hotaru.autograd.function import BackwardCFunction, FunctionCtx, once_differentiable

import hotaru
from hotaru.autograd import Function, gradcheck


def leaf(*values: float) -> hotaru.Tensor:
    return hotaru.tensor(values, requires_grad=True)


def function(forward, backward=lambda ctx, grad: grad, **more) -> type:
    return type(
        "Made",
        (Function,),
        {"forward": staticmethod(forward), "backward": staticmethod(backward), **more},
    )


def keep(*values):
    return lambda ctx, x: (ctx.save_for_backward(*values), x * 2)[1]


def mark(how, what):
    return lambda ctx, x: (getattr(ctx, how)(what(x)), x)[1]


@pytest.mark.parametrize(
    ("made", "error", "message"),
    [
        (function(keep(3)), TypeError, "argument 0 is of type int"),
        (function(keep(None, [])), TypeError, "argument 1 is of type list"),
        (
            function(mark("mark_dirty", lambda x: x * 2)),
            RuntimeError,
            "marked as dirty .* were not returned as output",
        ),
        (
            function(mark("mark_non_differentiable", lambda x: 3)),
            RuntimeError,
            "only accepts variable arguments",
        ),
        (
            function(mark("set_materialize_grads", lambda x: 3)),
            TypeError,
            "set_materialize_grads received",
        ),
    ],
)
def test_mistakes_of_forward(made, error, message):
    with pytest.raises(error, match=message):
        made.apply(leaf(1.0).clone())


@pytest.mark.parametrize(
    ("backward", "message"),
    [
        (lambda ctx, g: (g, g), "incorrect number of gradients"),
        (lambda ctx, g: 3, "expected Variable or None"),
        (lambda ctx, g: hotaru.ones(5), "MadeBackward returned an invalid"),
    ],
)
def test_mistakes_of_backward(backward, message):
    made = function(lambda ctx, x: x * 2, backward)
    with pytest.raises(RuntimeError, match=message):
        made.apply(leaf(1.0, 2.0)).sum().backward()


def test_backward_and_vjp_are_one():
    forward = staticmethod(lambda ctx, x: x * 2)
    double = staticmethod(lambda ctx, grad: grad * 2)
    a = leaf(1.0)
    only = type("Only", (Function,), {"forward": forward, "vjp": double})
    only.apply(a).backward()
    assert a.grad.item() == 2.0
    neither = type("Neither", (Function,), {"forward": forward})
    with pytest.raises(NotImplementedError, match="either the backward or vjp"):
        neither.apply(a).backward()
    both = type(
        "Both", (Function,), {"forward": forward, "vjp": double, "backward": double}
    )
    with pytest.raises(RuntimeError, match="'backward' and 'vjp'"):
        both.apply(a).backward()


def test_setup_context_sees_defaults():
    seen = []

    class Scaled(Function):
        @staticmethod
        def forward(x, scale=3.0):
            return x * scale

        @staticmethod
        def setup_context(ctx, inputs, output):
            seen.append(inputs[1:])
            ctx.scale = inputs[1]

        @staticmethod
        def backward(ctx, grad):
            return grad * ctx.scale, None

    a = leaf(1.0)
    (Scaled.apply(a) + Scaled.apply(a, scale=5.0)).backward()
    assert seen == [(3.0,), (5.0,)]
    assert a.grad.item() == 8.0


def test_gradients_that_nobody_gave():
    seen = []
    made = function(
        lambda ctx, x: (x * 1, x * 2),
        lambda ctx, *grads: (seen.append(grads), grads[0])[1],
    )
    made.apply(leaf(1.0))[0].backward()
    assert seen[0][1].tolist() == [0.0]

    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 1, x * 2

    made.forward = staticmethod(forward)
    made.apply(leaf(1.0))[0].backward()
    assert seen[1][1] is None


def test_legacy_functions():
    class Legacy(Function):
        def forward(self, x):
            return x

    with pytest.warns(DeprecationWarning, match="should not be instantiated"):
        made = Legacy()
    with pytest.raises(RuntimeError, match="Legacy autograd function with"):
        made(hotaru.ones(1))


def test_saved_tensors_are_cleared_on_access_if_asked():
    made = function(
        lambda ctx, x: (ctx.save_for_backward(x), x * x)[1],
        lambda ctx, g: (2 * ctx.saved_tensors[0] * g, ctx.saved_tensors)[0],
        clear_saved_tensors_on_access=True,
    )
    with pytest.raises(RuntimeError, match="second time"):
        made.apply(leaf(3.0)).backward()


def test_context_without_a_graph():
    contexts = []
    made = function(
        lambda ctx, x: (contexts.append(ctx), ctx.save_for_backward(x), x)[2]
    )
    made.apply(hotaru.ones(1))
    (ctx,) = contexts
    assert isinstance(ctx, BackwardCFunction)
    assert isinstance(ctx, FunctionCtx)
    assert (ctx.saved_tensors, ctx.to_save) == ((), None)
    assert ctx.needs_input_grad == (False,)
    with pytest.raises(AttributeError, match="'MadeBackward' object has no"):
        _ = ctx.other


def test_writes_into_views_that_a_function_gave():
    message = "This view was created inside a custom Function"
    same = function(lambda ctx, x: x)
    view = function(lambda ctx, x: x.view(2))
    for made in (same, view):
        for base in (leaf(1.0, 2.0).clone(), hotaru.ones(2)):
            with pytest.raises(RuntimeError, match=message):
                made.apply(base).add_(leaf(1.0, 2.0))
    halves = function(lambda ctx, x: (x[:1], x[1:]), lambda ctx, *g: None)
    base = leaf(1.0, 2.0).clone()
    with pytest.raises(RuntimeError, match="returns multiple views"):
        halves.apply(base)[0].add_(1)


def test_once_differentiable_fails_at_the_second_time():
    made = function(
        lambda ctx, x: (ctx.save_for_backward(x), x * x)[1],
        once_differentiable(lambda ctx, g: 2 * ctx.saved_tensors[0] * g),
    )
    a, b = leaf(3.0), leaf(1.0)
    (grad,) = hotaru.autograd.grad(made.apply(a) * b, a, create_graph=True)
    assert grad.item() == 6.0
    assert type(grad.grad_fn).__name__ == "Error"
    with pytest.raises(RuntimeError, match="marked with @once_differentiable"):
        grad.backward()


def test_cycles_through_the_context_are_collected():
    class Token:
        pass

    def forward(ctx, x):
        ctx.token = ctx._forward_cls.token
        return x * 2

    token = Token()
    seen = weakref.ref(token)
    made = function(forward, token=token)
    out = made.apply(leaf(1.0))
    out.grad_fn.cycle = out
    alive = hotaru._C._WeakTensorRef(out)
    del token, out, made, forward
    gc.collect()
    assert seen() is None
    assert alive.expired()


def test_gradcheck_of_a_function_that_writes():
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(3)

    made = function(forward, lambda ctx, g: 3 * g)
    x = hotaru.rand(3, dtype=hotaru.float64, requires_grad=True)
    assert gradcheck(lambda x: made.apply(x.clone()), (x,))


@pytest.mark.parametrize("is_leaf", [False, True])
@pytest.mark.parametrize("kind", ["alone", "beside", "written"])
def test_a_returned_input_without_gradient_has_no_history(kind, is_leaf):
    def forward(ctx, x):
        ctx.mark_non_differentiable(x)
        if kind == "written":
            ctx.mark_dirty(x)
            x.zero_()
        return (x * 2, x) if kind == "beside" else x

    x = leaf(1.0, 2.0)
    x = x if is_leaf else x * 1
    if kind == "written":
        x = x.detach().requires_grad_() * 1
    out = function(forward, lambda ctx, g, *_: g).apply(x)
    if kind == "beside":
        assert out[0].requires_grad
        out = out[1]
    assert not out.requires_grad
    assert out is not x
    assert out.data_ptr() == x.data_ptr()
    assert x.requires_grad
