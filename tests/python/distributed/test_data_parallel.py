"""DistributedDataParallel: gradients of several processes against those of one
that has all of the data.
"""

from __future__ import annotations

import copy
import pickle

import hotaru.distributed as dist
import pytest
from hotaru.nn.parallel import DistributedDataParallel

import hotaru
from hotaru import nn


def network() -> nn.Module:
    hotaru.manual_seed(3)
    return nn.Sequential(
        nn.Linear(5, 40), nn.ReLU(), nn.Linear(40, 30), nn.Tanh(), nn.Linear(30, 2)
    )


def data() -> tuple:
    hotaru.manual_seed(4)
    return hotaru.randn(12, 5), hotaru.randn(12, 2)


def train(model, optimizer, x, y, steps: int = 4) -> list[float]:
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def alone(steps: int = 4):
    model = network()
    train(model, hotaru.optim.SGD(model.parameters(), 0.1), *data(), steps)
    return [p.detach() for p in model.parameters()]


@pytest.mark.parametrize("size", [2, 3, 4])
@pytest.mark.parametrize("as_views", [False, True])
def test_to_the_bit_what_one_process_adds_up_in_the_order_of_ranks(
    world, size, as_views
):
    def gradients(model, x, y) -> list:
        model.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        return [p.grad.clone() for p in model.parameters()]

    def f(rank):
        model, one = network(), network()
        parallel = DistributedDataParallel(model, gradient_as_bucket_view=as_views)
        ours = hotaru.optim.SGD(model.parameters(), 0.1, momentum=0.9)
        theirs = hotaru.optim.SGD(one.parameters(), 0.1, momentum=0.9)
        x, y = data()
        for _ in range(50):
            train(parallel, ours, x[rank::size], y[rank::size], 1)
            parts = [gradients(one, x[i::size], y[i::size]) for i in range(size)]
            for p, *rows in zip(one.parameters(), *parts):
                total = rows[0]
                for row in rows[1:]:
                    total = total + row
                p.grad = total / size
            theirs.step()
        for a, b in zip(model.parameters(), one.parameters()):
            assert hotaru.equal(a, b)

    world(size, f)


def test_builtin_hooks(world):
    kinds = dist.BuiltinCommHookType

    def f(rank):
        model = DistributedDataParallel(network())
        model._register_builtin_comm_hook(kinds.FP16_COMPRESS)
        with pytest.raises(RuntimeError, match="can only be called once"):
            model._register_builtin_comm_hook(kinds.ALLREDUCE)
        x, y = data()
        train(model, hotaru.optim.SGD(model.parameters(), 0.1), x, y)
        for mine, other in zip(model.parameters(), alone()):
            hotaru.testing.assert_close(mine, other, rtol=1e-2, atol=1e-3)

    world(2, f)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"gradient_as_bucket_view": True},
        {"bucket_cap_mb": 0.0001},
        {"bucket_cap_mb": 0.0001, "gradient_as_bucket_view": True},
        {"static_graph": True},
        {"find_unused_parameters": True},
    ],
)
def test_training_is_that_of_one_process(world, options):
    def f(rank):
        model = network()
        if rank:
            with hotaru.no_grad():
                for p in model.parameters():
                    p.fill_(7)  # begins as the first process's
        ddp = DistributedDataParallel(model, **options)
        x, y = (t[rank * 6 : rank * 6 + 6] for t in data())
        train(ddp, hotaru.optim.SGD(ddp.parameters(), 0.1), x, y)
        if options.get("bucket_cap_mb"):
            assert len(ddp.reducer.buckets) > 2
        return [p.detach().tolist() for p in model.parameters()]

    expected = alone()
    first, second = world(2, f)
    assert first == second
    for got, want in zip(first, expected, strict=True):
        # Sums of six and of twelve products are rounded apart.
        assert hotaru.allclose(hotaru.tensor(got), want, rtol=1e-5, atol=1e-6)


def test_no_sync_adds_up(world):
    def f(rank):
        ddp = DistributedDataParallel(network())
        x, y = (t[rank * 6 : rank * 6 + 6] for t in data())
        with ddp.no_sync():
            nn.functional.mse_loss(ddp(x[:3]), y[:3]).backward()
        own = ddp.module[0].weight.grad.clone()
        nn.functional.mse_loss(ddp(x[3:]), y[3:]).backward()
        return own.tolist(), ddp.module[0].weight.grad.tolist()

    (own0, got0), (own1, got1) = world(2, f)
    assert own0 != own1
    assert got0 == got1
    model = network()
    x, y = data()
    (2 * nn.functional.mse_loss(model(x), y)).backward()
    assert hotaru.allclose(hotaru.tensor(got0), model[0].weight.grad, atol=1e-6)


def test_a_loss_from_no_sync_is_averaged_where_its_backward_is_prepared(world):
    def f(rank):
        ddp = DistributedDataParallel(network())
        x, y = (t[rank * 6 : rank * 6 + 6] for t in data())
        with ddp.no_sync():
            losses = [
                nn.functional.mse_loss(ddp(x[part]), y[part])
                for part in (slice(3), slice(3, 6))
            ]
        losses[0].backward()
        own = ddp.module[0].weight.grad.clone()
        ddp.reducer.prepare_for_backward([])
        losses[1].backward()
        return own.tolist(), ddp.module[0].weight.grad.tolist()

    (own0, got0), (own1, got1) = world(2, f)
    assert own0 != own1
    assert got0 == got1
    model = network()
    x, y = data()
    (2 * nn.functional.mse_loss(model(x), y)).backward()
    assert hotaru.allclose(hotaru.tensor(got0), model[0].weight.grad, atol=1e-6)


class Branches(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.a, self.b, self.c = (nn.Linear(3, 3) for _ in range(3))

    def forward(self, x, which):
        return self.a(x) if which == 0 else self.b(x)


@pytest.mark.parametrize("options", [{"find_unused_parameters": True}])
def test_parameters_that_are_not_used(world, options):
    def f(rank):
        hotaru.manual_seed(0)
        ddp = DistributedDataParallel(Branches(), **options)
        for _ in range(2):
            ddp.zero_grad()
            ddp(hotaru.ones(2, 3), rank).sum().backward()
        m = ddp.module
        assert m.c.weight.grad is None  # used by nobody
        return m.a.weight.grad.tolist(), m.b.weight.grad.tolist()

    first, second = world(2, f)
    assert first == second == ([[1] * 3] * 3, [[1] * 3] * 3)


def test_parameters_that_are_not_used_are_an_error(world):
    def f(rank):
        ddp = DistributedDataParallel(Branches())
        x = hotaru.ones(2, 3)
        ddp(x, 0).sum().backward()
        with pytest.raises(RuntimeError) as error:
            ddp(x, 0)
        text = str(error.value)
        assert "Expected to have finished reduction in the prior" in text
        assert "b.weight, b.bias, c.weight" in text
        assert "for rank 1: 2 3 4 5" in text or rank == 0

    world(2, f)


def test_buffers_are_the_first_processes(world):
    def f(rank):
        ddp = DistributedDataParallel(nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2)))
        for i in range(3):
            ddp(hotaru.randn(4, 2) + rank * 10 + i).sum().backward()
        ddp(hotaru.randn(4, 2))
        with hotaru.no_grad():
            ddp.module[1].running_mean.add_(rank)
        ddp._sync_buffers() if rank == 5 else None
        return ddp.module[1].num_batches_tracked.item()

    assert world(2, f) == [4, 4]


@pytest.mark.parametrize(
    ("how", "at_first", "later"),
    [
        ({}, [0.0, 0.0], [5.0, 5.0]),
        ({"broadcast_buffers": True}, [0.0, 0.0], [5.0, 5.0]),
        ({"broadcast_buffers": False}, [0.0, 1.0], [5.0, 6.0]),
        ({"forward_sync_buffers": False}, [0.0, 0.0], [5.0, 6.0]),
        (
            {"broadcast_buffers": False, "forward_sync_buffers": True},
            [0.0, 0.0],
            [5.0, 5.0],
        ),
    ],
    ids=str,
)
def test_buffers_are_sent_when_asked(world, how, at_first, later):
    def f(rank):
        model = nn.Linear(2, 2)
        model.register_buffer("place", hotaru.full((1,), float(rank)))
        ddp = DistributedDataParallel(model, **how)
        first = model.place.item()
        model.place.fill_(5.0 + rank)
        ddp(hotaru.ones(1, 2))
        assert ddp.broadcast_buffers == ddp.forward_sync_buffers
        return first, model.place.item()

    found = world(2, f)
    assert [first for first, _ in found] == at_first
    assert [then for _, then in found] == later


def test_models_that_differ(world):
    def f(rank):
        with pytest.raises(RuntimeError, match=r"0 has 2 params|1 has 1 params"):
            DistributedDataParallel(nn.Linear(2, 2, bias=rank == 0))
        with pytest.raises(RuntimeError, match=r"params\[0\] in this process"):
            DistributedDataParallel(nn.Linear(2, 2 + rank))
        with pytest.raises(RuntimeError, match="not needed"):
            DistributedDataParallel(nn.ReLU())

    world(2, f)


def test_a_hook(world):
    def f(rank):
        ddp = DistributedDataParallel(network(), bucket_cap_mb=0.0001)
        seen = []

        def hook(state, bucket):
            seen.append((bucket.index(), bucket.is_last()))
            assert bucket.buffer().numel() == sum(
                p.numel() for p in bucket.parameters()
            )
            half = bucket.buffer().to(hotaru.bfloat16).div_(2)
            work = dist.all_reduce(half, async_op=True)
            return work.get_future().then(lambda f: f.value()[0].float())

        ddp.register_comm_hook(None, hook)
        with pytest.raises(RuntimeError, match="only be called once"):
            ddp.register_comm_hook(None, hook)
        x, y = (t[rank * 6 : rank * 6 + 6] for t in data())
        nn.functional.mse_loss(ddp(x), y).backward()
        assert seen == [(i, i == len(seen) - 1) for i in range(len(seen))]
        return ddp.module[0].weight.grad.tolist()

    first, second = world(2, f)
    assert first == second
    model = network()
    x, y = data()
    nn.functional.mse_loss(model(x), y).backward()
    # Eight bits of a bfloat16.
    assert hotaru.allclose(
        hotaru.tensor(first), model[0].weight.grad, rtol=2**-6, atol=1e-3
    )


def test_gradients_through_functional_collectives(world):
    from hotaru.distributed.nn import functional as F

    def f(rank):
        x = hotaru.tensor([1.0, 2.0]) * (rank + 1)
        x.requires_grad_()
        y = hotaru.tensor([1.0, 2.0]) * (rank + 1)
        y.requires_grad_()
        weight = rank + 1.0
        (weight * F.all_reduce(x).sum()).backward()
        reduced, x.grad = x.grad.tolist(), None
        parts = F.all_gather(x)
        (weight * (parts[0] + 3 * parts[1]).sum()).backward()
        gathered, x.grad = x.grad.tolist(), None
        (weight * F.broadcast(x, 1).sum()).backward()
        broadcast, x.grad = x.grad.tolist(), None
        (weight * F.reduce_scatter(x, [x, 2 * y]).sum()).backward()
        scattered = x.grad.tolist(), y.grad.tolist()
        x.grad = None
        (weight * F.all_to_all([x, x], [x, 5 * x])[0].sum()).backward()
        return reduced, gathered, broadcast, scattered, x.grad.tolist()

    zero, one = world(2, f)
    assert zero == ([3, 3], [3, 3], [0, 0], ([1, 1], [4, 4]), [11, 11])
    assert one == ([3, 3], [9, 9], [3, 3], ([1, 1], [4, 4]), [0, 0])


def test_a_grid(world):
    def f(rank):
        mesh = dist.init_device_mesh("cpu", (2, 2), mesh_dim_names=("replica", "shard"))
        assert mesh.get_coordinate() == (rank // 2, rank % 2)
        x = hotaru.full((1,), 10.0**rank)
        dist.all_reduce(x, group=mesh["replica"].get_group())
        y = hotaru.full((1,), 10.0**rank)
        dist.all_reduce(y, group=mesh.get_group("shard"))
        assert mesh.get_local_rank("shard") == rank % 2
        return x.item(), y.item()

    assert world(4, f) == [(101, 11), (1010, 11), (101, 1100), (1010, 1100)]


def test_batch_normalisation_over_processes(world):
    def f(rank):
        hotaru.manual_seed(0)
        x = hotaru.randn(10, 3, 4) * 2 + 5
        net = nn.SyncBatchNorm.convert_sync_batchnorm(nn.BatchNorm1d(3))
        part = (x[:3], x[3:])[rank].clone().requires_grad_()
        out = net(part)
        (out.square() * out.detach()[:1, :, :1]).sum().backward()
        return out.tolist(), part.grad.tolist(), net.running_var.tolist()

    hotaru.manual_seed(0)
    x = (hotaru.randn(10, 3, 4) * 2 + 5).requires_grad_()
    net = nn.BatchNorm1d(3)
    out = net(x)
    weights = hotaru.cat(
        [
            out.detach()[:1, :, :1].expand(3, 3, 4),
            out.detach()[3:4, :, :1].expand(7, 3, 4),
        ]
    )
    (out.square() * weights).sum().backward()
    zero, one = world(2, f)
    for got, want in (
        (zero[0] + one[0], out),
        (zero[1] + one[1], x.grad),
        (zero[2], net.running_var),
        (one[2], net.running_var),
    ):
        assert hotaru.allclose(hotaru.tensor(got), want, atol=1e-5)


def test_compressed_gradients(world):
    from hotaru.distributed.algorithms.ddp_comm_hooks import default_hooks

    hooks = [
        default_hooks.allreduce_hook,
        default_hooks.bf16_compress_hook,
        default_hooks.fp16_compress_hook,
        default_hooks.bf16_compress_wrapper(default_hooks.allreduce_hook),
    ]

    def f(rank):
        x, y = (t[rank * 6 : rank * 6 + 6] for t in data())
        found = []
        for hook in hooks:
            ddp = DistributedDataParallel(network())
            ddp.register_comm_hook(None, hook)
            nn.functional.mse_loss(ddp(x), y).backward()
            found.append(ddp.module[0].weight.grad)
        return [g.tolist() for g in found]

    first, second = world(2, f)
    assert first == second
    model = network()
    x, y = data()
    nn.functional.mse_loss(model(x), y).backward()
    want = model[0].weight.grad
    for got, bits in zip(first, (20, 6, 9, 6), strict=True):
        assert hotaru.allclose(
            hotaru.tensor(got), want, rtol=2.0**-bits, atol=2.0 ** -(bits + 3)
        )
    assert first[0] != first[1]


@pytest.mark.parametrize("hook", ["powerSGD_hook", "batched_powerSGD_hook"])
def test_power_sgd_learns(world, hook):
    from hotaru.distributed.algorithms.ddp_comm_hooks import powerSGD_hook

    def f(rank):
        ddp = DistributedDataParallel(network())
        state = powerSGD_hook.PowerSGDState(
            None, matrix_approximation_rank=2, start_powerSGD_iter=2
        )
        ddp.register_comm_hook(state, getattr(powerSGD_hook, hook))
        x, y = (t[rank * 6 : rank * 6 + 6] for t in data())
        optimizer = hotaru.optim.SGD(ddp.parameters(), 0.1)
        losses = train(ddp, optimizer, x, y, 40)
        _, before, after = state.compression_stats()
        assert before > 2 * after
        return losses, ddp.module[0].weight.tolist()

    (losses, first), (_, second) = world(2, f)
    assert first == second
    assert losses[-1] < 0.7 * losses[0]
    with pytest.raises(ValueError, match="start_powerSGD_iter"):
        powerSGD_hook.PowerSGDState(None, start_powerSGD_iter=1)


@pytest.mark.parametrize("by_all", [True, False])
def test_processes_with_different_amounts_of_data(world, by_all):
    def f(rank):
        hotaru.manual_seed(0)
        ddp = DistributedDataParallel(nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3)))
        optimizer = hotaru.optim.SGD(ddp.parameters(), 0.1)
        hotaru.manual_seed(rank)
        with ddp.join(divide_by_initial_world_size=by_all):
            for _ in range(2 + 3 * rank):
                optimizer.zero_grad()
                ddp(hotaru.randn(4, 3)).square().sum().backward()
                optimizer.step()
        x = hotaru.ones(1)
        dist.all_reduce(x)  # the ranks are still in step
        return (
            [p.tolist() for p in ddp.parameters()],
            ddp.module[1].num_batches_tracked.item(),
            x.item(),
        )

    first, second = world(2, f)
    assert first == second
    assert first[1:] == (5, 2)


def test_a_rank_without_data_is_told_of(world):
    from hotaru.distributed.algorithms.join import Join

    def f(rank):
        ddp = DistributedDataParallel(nn.Linear(2, 2))

        def loop() -> None:
            with Join([ddp], throw_on_early_termination=True):
                for _ in range(1 + rank):
                    ddp(hotaru.ones(1, 2)).sum().backward()

        with pytest.raises(RuntimeError) as error:
            loop()
        return str(error.value)

    first, second = world(2, f)
    assert first == "Rank 0 exhausted all inputs."
    assert "at least one rank that exhausted inputs" in second


@pytest.mark.parametrize("kind", ["SGD", "Adam"])
def test_a_shared_optimizer_steps_like_one(world, kind):
    from hotaru.distributed.optim import ZeroRedundancyOptimizer

    cls = getattr(hotaru.optim, kind)

    def f(rank):
        def trained(make):
            model = network()
            ddp = DistributedDataParallel(model)
            optimizer = make(ddp.parameters())
            x, y = (t[rank * 6 : rank * 6 + 6] for t in data())
            train(ddp, optimizer, x, y, 3)
            return model, optimizer

        plain, whole = trained(lambda p: cls(p, lr=0.05))
        shared, zero = trained(lambda p: ZeroRedundancyOptimizer(p, cls, lr=0.05))
        for a, b in zip(plain.parameters(), shared.parameters(), strict=True):
            assert hotaru.equal(a, b)
        with pytest.raises(RuntimeError, match="has not been consolidated"):
            zero.state_dict()
        zero.consolidate_state_dict(to=1)
        sizes = len(zero.optim.state), len(whole.state)
        if rank == 0:
            return sizes
        expected, got = whole.state_dict(), zero.state_dict()
        assert expected["state"].keys() == got["state"].keys()
        for number, state in expected["state"].items():
            for name, value in state.items():
                other = got["state"][number][name]
                assert value is other is None or hotaru.equal(
                    hotaru.as_tensor(value), hotaru.as_tensor(other)
                )
        whole.load_state_dict(got)
        zero.load_state_dict(expected)
        return sizes

    sizes = world(2, f)
    if kind == "Adam":
        assert sum(own for own, _ in sizes) == sizes[0][1] == 6
        assert all(own < 6 for own, _ in sizes)


@pytest.mark.parametrize("how", ["plain", "views", "hook"])
def test_sparse_gradients(world, how):
    def hook(state, bucket):
        bucket.buffer().div_(2)
        work = dist.group.WORLD.allreduce([bucket.buffer()])
        return work.get_future().then(lambda f: f.value()[0])

    def f(rank):
        hotaru.manual_seed(0)
        net = nn.Sequential(nn.EmbeddingBag(10, 3, sparse=True), nn.Linear(3, 2))
        ddp = DistributedDataParallel(net, gradient_as_bucket_view=how == "views")
        if how == "hook":
            ddp.register_comm_hook(None, hook)
        words = hotaru.arange(8).reshape(4, 2)[rank * 2 : rank * 2 + 2]
        ddp(words).square().mean().backward()
        grad = net[0].weight.grad
        assert grad.is_sparse
        return grad.to_dense().tolist(), net[1].weight.grad.tolist()

    first, second = world(2, f)
    assert first == second
    hotaru.manual_seed(0)
    net = nn.Sequential(nn.EmbeddingBag(10, 3, sparse=True), nn.Linear(3, 2))
    net(hotaru.arange(8).reshape(4, 2)).square().mean().backward()
    for got, want in zip(
        first, (net[0].weight.grad.to_dense(), net[1].weight.grad), strict=True
    ):
        assert hotaru.allclose(hotaru.tensor(got), want, atol=1e-6)


def test_a_scripted_synchronised_normalisation():
    net = nn.SyncBatchNorm(3)
    x = hotaru.randn(4, 3)
    scripted = hotaru.jit.script(net)
    assert hotaru.equal(scripted(x), nn.BatchNorm1d(3)(x))
    assert net.num_batches_tracked == 1


def test_local_sgd_averages_over_machines_then_parameters_over_all(world):
    from hotaru.distributed.algorithms.ddp_comm_hooks.post_localSGD_hook import (
        PostLocalSGDState,
        post_localSGD_hook,
    )
    from hotaru.distributed.algorithms.model_averaging.averagers import (
        PeriodicModelAverager,
    )
    from hotaru.distributed.optim import PostLocalSGDOptimizer

    def run(rank):
        hotaru.manual_seed(0)
        subgroup, _ = dist.new_subgroups(2)
        model = hotaru.nn.parallel.DistributedDataParallel(
            hotaru.nn.Linear(1, 1, bias=False)
        )
        model.register_comm_hook(
            PostLocalSGDState(None, subgroup, 1), post_localSGD_hook
        )
        optimizer = PostLocalSGDOptimizer(
            hotaru.optim.SGD(model.parameters(), lr=0.5),
            PeriodicModelAverager(period=2, warmup_steps=1),
        )
        seen = []
        for _ in range(3):
            optimizer.zero_grad()
            model(hotaru.full((1, 1), float(rank))).sum().backward()
            grad = model.module.weight.grad.item()
            optimizer.step()
            seen.append((grad, round(model.module.weight.item(), 4)))
        return seen, optimizer.state_dict()["step"]

    found = world(4, run)
    grads = [[g for g, _ in seen] for seen, _ in found]
    assert grads == [[1.5, 0.5, 0.5]] * 2 + [[1.5, 2.5, 2.5]] * 2
    values = [[w for _, w in seen] for seen, _ in found]
    assert len({v[1] for v in values}) == 1  # averaged at the second step
    assert len({v[2] for v in values}) == 2
    assert {step for _, step in found} == {3}


def test_gradients_of_passes_without_synchronization_are_averaged_too(world):
    def run(rank):
        model = DistributedDataParallel(
            nn.ModuleList([nn.Linear(1, 1, bias=False) for _ in range(2)]),
            find_unused_parameters=True,
        )
        first, second = model.module
        model.forward = None  # the parts are called one after the other
        ddp = model
        ddp.module.forward = lambda x, part: ddp.module[part](x)
        del model.forward
        x = hotaru.full((1, 1), float(rank + 1))
        with model.no_sync():
            model(x, 0).sum().backward()
        model(x, 1).sum().backward()
        with pytest.raises(RuntimeError, match="before training loop starts"):
            model._set_static_graph()
        return first.weight.grad.item(), second.weight.grad.item()

    assert world(2, run) == [(1.5, 1.5)] * 2


def test_a_copy_of_a_module_trains(world):
    def run(rank):
        hotaru.manual_seed(0)
        model = DistributedDataParallel(nn.Linear(2, 1))
        other = pickle.loads(pickle.dumps(model))
        third = copy.deepcopy(model)
        found = []
        for each in (model, other, third):
            each(hotaru.full((1, 2), float(rank))).sum().backward()
            found.append(each.module.weight.grad.tolist())
        return found

    assert world(2, run) == [[[[0.5, 0.5]]] * 3] * 2
