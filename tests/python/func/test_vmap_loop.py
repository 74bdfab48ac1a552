"""Parts of `vmap` in the loop alone: views, writes, what the function sees."""

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
    with pytest.raises(RuntimeError, match="vmap: inplace arithmetic"):
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


CAPTURED = torch.zeros(2)
WRITES = {
    "add_": lambda x: CAPTURED.add_(x),
    "copy_": lambda x: CAPTURED.copy_(x),
    "setitem": lambda x: CAPTURED.__setitem__(0, x[0]),
    "of a constant": lambda x: CAPTURED.add_(1),
    "of a view": lambda x: CAPTURED[:1].mul_(x[0]),
}


@pytest.mark.parametrize("write", WRITES)
def test_what_is_captured_is_not_written_once_a_slice(write):
    CAPTURED.fill_(1)
    with pytest.raises(RuntimeError, match="vmap: inplace arithmetic"):
        torch.vmap(WRITES[write])(torch.ones(3, 2))
    assert CAPTURED.tolist() == [1, 1]


def test_what_is_mapped_or_made_inside_is_written():
    x = torch.ones(3, 2)
    out = torch.vmap(lambda x: x.add_(1))(x)
    assert out.tolist() == x.tolist() == [[2, 2]] * 3
    made = torch.vmap(lambda x: torch.zeros(2).add_(x).mul_(2))(x)
    assert made.tolist() == [[4, 4]] * 3
    nested = torch.vmap(torch.vmap(lambda x: x.clone().add_(1)))(x)
    assert nested.tolist() == [[3, 3]] * 3


def test_statistics_are_not_updated_once_a_slice():
    x = torch.randn(3, 4, 2)
    layer = torch.nn.BatchNorm1d(2)
    with pytest.raises(RuntimeError, match="Batch norm got a batched tensor"):
        torch.vmap(layer)(x)
    assert layer.num_batches_tracked.item() == 0
    for call in (
        lambda: torch.func.grad(lambda x: layer(x).sum())(x[0]),
        lambda: torch.func.vjp(layer, x[0]),
        lambda: torch.func.jvp(layer, (x[0],), (x[0],)),
    ):
        with pytest.raises(RuntimeError, match="would mutate a captured"):
            call()
    assert layer.num_batches_tracked.item() == 0
    norm = torch.nn.InstanceNorm1d(2, track_running_stats=True)
    with pytest.raises(RuntimeError, match="Batch norm got a batched tensor"):
        torch.vmap(norm)(torch.randn(3, 4, 2, 5))


def test_statistics_that_are_arguments_are_updated():
    layer = torch.nn.BatchNorm1d(2)
    x = torch.randn(3, 4, 2)
    parameters = dict(layer.named_parameters())
    buffers = {n: b.clone() for n, b in layer.named_buffers()}

    def loss(parameters, buffers, x):
        made = torch.func.functional_call(layer, (parameters, buffers), (x,))
        return made.square().sum()

    torch.func.grad(loss)(parameters, buffers, x[0])
    assert buffers["num_batches_tracked"].item() == 1
    assert layer.num_batches_tracked.item() == 0
    several = {n: torch.stack([b] * 3) for n, b in buffers.items()}
    grads = torch.vmap(torch.func.grad(loss), (None, 0, 0))(parameters, several, x)
    assert grads["weight"].shape == (3, 2)
    assert several["num_batches_tracked"].tolist() == [2, 2, 2]
    assert torch.vmap(layer.eval())(x).shape == x.shape


class Old(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


class New(torch.autograd.Function):
    @staticmethod
    def forward(x):
        return x * 2

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


@pytest.mark.parametrize("transform", ["grad", "vjp", "jvp", "jacrev", "vmap"])
def test_functions_of_the_older_form_are_refused(transform):
    x = torch.ones(2)
    calls = {
        "grad": lambda f: torch.func.grad(lambda x: f(x).sum())(x),
        "vjp": lambda f: torch.func.vjp(f, x),
        "jvp": lambda f: torch.func.jvp(f, (x,), (x,)),
        "jacrev": lambda f: torch.func.jacrev(f)(x),
        "vmap": lambda f: torch.vmap(f)(x),
    }
    call = calls[transform]
    with pytest.raises(RuntimeError, match="must override the setup_context"):
        call(Old.apply)
    if transform != "jvp":
        call(New.apply)
    assert Old.apply(x).tolist() == [2, 2]


@pytest.mark.parametrize("norm", ["batch_norm", "instance_norm"])
def test_functions_do_not_change_captured_statistics_for_each_slice(norm):
    function = getattr(torch.nn.functional, norm)
    mean, var = torch.zeros(2), torch.ones(2)
    x = torch.randn(3, 4, 2, 5)
    with pytest.raises(RuntimeError, match="Batch norm got a batched tensor"):
        torch.vmap(lambda x: function(x, mean, var, None, None, True))(x)
    assert mean.tolist() == [0.0, 0.0]
    torch.vmap(lambda x: function(x, mean, var, None, None, False))(x)
    torch.vmap(lambda x: function(x, None, None, None, None, True))(x)
    many = torch.zeros(3, 2), torch.ones(3, 2)  # their own for each
    torch.vmap(lambda x, m, v: function(x, m, v, None, None, True))(x, *many)
    assert (many[0] != 0).all()
    assert mean.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("norm", ["batch_norm", "instance_norm"])
def test_operators_do_not_change_captured_statistics_for_each_slice(norm):
    function = getattr(torch, norm)
    mean, var = torch.zeros(2), torch.ones(2)
    x = torch.randn(3, 4, 2, 5)

    def train(x, mean, var):
        return function(x, None, None, mean, var, True, 0.1, 1e-5, False)

    with pytest.raises(RuntimeError, match="vmap"):
        torch.vmap(lambda x: train(x, mean, var))(x)
    assert mean.tolist() == [0.0, 0.0]
    assert var.tolist() == [1.0, 1.0]
    many = torch.zeros(3, 2), torch.ones(3, 2)
    torch.vmap(train)(x, *many)
    assert (many[0] != 0).all()


def test_statistics_of_layers_that_the_function_makes():
    """Their counts are its own, which it may write to."""

    def loss(x):
        return torch.nn.BatchNorm1d(3)(x).pow(3).sum()

    x = torch.arange(6.0).reshape(2, 3)
    for call in (
        lambda: torch.func.grad(loss)(x),
        lambda: torch.func.vjp(loss, x)[0],
        lambda: torch.func.jvp(loss, (x,), (x,))[1],
    ):
        assert call().isfinite().all()


def test_tensors_without_values_are_mapped_over():
    """Under a mode that knows no elements nothing is asked of random state."""
    with torch._subclasses.FakeTensorMode():
        found = vmap(lambda row: row.sum())(torch.empty(3, 2))
    assert found.shape == (3,)


def test_a_mapped_function_is_exported():
    class Doubled(torch.nn.Module):
        def forward(self, x):
            return vmap(lambda row: row * 2 + row.sum())(x)

    x = torch.arange(6.0).view(3, 2)
    module = torch.export.export(Doubled(), (x,)).module()
    assert module(x - 1).tolist() == Doubled()(x - 1).tolist()
