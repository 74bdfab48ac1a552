"""gradcheck: what each of its switches finds, and what fast_mode costs."""

import pytest

import hotaru as torch
from hotaru.autograd import (
    Function,
    GradcheckError,
    forward_ad,
    gradcheck,
    gradgradcheck,
)


def leaf(*shape, dtype=torch.float64):
    torch.manual_seed(0)
    return torch.randn(shape, dtype=dtype, requires_grad=True)


def squared(factor=2.0, on_none=None):
    """A square whose gradient is `factor` * x * g."""

    class Squared(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            if g is None:
                return on_none(x) if on_none else None
            return factor * x * g

    return Squared.apply


@pytest.mark.parametrize("fast", [False, True])
def test_right_and_wrong_gradients(fast):
    x = leaf(3, 4)
    assert gradcheck(squared(), x, fast_mode=fast)
    with pytest.raises(GradcheckError, match="Jacobian mismatch for output 0"):
        gradcheck(squared(2.01), x, fast_mode=fast)
    assert not gradcheck(squared(2.01), x, fast_mode=fast, raise_exception=False)


@pytest.mark.parametrize("fast", [False, True])
def test_complex_gradients(fast):
    z, x = leaf(3, dtype=torch.complex128), leaf(3)
    assert gradcheck(lambda z, x: (z * z.conj() * x, z / x), (z, x), fast_mode=fast)
    assert gradgradcheck(lambda z: z * z.conj(), z, fast_mode=fast)
    with pytest.raises(GradcheckError):  # the gradient lacks a conjugate
        gradcheck(squared(2.0), z, fast_mode=fast)


def test_fast_mode_calls_do_not_grow_with_elements():
    calls = []

    def counted(x):
        calls.append(1)
        return x.sin()

    x = leaf(300)
    assert gradcheck(counted, x, fast_mode=True)
    assert len(calls) < 10
    assert gradgradcheck(lambda x: x[10:], leaf(2000), fast_mode=True)


def test_the_input_is_left_as_it_was():
    x = leaf(5)
    before = x.detach().clone()
    gradcheck(torch.exp, x, fast_mode=True)
    assert torch.equal(x, before)


def test_shapes_without_elements_and_dimensions():
    for shape in [(), (0,), (2, 0)]:
        assert gradcheck(lambda x: x * 2, leaf(*shape), fast_mode=True)


def test_dtypes_of_gradients():
    x = leaf(3)
    assert gradcheck(squared(), x, check_grad_dtypes=True)


def test_undefined_gradients():
    x = leaf(3)
    wrong = squared(on_none=torch.ones_like)
    with pytest.raises(GradcheckError, match="undefined or zero"):
        gradcheck(wrong, x)
    assert gradcheck(wrong, x, check_undefined_grad=False)
    assert gradcheck(lambda x: (x.sin(), x.cos()), x)


def test_outputs_that_hide_their_dependence():
    x = leaf(3)
    with pytest.raises(GradcheckError, match="expected to be zero"):
        gradcheck(lambda x: x.detach() * 2, x, fast_mode=True)


def test_batched_gradients_agree_with_single_ones():
    calls = []

    class Counting(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            calls.append(1)
            return g * (2 if len(calls) < 22 else 3)

    assert gradcheck(torch.sin, leaf(3), check_batched_grad=True)
    with pytest.raises(GradcheckError, match="testing batched gradient"):
        gradcheck(Counting.apply, leaf(9), check_batched_grad=True)


@pytest.mark.parametrize("fast", [False, True])
def test_forward_mode_is_compared(fast):
    def wrong(x):
        p, t = forward_ad.unpack_dual(x)
        return x * 2 if t is None else forward_ad.make_dual(p * 2, t * 3)

    options = {"check_forward_ad": True, "fast_mode": fast}
    assert gradcheck(torch.sin, leaf(3), **options)
    with pytest.raises(GradcheckError, match="computed with forward mode mis"):
        gradcheck(wrong, leaf(3), **options)
    assert gradcheck(wrong, leaf(3), fast_mode=fast)


def test_options_that_contradict_each_other():
    with pytest.raises(AssertionError, match="Expected at least one of"):
        gradcheck(torch.sin, leaf(3), check_backward_ad=False)
    with pytest.raises(AssertionError, match="check_batched_forward_grad=True"):
        gradcheck(torch.sin, leaf(3), check_batched_forward_grad=True)


def test_outputs_whose_shape_depends_on_values():
    with pytest.raises(AssertionError, match="outputs with the same shape"):
        gradcheck(lambda x: x[x > 0.5], torch.full((2,), 0.5).double().requires_grad_())


def test_second_derivatives_by_forward_mode():
    x = leaf(3)
    assert torch.autograd.gradgradcheck(
        lambda x: x.sin() * x, x, check_fwd_over_rev=True
    )


def test_fast_checks_of_forward_mode_take_few_runs():
    runs = []

    def cube(x):
        runs.append(x)
        return x**3

    x = leaf(500)
    options = {"check_forward_ad": True, "check_undefined_grad": False}
    assert gradcheck(cube, (x,), fast_mode=True, **options)
    assert len(runs) < 30
