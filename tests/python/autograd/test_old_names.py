"""Requests of older programs to autograd; values are PyTorch 2.13's."""

from __future__ import annotations

import pytest
from hotaru.autograd.gradcheck import (
    get_analytical_jacobian,
    get_numerical_jacobian,
    gradcheck,
)

import hotaru

DOUBLE = {"dtype": hotaru.float64, "requires_grad": True}


def test_numerical_jacobian():
    a, b = hotaru.rand(2, 2, **DOUBLE), hotaru.rand(2, 2, **DOUBLE)

    def fn(inputs):
        return 2 * inputs[0] + inputs[1], inputs[0]

    eye = hotaru.eye(4, dtype=hotaru.float64)
    private = "`get_numerical_jacobian` was part of PyTorch's private API"
    with pytest.warns(FutureWarning, match=private):
        by_a, by_b = get_numerical_jacobian(fn, (a, b), eps=1e-6)
    hotaru.testing.assert_close(by_a, 2 * eye)
    hotaru.testing.assert_close(by_b, eye)
    with pytest.warns(FutureWarning, match=private):
        (by_b,) = get_numerical_jacobian(fn, (a, b), b, 1e-6)
    hotaru.testing.assert_close(by_b, eye)
    with (
        pytest.warns(FutureWarning, match=private),
        pytest.raises(ValueError, match=r"Expected grad_out to be 1\.0"),
    ):
        get_numerical_jacobian(fn, (a, b), grad_out=2.0)


def test_jacobians_by_complex_inputs():
    """Both are z / |z| for the absolute value."""
    z = hotaru.rand(2, dtype=hotaru.complex128, requires_grad=True)
    wanted = hotaru.diag((z / z.abs()).detach())
    with pytest.warns(FutureWarning):
        (numerical,) = get_numerical_jacobian(lambda i: i[0].abs(), (z,))
    with pytest.warns(FutureWarning):
        analytical, *right = get_analytical_jacobian((z,), z.abs())
    assert right == [True, True, True]
    hotaru.testing.assert_close(analytical[0], wanted)
    hotaru.testing.assert_close(numerical, wanted, atol=1e-6, rtol=1e-6)


def test_analytical_jacobian_finds_what_differs():
    class Drifting(hotaru.autograd.Function):
        count = 0

        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            Drifting.count += 1
            return grad * (1 + 1e-3 * Drifting.count)

    x = hotaru.rand(2, **DOUBLE)
    with pytest.warns(FutureWarning):
        found = get_analytical_jacobian((x,), Drifting.apply(x))
    assert found[1:] == (False, True, True)
    with pytest.warns(FutureWarning):
        found = get_analytical_jacobian((x,), Drifting.apply(x), 1.0)
    assert found[1:] == (True, True, True)


def test_gradcheck_warns_where_a_missing_gradient_fails():
    def fn(x):
        def hook(grad):
            if grad is None:
                raise RuntimeError("x is undefined")

        y = x.clone()
        y.register_hook(hook)
        return y

    x = hotaru.ones(1, **DOUBLE)
    with pytest.warns(UserWarning, match="New undefined gradient support"):
        assert not gradcheck(fn, (x,), raise_exception=False)


def test_resize():
    Resize = hotaru.autograd._functions.Resize
    x = hotaru.rand(2, 3, requires_grad=True)
    y = Resize.apply(x, (3, 2))
    assert y.equal(x.reshape(3, 2))
    (y * hotaru.arange(6.0).view(3, 2)).sum().backward()
    assert x.grad.equal(hotaru.arange(6.0).view(2, 3))
    with pytest.raises(RuntimeError, match=r"resize to 2x2 \(4 elements"):
        Resize.apply(x, (2, 2))


def test_shapes_of_gradients():
    shapes = hotaru.autograd._calculate_shape
    x, batch = hotaru.ones(2, 3, requires_grad=True), hotaru.ones(4, 2, 3)
    assert shapes(x, batch, True) == ((2, 3), (2, 3))
    assert shapes(x, batch, False) == ((2, 3), (4, 2, 3))
    edge = hotaru.autograd.graph.get_gradient_edge(x * 2)
    assert shapes(edge, x, False) == ((2, 3), (2, 3))
    with pytest.raises(RuntimeError, match="not supported with GradientEdge"):
        shapes(edge, batch, True)


def test_operators_of_the_same_name():
    """torch._VF has the operators themselves."""
    values, inverse, counts = hotaru._VF.unique_dim(
        hotaru.tensor([[1, 2], [1, 2], [0, 1]]), 0, True, True, True
    )
    assert values.tolist() == [[0, 1], [1, 2]]
    assert inverse.tolist() == [1, 1, 0]
    assert counts.tolist() == [1, 2]
    with pytest.raises(AttributeError):
        hotaru._VF.nothing_of_that_name  # noqa: B018


@pytest.mark.parametrize(
    ("change", "same"),
    [
        (lambda t: t.clone(), True),
        (lambda t: t.to(hotaru.float64), False),
        (lambda t: t.t(), False),
        (lambda t: t.detach().requires_grad_(), False),
        (lambda t: hotaru.ones(3, 2)[1:], False),
    ],
)
def test_metadata(change, same):
    from hotaru._subclasses.meta_utils import assert_metadata_eq

    differing = []

    def assert_eq(a, b):
        if a != b:
            differing.append((a, b))

    first = hotaru.ones(2, 2).clone()
    second = change(hotaru.ones(2, 2, device="cpu"))
    assert_metadata_eq(assert_eq, first, second)
    assert (not differing) == same


def test_metadata_of_gradients():
    from hotaru._subclasses.meta_utils import assert_metadata_eq

    def assert_eq(a, b):
        assert a == b

    a, b = hotaru.nn.Linear(2, 2), hotaru.nn.Linear(2, 2, device="meta")
    assert_metadata_eq(assert_eq, a.weight, b.weight)
    a.weight.grad = hotaru.ones(2, 2)
    with pytest.raises(AssertionError):
        assert_metadata_eq(assert_eq, a.weight, b.weight)
    b.weight.grad = hotaru.ones(2, 2, device="meta")
    assert_metadata_eq(assert_eq, a.weight, b.weight)


def test_hooks_by_name():
    x = hotaru.ones(2, requires_grad=True)
    assert x._backward_hooks is None
    handle = x.register_hook(lambda g: g * 2)
    assert len(x._backward_hooks) == 1
    handle.remove()
    seen = []
    x._backward_hooks = {"note": lambda g: seen.append(g.tolist())}
    x.sum().backward()
    assert seen == [[1, 1]]
    del x._backward_hooks["note"]
    x.sum().backward()
    assert len(seen) == 1
    with pytest.raises(RuntimeError, match="cannot delete"):
        del x._backward_hooks
    with pytest.raises(RuntimeError, match="cannot delete"):
        del x._grad_fn


@pytest.mark.parametrize("requires_grad", [False, True])
def test_views_of_inference_tensors_have_no_history(requires_grad):
    with hotaru.inference_mode():
        x = hotaru.ones(2, 3, requires_grad=requires_grad)
    view = x.view(-1)
    assert view.is_inference()
    assert not view.requires_grad
    assert view.is_leaf
    assert not view._is_view()
