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
        self.parts = nn.ModuleList(
            nn.Linear(3, 3, bias=False) for _ in range(3)
        )
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
    """What one process finds that has all parts; None for no gradient."""
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
    inputs = [
        hotaru.full((2, 3), r + 1.0, requires_grad=True) for r in range(2)
    ]

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
