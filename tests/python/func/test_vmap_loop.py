"""What of `vmap` is the loop's own: views, writes, what the function sees."""

from __future__ import annotations

import pytest
from hotaru.func import grad, jacfwd, vmap

import hotaru as torch


def test_slices_and_results_are_views_where_all_lie_in_one_tensor():
    x = torch.arange(12.0).view(3, 4)
    rows = vmap(lambda row: row[1:3], out_dims=1)(x)
    assert rows.shape == (2, 3)
    rows.zero_()
    assert x.tolist()[1] == [4.0, 0.0, 0.0, 7.0]


def test_results_that_lie_unevenly_are_copied():
    x = torch.arange(9.0).view(3, 3)
    starts = iter((0, 2, 1))
    picked = vmap(lambda row: row[(i := next(starts)) : i + 1])(x)
    assert picked.flatten().tolist() == [0.0, 5.0, 7.0]
    picked.zero_()
    assert x.sum() == 36


def test_results_of_the_same_tensor_with_gradients_are_stacked():
    x = torch.arange(6.0).view(3, 2).requires_grad_()
    vmap(lambda row: row * 2)(x).sum().backward()
    assert x.grad.tolist() == [[2.0, 2.0]] * 3


def test_a_write_into_what_is_not_mapped_is_refused():
    total = torch.zeros(2)
    with pytest.raises(RuntimeError, match="changed in place"):
        vmap(lambda t, x: t.add_(x), in_dims=(None, 0))(total, torch.ones(3, 2))


def test_a_refused_draw_leaves_the_generator_as_it_was():
    torch.manual_seed(5)
    state = torch.get_rng_state()
    with pytest.raises(RuntimeError, match="randomness error mode"):
        vmap(lambda x: x + torch.rand(2))(torch.ones(3, 2))
    assert torch.equal(torch.get_rng_state(), state)


def test_every_call_sees_one_slice_in_order():
    seen = []
    vmap(lambda x: seen.append((x.dim(), x.item())) or x)(torch.arange(3))
    assert seen == [(0, 0), (0, 1), (0, 2)]


def test_jacfwd_runs_a_function_once_unless_draws_differ():
    calls = []

    def f(x):
        calls.append(1)
        return x * torch.rand(1)

    torch.manual_seed(1)
    same = jacfwd(f, randomness="same")(torch.ones(3))
    assert len(calls) == 1
    assert len(set(same.diagonal().tolist())) == 1
    different = jacfwd(f, randomness="different")(torch.ones(3))
    assert len(calls) == 4
    assert len(set(different.diagonal().tolist())) == 3


def test_a_gradient_keeps_no_graph_that_nobody_wants():
    leaf = torch.ones(3, requires_grad=True)
    assert grad(lambda x: (x * x).sum())(torch.ones(3)).grad_fn is None
    assert grad(lambda x: (x * leaf).sum())(torch.ones(3)).requires_grad
    with torch.no_grad():
        assert not grad(lambda x: (x**3).sum())(leaf).requires_grad
