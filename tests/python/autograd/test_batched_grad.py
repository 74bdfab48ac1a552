"""`grad(is_grads_batched=True)`: one pass for each slice."""

import pytest

import hotaru as torch


def test_slices_are_the_gradients_of_single_passes():
    x = torch.randn(3, requires_grad=True)
    y, z = x.exp(), x * x
    gy, gz = torch.randn(4, 3), torch.randn(4, 3)
    (found,) = torch.autograd.grad((y, z), x, (gy, gz), is_grads_batched=True)
    expected = gy * x.detach().exp() + gz * 2 * x.detach()
    assert torch.allclose(found, expected)


def test_unused_inputs():
    x = torch.ones(3, requires_grad=True)
    other = torch.ones(2, requires_grad=True)
    seeds = torch.ones(2, 3)
    _, none = torch.autograd.grad(
        x * 2, (x, other), seeds, allow_unused=True, is_grads_batched=True
    )
    assert none is None
    _, zeros = torch.autograd.grad(
        x * 2, (x, other), seeds, materialize_grads=True, is_grads_batched=True
    )
    assert torch.equal(zeros, torch.zeros(2, 2))


def test_shapes_are_checked():
    x = torch.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="we interpret the first dimension"):
        torch.autograd.grad(x * 2, x, torch.ones(3), is_grads_batched=True)


def test_the_older_vmap_refuses_random_draws():
    mapped = torch._vmap_internals._vmap(lambda x: x + torch.rand(2))
    state = torch.get_rng_state()
    with pytest.raises(RuntimeError, match="do not yet support calling random"):
        mapped(torch.ones(3, 2))
    assert torch.equal(state, torch.get_rng_state())


def test_gradcheck_of_batches():
    sparse = torch.ones(3, dtype=torch.float64).to_sparse().requires_grad_()

    def dense(x):
        return x.to_dense()

    check = torch.autograd.gradcheck
    assert check(dense, sparse, masked=True)
    with pytest.raises(RuntimeError, match="failed while testing batched grad"):
        check(dense, sparse, masked=True, check_batched_grad=True)
    assert not check(
        dense, sparse, masked=True, check_batched_grad=True, raise_exception=False
    )

    class Counts(torch.autograd.Function):
        calls = 0

        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def jvp(ctx, v):
            Counts.calls += 1
            return v * (2 + (Counts.calls > 3))

    x = torch.ones(1, dtype=torch.float64, requires_grad=True)
    options = {"check_forward_ad": True, "check_backward_ad": False}
    with pytest.raises(RuntimeError, match="batched forward gradient"):
        check(
            Counts.apply,
            x,
            check_undefined_grad=False,
            check_batched_forward_grad=True,
            **options,
        )
