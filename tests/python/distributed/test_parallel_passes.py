"""DistributedDataParallel's backward passes: every option with checkpoints and
with outputs that a loss leaves out, against the gradients of one process.
"""

from __future__ import annotations

import pytest
from hotaru.nn.parallel import DistributedDataParallel

import hotaru
from hotaru import nn


class Parts(nn.Module):
    """Three parts of which a loss takes some, each a checkpoint or not."""

    def __init__(self, checkpoint, outputs):
        super().__init__()
        hotaru.manual_seed(5)
        self.parts = nn.ModuleList(nn.Linear(3, 3, bias=False) for _ in range(3))
        self.checkpoint, self.outputs = checkpoint, outputs

    def forward(self, x):
        found = []
        for part in self.parts:
            x = self.checkpoint(part, x)
            found.append(x)
        if self.outputs == "last":
            return x
        heads = [part(f.detach()) for part, f in zip(self.parts, found)]
        return {"heads": heads, "x": x.detach()}


def _reentrant(part, x):
    from hotaru.utils.checkpoint import checkpoint

    return checkpoint(part, x, use_reentrant=True)


def _plain_checkpoint(part, x):
    from hotaru.utils.checkpoint import checkpoint

    return checkpoint(part, x, use_reentrant=False)


CHECKPOINTS = {
    "none": lambda part, x: part(x),
    "reentrant": _reentrant,
    "plain": _plain_checkpoint,
}


def average_of_ranks(make, loss, inputs) -> list:
    """Gradients of one process that has all parts; None for no gradient."""
    total: list = []
    for rank, x in enumerate(inputs):
        model = make()
        loss(model(x), rank).backward()
        total.append([p.grad for p in model.parameters()])
    out = []
    for grads in zip(*total):
        there = [g for g in grads if g is not None]
        out.append(sum(there) / len(inputs) if there else None)
    return out


def check_gradients(model, wanted) -> None:
    for p, want in zip(model.parameters(), wanted, strict=True):
        if want is None:
            assert p.grad is None
        else:
            assert hotaru.allclose(p.grad, want)


@pytest.mark.parametrize("checkpoint", CHECKPOINTS)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"static_graph": True},
        {"gradient_as_bucket_view": True},
        {"static_graph": True, "gradient_as_bucket_view": True},
        {"bucket_cap_mb": 1e-5},
        {"static_graph": True, "bucket_cap_mb": 1e-5},
    ],
)
def test_checkpoints_are_averaged(world, checkpoint, options):
    inputs = [hotaru.full((2, 3), r + 1.0, requires_grad=True) for r in range(2)]

    def make():
        return Parts(CHECKPOINTS[checkpoint], "last")

    def loss(y, rank):
        return y.square().sum()

    wanted = average_of_ranks(make, loss, inputs)

    def f(rank):
        model = make()
        parallel = DistributedDataParallel(model, **options)
        for _ in range(3):
            parallel.zero_grad()
            loss(parallel(inputs[rank]), rank).backward()
            check_gradients(model, wanted)

    world(2, f)


@pytest.mark.parametrize("as_views", [False, True])
@pytest.mark.parametrize("cap", [25, 1e-5])
@pytest.mark.parametrize(
    "used",
    [
        [[0], [0]],  # an output that nobody uses
        [[0, 2], [1]],  # other ones on other ranks
        [[2], [0, 1, 2]],
        [[1, 2], [1, 2]],
    ],
)
def test_outputs_that_a_loss_leaves_out(world, as_views, cap, used):
    inputs = [hotaru.full((2, 3), r + 1.0) for r in range(2)]

    def make():
        return Parts(CHECKPOINTS["none"], "all")

    def loss(y, rank):
        return sum(y["heads"][i].square().sum() for i in used[rank])

    wanted = average_of_ranks(make, loss, inputs)

    def f(rank):
        model = make()
        parallel = DistributedDataParallel(
            model,
            find_unused_parameters=True,
            gradient_as_bucket_view=as_views,
            bucket_cap_mb=cap,
        )
        for _ in range(3):
            parallel.zero_grad()
            loss(parallel(inputs[rank]), rank).backward()
            check_gradients(model, wanted)

    world(2, f)


def _by_weights(net, x) -> None:
    hotaru.autograd.grad(net(x).pow(2).sum(), list(net.parameters()))
    net(x).pow(2).sum().backward()


def _by_input_first(net, x) -> None:
    loss = net(x).pow(2).sum()
    hotaru.autograd.grad(loss, x, retain_graph=True)
    loss.backward()


def _with_penalty(net, x, loss_too=True) -> None:
    loss = net(x).pow(2).sum()
    (slope,) = hotaru.autograd.grad(loss, x, create_graph=True)
    penalty = slope.pow(2).sum()
    (penalty + loss if loss_too else penalty).backward()


def _penalty_alone(net, x) -> None:
    _with_penalty(net, x, loss_too=False)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"find_unused_parameters": True},
        {"static_graph": True},
        {"static_graph": True, "gradient_as_bucket_view": True},
    ],
    ids=str,
)
@pytest.mark.parametrize(
    "step", [_by_weights, _by_input_first, _with_penalty, _penalty_alone]
)
def test_passes_for_other_gradients_are_not_waited_for(world, options, step):
    """A pass of `autograd.grad` gives no parameter a gradient; the one behind
    it is averaged.
    """

    def make():
        hotaru.manual_seed(3)
        return nn.Sequential(nn.Linear(3, 3), nn.Tanh(), nn.Linear(3, 2))

    def inputs(rank):
        x = hotaru.arange(6.0).view(2, 3) / 5 + rank
        return x.requires_grad_()

    def run(rank):
        wanted = []
        for r in range(2):
            model = make()
            for _ in range(2):
                step(model, inputs(r))
            wanted.append([p.grad for p in model.parameters()])
        wrapped = DistributedDataParallel(make(), **options)
        for _ in range(2):
            step(wrapped, inputs(rank))
        check_gradients(
            wrapped.module, [(a + b) / 2 for a, b in zip(*wanted, strict=True)]
        )

    world(2, run)
