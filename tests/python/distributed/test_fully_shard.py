"""Training with parameters in parts against training with whole ones."""

from __future__ import annotations

import copy
import dataclasses

import pytest
from hotaru.distributed.device_mesh import init_device_mesh
from hotaru.distributed.fsdp import (
    FSDPModule,
    FullyShardedDataParallel,
    MixedPrecisionPolicy,
    fully_shard,
    register_fsdp_forward_method,
)
from hotaru.distributed.tensor import DTensor, Shard

import hotaru as torch
from hotaru import nn


class Block(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 3 * width)
        self.down = nn.Linear(3 * width, width, bias=False)

    def forward(self, x):
        return x + self.down(torch.relu(self.up(self.norm(x))))


class Model(nn.Module):
    def __init__(self, width: int = 5, blocks: int = 3) -> None:
        super().__init__()
        self.table = nn.Embedding(7, width)
        self.blocks = nn.ModuleList([Block(width) for _ in range(blocks)])
        self.head = nn.Linear(width, 7, bias=False)
        self.head.weight = self.table.weight  # shared

    def forward(self, ids):
        x = self.table(ids)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def batch(rank: int, step: int):
    generator = torch.Generator().manual_seed(100 * step + rank)
    return torch.randint(0, 7, (4, 3), generator=generator)


def loss_of(model, ids):
    out = model(ids)
    return nn.functional.cross_entropy(out.flatten(0, 1), ids.flatten())


def trained_whole(size: int, steps: int, dtype=torch.float64, clip=None):
    """Losses of each rank, and the parameters, with all ranks' batches."""
    torch.manual_seed(0)
    model = Model().to(dtype)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    losses = []
    for step in range(steps):
        optimizer.zero_grad()
        each = [loss_of(model, batch(r, step)) for r in range(size)]
        (sum(each) / size).backward()
        if clip:
            nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
        losses.append([x.item() for x in each])
    return losses, model.state_dict()


def sharded(mesh=None, dtype=torch.float64, **options):
    torch.manual_seed(0)
    model = Model().to(dtype)
    for block in model.blocks:
        fully_shard(block, mesh=mesh, **options)
    return fully_shard(model, mesh=mesh, **options)


def trained(rank: int, model, steps: int, clip=None, **adam):
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, **adam)
    losses = []
    for step in range(steps):
        optimizer.zero_grad()
        loss = loss_of(model, batch(rank, step))
        loss.backward()
        if clip:
            nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
        losses.append(loss.item())
    return losses


def wholes(model) -> dict:
    return {k: v.full_tensor() for k, v in model.state_dict().items()}


def same(a: dict, b: dict, atol: float = 1e-12) -> bool:
    return a.keys() == b.keys() and all(
        torch.allclose(a[k], b[k], atol=atol) for k in a
    )


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("reshard", [None, False, True])
def test_training_equals_that_of_whole_parameters(world, size, reshard):
    def run(rank):
        model = sharded(reshard_after_forward=reshard)
        assert isinstance(model, FSDPModule)
        assert isinstance(model, Model)
        assert type(model).__name__ == "FSDPModel"
        assert all(p.placements == (Shard(0),) for p in model.parameters())
        losses = trained(rank, model, 4, clip=0.5)
        return losses, wholes(model)

    expected, state = trained_whole(size, 4, clip=0.5)
    for rank, (losses, found) in enumerate(world(size, run)):
        assert losses == pytest.approx([x[rank] for x in expected], abs=1e-12)
        assert same(found, state)


@pytest.mark.parametrize("adam", [{"foreach": False}, {"fused": True}, {}])
def test_optimizers_of_each_kind(world, adam):
    def run(rank):
        model = sharded()
        return trained(rank, model, 2, **adam), wholes(model)

    expected, state = trained_whole(2, 2)
    for rank, (losses, found) in enumerate(world(2, run)):
        assert losses == pytest.approx([x[rank] for x in expected], abs=1e-12)
        assert same(found, state)


def test_copies_that_share_parameters_among_two_each(world):
    def run(rank):
        mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("copy", "part"))
        model = sharded(mesh)
        return trained(rank, model, 3), wholes(model)

    expected, state = trained_whole(4, 3)
    for rank, (losses, found) in enumerate(world(4, run)):
        assert losses == pytest.approx([x[rank] for x in expected], abs=1e-12)
        assert same(found, state)


def test_whole_parameters_are_there_only_while_they_are_used(world):
    def run(rank):
        model = sharded()
        seen = []

        def look(module, *_):
            seen.append([b._fsdp_state.group.is_whole for b in model.blocks])

        model.blocks[1].up.register_forward_hook(look)
        model.blocks[1].up.register_full_backward_hook(look)
        out = model(batch(rank, 0))
        after = [b._fsdp_state.group.is_whole for b in model.blocks]
        out.sum().backward()
        end = [m._fsdp_state.group.is_whole for m in (model, *model.blocks)]
        held = [
            each.whole.untyped_storage().nbytes()
            for each in model.blocks[0]._fsdp_state.group.shared
        ]
        return seen, after, end, held

    for (forward, backward), after, end, held in world(2, run):
        assert forward == [False, True, False]
        assert backward[1]
        assert not backward[2]
        assert after == [False] * 3
        assert end == [False] * 4
        assert max(held) == 8


def test_gradients_add_up_without_synchronization(world):
    def run(rank):
        model = sharded()
        for step in range(3):
            model.set_requires_gradient_sync(step == 2)
            loss_of(model, batch(rank, step)).backward()
        return [p.grad.full_tensor() for p in model.parameters()]

    torch.manual_seed(0)
    model = Model().double()
    for step in range(3):
        for rank in range(2):
            (loss_of(model, batch(rank, step)) / 2).backward()
    expected = [p.grad for p in model.parameters()]
    for found in world(2, run):
        for a, b in zip(found, expected, strict=True):
            assert torch.allclose(a, b, atol=1e-12)


def test_mixed_precision(world):
    def run(rank):
        policy = MixedPrecisionPolicy(
            param_dtype=torch.bfloat16, reduce_dtype=torch.float32
        )
        torch.manual_seed(0)
        model = Model()
        for block in model.blocks:
            fully_shard(block, mp_policy=policy)
        last = dataclasses.replace(policy, output_dtype=torch.float32)
        fully_shard(model, mp_policy=last)
        seen = []
        model.blocks[0].up.register_forward_hook(
            lambda mod, args, out: seen.append((mod.weight.dtype, out.dtype))
        )
        losses = trained(rank, model, 3)
        with torch.no_grad():
            out = model(batch(rank, 0))
        kinds = {p.dtype for p in model.parameters()}
        kinds |= {p.grad.dtype for p in model.parameters()}
        return seen[0], out.dtype, kinds, losses

    expected, _ = trained_whole(2, 3, torch.float32)
    for rank, (seen, out, kinds, losses) in enumerate(world(2, run)):
        assert seen == (torch.bfloat16, torch.bfloat16)
        assert out == torch.float32
        assert kinds == {torch.float32}
        assert losses == pytest.approx([x[rank] for x in expected], rel=0.05)


def test_frozen_and_unused_parameters(world):
    def run(rank):
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(4, 6), nn.Linear(6, 2)).double()
        model[0].weight.requires_grad_(False)
        model.extra = nn.Parameter(torch.ones(3, dtype=torch.float64))
        fully_shard(model[0])
        fully_shard(model)
        x = torch.full((2, 4), float(rank + 1), dtype=torch.float64)
        model(x).sum().backward()
        return [
            None if p.grad is None else p.grad.full_tensor()
            for p in (*model[0].parameters(), *model[1].parameters())
        ], model.extra.grad

    for (frozen, *grads), unused in world(2, run):
        assert frozen is None
        assert unused is None
        assert all(g is not None for g in grads)
        assert grads[2].tolist() == [2.0, 2.0]


def test_meta_models_are_made_in_parts(world):
    def run(rank):
        with torch.device("meta"):
            model = Model()
        for block in model.blocks:
            fully_shard(block)
        fully_shard(model)
        with pytest.raises(RuntimeError, match="materialized from meta"):
            model(batch(rank, 0))
        model.to_empty(device="cpu")
        torch.manual_seed(0)
        for param in model.parameters():
            nn.init.constant_(param, 0.5)
        whole = Model()
        for param in whole.parameters():
            nn.init.constant_(param, 0.5)
        ids = batch(rank, 0)
        assert torch.allclose(model(ids), whole(ids))

    world(2, run)


def test_states_evaluation_and_other_methods(world):
    def run(rank):
        model = sharded()
        whole = Model().double()
        whole.load_state_dict(wholes(model))
        with torch.no_grad():
            assert torch.allclose(model(batch(0, 0)), whole(batch(0, 0)), atol=1e-12)
        assert all(isinstance(p, DTensor) for p in model.parameters())
        other = copy.deepcopy(wholes(model))
        for value in other.values():
            value.mul_(2)
        parts = {
            k: torch.distributed.tensor.distribute_tensor(
                v, model.head.weight.device_mesh, [Shard(0)]
            )
            for k, v in other.items()
        }
        model.load_state_dict(parts)
        whole.load_state_dict(other)
        ids = batch(rank, 1)
        assert torch.allclose(model(ids), whole(ids), atol=1e-12)
        handle = model.blocks[0].unshard(async_op=True)
        handle.wait()
        assert not isinstance(model.blocks[0].up.weight, DTensor)
        model.blocks[0].reshard()
        assert isinstance(model.blocks[0].up.weight, DTensor)
        type(model.blocks[0]).twice = lambda self, x: self.up(x) * 2
        register_fsdp_forward_method(model.blocks[0], "twice")
        x = torch.ones(5, dtype=torch.float64)
        assert torch.allclose(
            model.blocks[0].twice(x), whole.blocks[0].up(x) * 2, atol=1e-12
        )

    world(2, run)


def test_a_forward_pass_that_raises_leaves_nothing_behind(world):
    def run(rank):
        model = sharded()
        with pytest.raises(IndexError):
            model(torch.full((2, 2), 99))
        with pytest.raises(RuntimeError):
            model.blocks[0](torch.ones(2, 3, dtype=torch.float64))
        x = torch.ones(2, requires_grad=True)
        (x * x).sum().backward()
        return trained(rank, model, 2)

    expected, _ = trained_whole(2, 2)
    for rank, losses in enumerate(world(2, run)):
        assert losses == pytest.approx([x[rank] for x in expected], abs=1e-12)


def test_activation_checkpoints_inside(world):
    from hotaru.utils.checkpoint import checkpoint

    class Checked(nn.Module):
        def __init__(self, block):
            super().__init__()
            self.block = block

        def forward(self, x):
            return checkpoint(self.block, x, use_reentrant=False)

    def run(rank):
        torch.manual_seed(0)
        model = Model().double()
        for i, block in enumerate(model.blocks):
            model.blocks[i] = fully_shard(Checked(block))
        fully_shard(model)
        return trained(rank, model, 2)

    expected, _ = trained_whole(2, 2)
    for rank, losses in enumerate(world(2, run)):
        assert losses == pytest.approx([x[rank] for x in expected], abs=1e-12)


def test_layers_in_parts_are_shared_out_too(world, tmp_path):
    import hotaru.distributed.checkpoint as dcp
    from hotaru.distributed.tensor.parallel import (
        ColwiseParallel,
        RowwiseParallel,
        parallelize_module,
    )

    def run(rank):
        mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))
        torch.manual_seed(0)
        model = Model(width=4).double()
        for block in model.blocks:
            parallelize_module(
                block, mesh["tp"], {"up": ColwiseParallel(), "down": RowwiseParallel()}
            )
            fully_shard(block, mesh=mesh["dp"])
        fully_shard(model, mesh=mesh["dp"])
        up = model.blocks[0].up.weight
        assert up.shape == (12, 4)
        assert up.to_local().shape == (3, 4)
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
        losses = []
        for step in range(3):
            loss = loss_of(model, batch(rank // 2, step))
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            losses.append(loss.item())
        dcp.save(model.state_dict(), checkpoint_id=tmp_path)
        state = wholes(model)
        for param in model.parameters():
            param.detach().zero_()
        dcp.load(model.state_dict(), checkpoint_id=tmp_path)
        assert same(wholes(model), state)
        return losses, state

    torch.manual_seed(0)
    model = Model(width=4).double()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    expected = []
    for step in range(3):
        each = [loss_of(model, batch(r, step)) for r in range(2)]
        (sum(each) / 2).backward()
        optimizer.step()
        optimizer.zero_grad()
        expected.append([x.item() for x in each])
    for rank, (losses, found) in enumerate(world(4, run)):
        own = [x[rank // 2] for x in expected]
        assert losses == pytest.approx(own, abs=1e-12)
        assert same(found, model.state_dict())
    alone = {k: torch.zeros_like(v) for k, v in model.state_dict().items()}
    dcp.load(alone, checkpoint_id=tmp_path)
    assert same(alone, model.state_dict())


def test_what_cannot_be_shared_out_is_refused(world):
    def run(rank):
        with pytest.raises(ValueError, match="containers"):
            fully_shard(nn.ModuleList([nn.Linear(2, 2)]))
        model = nn.Linear(2, 2)
        model.scalar = nn.Parameter(torch.tensor(1.0))
        with pytest.raises(ValueError, match="scalar parameters"):
            fully_shard(model)
        with pytest.raises(NotImplementedError, match="dimension 0"):
            fully_shard(nn.Linear(2, 2), shard_placement_fn=lambda p: Shard(1))
        once = fully_shard(nn.Linear(2, 2))
        with pytest.raises(AssertionError, match="once"):
            fully_shard(once)
        with pytest.raises(NotImplementedError, match="fully_shard"):
            FullyShardedDataParallel(nn.Linear(2, 2))

    world(2, run)


class Outside(nn.Module):
    """Blocks, and behind them parameters of the outermost module's own."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(4)
        self.first = nn.Linear(3, 5)
        self.last = nn.Linear(5, 3, bias=False)
        self.scale = nn.Parameter(torch.rand(1, 3))
        self.shift = nn.Parameter(torch.rand(7))

    def forward(self, x):
        out = self.last(torch.tanh(self.first(x)))
        return out * self.scale + self.shift.sum()


def _plain_loss(model, x):
    return model(x).pow(2).sum()


def _penalized_loss(model, x):
    x = x.clone().requires_grad_()
    loss = model(x).pow(2).sum()
    (slope,) = torch.autograd.grad(loss, x, create_graph=True)
    return loss + slope.pow(2).sum()


@pytest.mark.parametrize("loss", [_plain_loss, _penalized_loss])
@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize("reshard", [None, False, True])
def test_parameters_are_those_of_the_last_step(world, loss, inside, reshard):
    """The outermost module's parameters have their gradients first: nothing
    of them is left from before the step, and a second pass finds them whole.
    """
    inputs = [torch.rand(2, 3) for _ in range(2)]

    def run(rank):
        models = [Outside() for _ in range(3)]
        shared = models[0]
        if inside:
            fully_shard(shared.first, reshard_after_forward=reshard)
            fully_shard(shared.last, reshard_after_forward=reshard)
        fully_shard(shared, reshard_after_forward=reshard)
        optimizers = [torch.optim.SGD(m.parameters(), 0.01) for m in models]
        for _ in range(3):
            for optimizer in optimizers:
                optimizer.zero_grad()
            loss(shared, inputs[rank]).backward()
            for model, x in zip(models[1:], inputs, strict=True):
                loss(model, x).backward()
            for p, q in zip(*(m.parameters() for m in models[1:])):
                p.grad = q.grad = (p.grad + q.grad) / 2
            for optimizer in optimizers:
                optimizer.step()
        return same(wholes(shared), dict(models[1].named_parameters()), atol=1e-5)

    assert world(2, run) == [True, True]


def test_a_parameter_of_two_groups_is_refused(world):
    def run(rank):
        model = Model()
        fully_shard(model.table)
        fully_shard(model.head)
        fully_shard(model)
        with pytest.raises(ValueError, match="weight' is shared with a"):
            model(batch(rank, 0))
        together = Model()
        fully_shard([together.table, together.head])
        return together.head.weight is together.table.weight

    assert world(2, run) == [True, True]
