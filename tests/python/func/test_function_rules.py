"""Statements of Functions about themselves to transforms: `jvp` and `vmap`."""

from __future__ import annotations

import pytest

import hotaru as torch
from hotaru import func
from hotaru.autograd import Function

X, T = torch.tensor([1.0, 2.0]), torch.tensor([1.0, 10.0])


class Square(Function):
    """Its jvp tells itself from its backward by a factor."""

    @staticmethod
    def forward(x):
        return x * x

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_forward(*inputs)
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, g):
        return g * 2 * ctx.saved_tensors[0]

    @staticmethod
    def jvp(ctx, t):
        return t * 11 * ctx.saved_tensors[0]


class Once(Square):
    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, g):
        return g * 3


class Without(Square):
    """Without a backward."""

    backward = Function.backward


class ByVjp(Without):
    vjp = Square.backward


class Written(Square):
    """Its jvp writes into the tangent."""

    @staticmethod
    def jvp(ctx, t):
        return t.mul_(11).mul_(ctx.saved_tensors[0])


TRANSFORMS = {
    "jvp": lambda f: func.jvp(f, (X,), (T,))[1],
    "linearize": lambda f: func.linearize(f, X)[1](T),
    "jacfwd": lambda f: func.jacfwd(f)(X) @ T,
    "jacobian": lambda f: (
        torch.autograd.functional.jacobian(
            f, X, vectorize=True, strategy="forward-mode"
        )
        @ T
    ),
}


@pytest.mark.parametrize("kind", [Square, Once, Without, ByVjp, Written])
@pytest.mark.parametrize("name", TRANSFORMS)
def test_tangents_are_those_of_jvp(name, kind):
    transform = TRANSFORMS[name]
    assert transform(kind.apply).tolist() == [11, 220]
    inner = transform(lambda x: kind.apply(x + 1) * 2)
    assert inner.tolist() == [44, 660]
    twice = transform(lambda x: kind.apply(kind.apply(x)))
    assert twice.tolist() == [121, 9680]


def test_backward_passes_are_those_of_backward():
    assert func.jacrev(Square.apply)(X).diagonal().tolist() == [2, 4]
    assert func.vjp(Square.apply, X)[1](T)[0].tolist() == [2, 40]
    two = torch.autograd.functional.jvp(Square.apply, X, T)[1]
    assert two.tolist() == [2, 40]


def test_orders_mix():
    def tangent(x):
        return func.jvp(Square.apply, (x,), (T,))[1]

    def gradient(x):
        return func.grad(lambda y: Square.apply(y).sum())(x)

    leaf = X.clone().requires_grad_()
    assert func.grad(lambda x: tangent(x).sum())(X).tolist() == [11, 110]
    assert func.jvp(tangent, (X,), (T,))[1].tolist() == [11, 1100]
    assert func.jvp(gradient, (X,), (T,))[1].tolist() == [2, 20]
    tangent(leaf).sum().backward()
    assert leaf.grad.tolist() == [11, 110]
    mapped = torch.vmap(lambda x: func.jvp(Square.apply, (x,), (torch.ones(()),))[1])
    assert mapped(X).tolist() == [11, 22]


class Several(Function):
    """With numbers among the arguments, and two results."""

    @staticmethod
    def forward(x, n, y):
        return x * n + y, x - y

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.n = inputs[1]

    @staticmethod
    def jvp(ctx, tx, tn, ty):
        assert tn is None
        return tx * ctx.n + ty * 5, tx - ty * 7


class Unmade(Function):
    """Wants no zeros for arguments without a tangent."""

    @staticmethod
    def forward(x, y):
        return x + y

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.set_materialize_grads(False)

    @staticmethod
    def jvp(ctx, tx, ty):
        assert ty is None
        return tx * 4


def test_tangents_of_several_arguments():
    both = func.jvp(lambda x, y: Several.apply(x, 3.0, y), (X, X), (T, T))[1]
    assert [t.tolist() for t in both] == [[8, 80], [-6, -60]]
    one = func.jvp(lambda x: Several.apply(x, 3.0, X), (X,), (T,))[1]
    assert [t.tolist() for t in one] == [[3, 30], [1, 10]]
    unmade = func.jvp(lambda x: Unmade.apply(x, X), (X,), (T,))[1]
    assert unmade.tolist() == [4, 40]


class ItselfAgain(Square):
    """Linear, so its tangent is what it computes."""

    @staticmethod
    def forward(x):
        return x * 3

    @staticmethod
    def backward(ctx, g):
        return g * 3

    @staticmethod
    def jvp(ctx, t):
        return ItselfAgain.apply(t)


def test_a_jvp_may_call_its_function():
    assert func.jvp(ItselfAgain.apply, (X,), (T,))[1].tolist() == [3, 30]


def test_a_jvp_has_one_tangent_for_each_output():
    class Wrong(Square):
        @staticmethod
        def jvp(ctx, t):
            return t, t

    with pytest.raises(RuntimeError, match="expected 1 but got 2"):
        func.jvp(Wrong.apply, (X,), (T,))


M = torch.arange(6.0).view(2, 3)
CALLS = []


@pytest.fixture(autouse=True)
def _no_calls():
    CALLS.clear()


class Scale(Function):
    """Its rule tells itself from the loop by a factor."""

    @staticmethod
    def forward(x, n=2.0):
        return x * n

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.n = inputs[1]

    @staticmethod
    def backward(ctx, g):
        return g * ctx.n, None

    @staticmethod
    def vmap(info, in_dims, x, n):
        CALLS.append((info.batch_size, info.randomness, in_dims, x.shape, n))
        return Scale.apply(x, n) * 100, in_dims[0]


@pytest.mark.parametrize(
    ("run", "expected", "call"),
    [
        (lambda: torch.vmap(Scale.apply)(M), M * 200, (2, "error", 0, 2.0)),
        (
            lambda: torch.vmap(Scale.apply, in_dims=(1, None))(M, 3.0),
            M.t() * 300,
            (3, "error", 1, 3.0),
        ),
        (
            lambda: torch.vmap(Scale.apply, (-1, None), 1)(M, 3.0),
            M * 300,
            (3, "error", 1, 3.0),
        ),
        (
            lambda: torch.vmap(lambda x: Scale.apply(x, 3.0))(M),
            M * 300,
            (2, "error", 0, 3.0),
        ),
        (
            lambda: torch.vmap(lambda x: Scale.apply(x), randomness="same")(M),
            M * 200,
            (2, "same", 0, 2.0),
        ),
        (
            lambda: func.vmap(
                lambda pair: Scale.apply(pair["a"]), in_dims=1, out_dims=1
            )({"a": M}),
            M * 200,
            (3, "error", 1, 2.0),
        ),
        (
            lambda: func.grad(lambda x: torch.vmap(Scale.apply)(x).sum())(M),
            torch.full((2, 3), 200.0),
            (2, "error", 0, 2.0),
        ),
        (lambda: torch.vmap(Scale.apply)(M[:0]), M[:0], (0, "error", 0, 2.0)),
    ],
)
def test_a_rule_is_called_once_for_all(run, expected, call):
    assert torch.equal(run(), expected)
    [(size, randomness, dims, _, number)] = CALLS
    assert (size, randomness, dims[0], number) == call
    assert dims[1] is None


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x: Scale.apply(x * 1), 2),
        (lambda x: Scale.apply(x) * 3, 6),
        (lambda x: Scale.apply(x) + Scale.apply(x), 4),
    ],
)
def test_within_a_larger_function_the_loop_answers(function, expected):
    assert torch.equal(torch.vmap(function)(M), M * expected)
    assert not CALLS


def test_a_call_with_nothing_mapped_is_no_rules():
    found = torch.vmap(lambda x, y: Scale.apply(y), in_dims=(0, None))(M, M)
    assert torch.equal(found, torch.stack([M * 2, M * 2]))
    assert not CALLS


class Two(Scale):
    @staticmethod
    def forward(x, y):
        return x + y, x * y

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def vmap(info, in_dims, x, y):
        CALLS.append(in_dims)
        x, y = (
            t if dim is None else t.movedim(dim, 0) for t, dim in zip((x, y), in_dims)
        )
        return Two.apply(x, y), (0, 0)


def test_rules_of_several_arguments_and_results():
    ones = torch.ones(3)
    total, product = torch.vmap(Two.apply, in_dims=(0, None))(M, ones)
    assert torch.equal(total, M + 1)
    assert torch.equal(product, M)
    total, product = torch.vmap(lambda x, y: Two.apply(y, x), (1, None), (0, 1))(
        M, ones[:2]
    )
    assert torch.equal(total, M.t() + 1)
    assert torch.equal(product, M)
    assert CALLS == [(0, None), (None, 1)]


def test_rules_that_are_made():
    class Made(Scale):
        generate_vmap_rule = True
        vmap = Function.vmap

    assert torch.equal(torch.vmap(Made.apply)(M), M * 2)
    each = torch.vmap(func.grad(lambda x: Made.apply(x).sum()))
    assert torch.equal(each(M), torch.full((2, 3), 2.0))


@pytest.mark.parametrize("through", [lambda f: f, lambda f: lambda x: f(x)])
def test_rules_that_are_refused(through):
    class Both(Scale):
        generate_vmap_rule = True

    with pytest.raises(RuntimeError, match="has both generate_vmap_rule=True"):
        torch.vmap(through(Both.apply))(M)

    class Short(Scale):
        @staticmethod
        def vmap(info, in_dims, x, n):
            return x

    with pytest.raises(RuntimeError, match="two returns, an output and out_d"):
        torch.vmap(through(Short.apply))(M)
