"""Pipelines of 2 and 4 processes against plain runs; their orders are PyTorch's."""

from __future__ import annotations

import hashlib
import json

import pytest
from hotaru.distributed import pipelining
from hotaru.distributed.pipelining import (
    PipelineStage,
    SplitPoint,
    microbatch,
    pipe_split,
    pipeline,
    schedules,
)
from hotaru.distributed.pipelining._backward import (
    stage_backward,
    stage_backward_input,
    stage_backward_weight,
)
from hotaru.distributed.pipelining.schedules import get_schedule_class

import hotaru as torch
from hotaru import distributed as dist
from hotaru import nn

WIDTH = 6
V_SHAPED = ("ZBVZeroBubble", "DualPipeV")


class Block(nn.Module):
    """One whose bias is used twice: passes to weights meet others' nodes."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self.a, self.b = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)
        fill(self, seed)

    def forward(self, x):
        return x + torch.tanh(self.b(torch.relu(self.a(x)))) * self.a.bias


def fill(module, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator) * 0.3)


def loss_of(output, target):
    return ((output - target) ** 2).mean()


def batch(rows: int = 8):
    generator = torch.Generator().manual_seed(0)
    return (
        torch.randn(rows, WIDTH, generator=generator),
        torch.randn(rows, WIDTH, generator=generator),
    )


def gradients(module) -> dict:
    return {n: p.grad for n, p in module.named_parameters() if p.grad is not None}


def plain(model, *inputs, target):
    """Loss, result and gradients of the whole batch."""
    output = model(*inputs)
    loss = loss_of(output, target)
    loss.backward()
    return loss.detach(), output.detach(), gradients(model)


def places(name: str, rank: int, size: int, local: int) -> list[int]:
    count = size * local
    return [rank, count - 1 - rank] if name in V_SHAPED else [*range(rank, count, size)]


def by_stage(stages) -> dict:
    found = {}
    for stage in stages:
        for name, grad in gradients(stage.submod).items():
            found[f"{stage.stage_index}.{name}"] = grad
    return found


def steps_of(name: str, size: int, local: int, count: int):
    def run(rank):
        own = places(name, rank, size, local)
        stages = [PipelineStage(Block(i), i, size * local, "cpu") for i in own]
        kind = get_schedule_class(name)
        given = stages[0] if local == 1 else stages
        schedule = kind(given, count, loss_fn=loss_of)
        x, target = batch()
        found = []
        for _ in range(2):
            losses: list = []
            output = schedule.step(
                *([x] if rank == 0 else []), target=target, losses=losses
            )
            last = None if output is None else output.detach()
            found.append(([x.detach() for x in losses], last, by_stage(stages)))
            for stage in stages:
                stage.submod.zero_grad()
        before = by_stage(stages)
        with torch.no_grad():
            output = schedule.eval(*([x] if rank == 0 else []), target=target)
        assert before == by_stage(stages) == {}
        return found, output

    return run


@pytest.mark.parametrize(
    ("name", "size", "local", "count"),
    [
        ("GPipe", 2, 1, 4),
        ("1F1B", 2, 1, 4),
        ("1F1B", 4, 1, 8),
        ("LoopedBFS", 2, 2, 4),
        ("Interleaved1F1B", 2, 2, 4),
        ("InterleavedZeroBubble", 2, 2, 4),
        ("InterleavedZeroBubble", 4, 2, 8),
        ("ZBVZeroBubble", 2, 2, 4),
        ("DualPipeV", 2, 2, 4),
        ("DualPipeV", 4, 2, 8),
    ],
)
def test_schedules_do_what_a_plain_run_does(world, name, size, local, count):
    model = nn.Sequential(*[Block(i) for i in range(size * local)])
    x, target = batch()
    loss, wanted, grads = plain(model, x, target=target)
    found: list[dict] = [{}, {}]
    results = []
    for ranks, output in world(size, steps_of(name, size, local, count)):
        for step, (losses, result, own) in enumerate(ranks):
            found[step].update(own)
            if result is not None:
                assert len(losses) == count
                torch.testing.assert_close(sum(losses) / count, loss)
                results += [result, output]
    assert len(results) == 4
    for result in results:
        torch.testing.assert_close(result, wanted)
    for own in found:
        assert set(own) == set(grads)
        for key, grad in own.items():
            torch.testing.assert_close(grad, grads[key])


class Model(nn.Module):
    def __init__(self, count: int, skips: bool) -> None:
        super().__init__()
        self.table = nn.Embedding(10, WIDTH)
        self.layers = nn.ModuleList(
            [nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.Tanh()) for _ in range(count)]
        )
        self.scale = nn.Parameter(torch.ones(WIDTH))
        self.register_buffer("shift", torch.ones(WIDTH))
        self.skips = skips
        fill(self, 1)

    def forward(self, ids, mask):
        x = first = self.table(ids) * mask
        for i, layer in enumerate(self.layers):
            if i:
                pipe_split()
            x = layer(x)
        if self.skips:
            x = x + first
        return x * self.scale + self.shift


def words():
    generator = torch.Generator().manual_seed(3)
    ids = torch.randint(0, 10, (8, 3), generator=generator)
    mask = torch.randn(8, 3, WIDTH, generator=generator)
    return ids, mask, torch.randn(8, 3, WIDTH, generator=generator)


@pytest.mark.parametrize(
    ("name", "size", "local", "skips"),
    [
        ("GPipe", 2, 1, True),
        ("1F1B", 4, 1, True),
        ("1F1B", 2, 1, False),
        ("InterleavedZeroBubble", 2, 2, False),
    ],
)
def test_divided_models_do_what_they_did(world, name, size, local, skips):
    def run(rank):
        ids, mask, target = words()
        pipe = pipeline(Model(size * local, skips), (ids[:2], mask[:2]))
        assert pipe.num_stages == size * local
        stages = [pipe.build_stage(i, "cpu") for i in places(name, rank, size, local)]
        given = stages[0] if local == 1 else stages
        schedule = get_schedule_class(name)(given, 4, loss_fn=loss_of)
        output = schedule.step(*((ids, mask) if rank == 0 else ()), target=target)
        found = {}
        for stage in stages:
            found.update(gradients(stage.submod))
        return None if output is None else output.detach(), found

    ids, mask, target = words()
    _, wanted, grads = plain(Model(size * local, skips), ids, mask, target=target)
    outcomes = world(size, run)
    torch.testing.assert_close(outcomes[-1][0], wanted)
    found = {name: grad for _, own in outcomes for name, grad in own.items()}
    assert set(found) == set(grads)
    for key, grad in found.items():
        torch.testing.assert_close(grad, grads[key])


def test_skips_are_refused_where_stages_talk_to_neighbours_alone(world):
    def run(rank):
        ids, mask, target = words()
        pipe = pipeline(Model(4, True), (ids[:2], mask[:2]))
        stages = [pipe.build_stage(i, "cpu") for i in (rank, rank + 2)]
        schedule = pipelining.ScheduleInterleaved1F1B(stages, 4, loss_fn=loss_of)
        with pytest.raises(RuntimeError, match="only supports adjacent-stage"):
            schedule.step(*((ids, mask) if rank == 0 else ()), target=target)

    world(2, run)


class Ends(nn.Module):
    """Several results: one of integers, one that no input leads to."""

    def __init__(self) -> None:
        super().__init__()
        self.inner, self.alone = nn.Linear(WIDTH, WIDTH), nn.Parameter(torch.ones(3))
        self.norm = nn.BatchNorm1d(WIDTH)
        fill(self, 5)

    def forward(self, x, count=None, extra=None):
        count = torch.full((x.shape[0],), 2) if count is None else count + 1
        y = self.norm(self.inner(x)) + self.alone[:1] * count[:, None]
        return y, count, (self.alone * 2).expand(x.shape[0], 3)


class Last(Ends):
    def forward(self, x, count, extra):
        y, count, own = super().forward(x, count)
        return y + (own * extra).sum(1, keepdim=True)


@pytest.mark.parametrize("name", ["1F1B", "InterleavedZeroBubble"])
def test_several_results_and_buffers(world, name):
    count = 4

    def run(rank):
        module = Last() if rank == 3 else Ends()
        stage = PipelineStage(module, rank, 4, "cpu")
        kind = get_schedule_class(name)
        schedule = kind(stage if name == "1F1B" else [stage], count, loss_fn=loss_of)
        x, target = batch()
        schedule.step(*([x] if rank == 0 else []), target=target)
        return gradients(module), dict(module.named_buffers())

    modules = [Ends(), Ends(), Ends(), Last()]
    x, target = batch()
    for part, wanted in zip(x.chunk(count), target.chunk(count)):
        values = (part,)
        for module in modules:
            values = module(*values)
        (loss_of(values, wanted) / count).backward()
    for module, (grads, buffers) in zip(modules, world(4, run)):
        assert set(grads) == set(gradients(module))
        for key, grad in gradients(module).items():
            torch.testing.assert_close(grads[key], grad)
        # Finding out what goes between stages has changed no statistics.
        for key, buffer in module.named_buffers():
            torch.testing.assert_close(buffers[key], buffer)


def test_looks_that_are_told_and_results_that_differ(world):
    def run(rank):
        x, target = batch()
        looks = torch.empty(2, WIDTH, device="meta")
        stage = PipelineStage(
            Block(rank), rank, 2, "cpu", input_args=looks, output_args=looks
        )
        schedule = pipelining.ScheduleGPipe(stage, 4, loss_fn=loss_of)
        schedule.step(*([x] if rank == 0 else []), target=target)
        grads = gradients(stage.submod)
        if rank == 0:
            stage.submod.forward = lambda x: x[:, :2]
            with pytest.raises(
                pipelining._utils.PipeliningMetadataError, match="shape"
            ):
                schedule.step(x)
        return grads

    _, _, wanted = plain(
        nn.Sequential(Block(0), Block(1)), batch()[0], target=batch()[1]
    )
    for rank, grads in enumerate(world(2, run)):
        for key, grad in grads.items():
            torch.testing.assert_close(grad, wanted[f"{rank}.{key}"])


@pytest.mark.parametrize("name", ["1F1B", "InterleavedZeroBubble"])
def test_beside_data_parallel(world, name):
    def run(rank):
        replica, place = divmod(rank, 2)
        pipes = [dist.new_group([0, 1]), dist.new_group([2, 3])]
        copies = [dist.new_group([0, 2]), dist.new_group([1, 3])]
        module = nn.parallel.DistributedDataParallel(
            Block(place), process_group=copies[place]
        )
        stage = PipelineStage(module, place, 2, "cpu", group=pipes[replica])
        kind = get_schedule_class(name)
        schedule = kind(stage if name == "1F1B" else [stage], 4, loss_fn=loss_of)
        x, target = (part.chunk(2)[replica] for part in batch(16))
        schedule.step(*([x] if place == 0 else []), target=target)
        return gradients(module.module)

    x, target = batch(16)
    _, _, wanted = plain(nn.Sequential(Block(0), Block(1)), x, target=target)
    for rank, grads in enumerate(world(4, run)):
        for key, grad in grads.items():
            torch.testing.assert_close(grad, wanted[f"{rank % 2}.{key}"])


# --- here ---


def test_pipe_has_stages_with_the_models_names():
    model = nn.Sequential()
    for name in "abc":
        model.add_module(name, nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.Tanh()))
    model.c[0].weight = model.a[0].weight
    points = {"b": SplitPoint.BEGINNING, "b.0": SplitPoint.END}
    x = torch.randn(2, WIDTH)
    pipe = pipeline(model, (x,), split_spec=points)
    assert "forward" not in vars(model.b)
    assert pipe.num_stages == 3
    assert [sorted(pipe.get_stage_module(i).state_dict()) for i in range(3)] == [
        ["a.0.bias", "a.0.weight"],
        ["b.0.bias", "b.0.weight"],
        ["c.0.bias", "c.0.weight"],
    ]
    assert pipe.replicated_params == [
        {"submod_pp_0": "a.0.weight", "submod_pp_2": "c.0.weight"}
    ]
    middle = pipe.get_stage_module(1)
    assert middle.get_parameter("b.0.bias") is model.b[0].bias
    (result,) = pipe(x)
    torch.testing.assert_close(result, model(x))
    y = x
    for i in range(3):
        y = pipe.get_stage_module(i)(y)
    torch.testing.assert_close(y, model(x))
    with pytest.raises(RuntimeError, match="invoke the Pipe object directly"):
        pipe.split_gm(x)
    with pytest.raises(ValueError, match="Invalid stage index 3!"):
        pipe.get_stage_module(3)
    with pytest.raises(AttributeError, match=r"nonexistent module x"):
        pipeline(model, (x,), split_spec={"x.y": SplitPoint.END})
    with pytest.raises(ValueError, match="Cannot specify both"):
        pipeline(model, (x,), split_spec=points, split_policy=lambda graph: graph)
    assert pipe_split() is None


class _Stage:
    """Facts of a stage that orders ask for."""

    def __init__(self, place: int, count: int, size: int) -> None:
        self.stage_index, self.num_stages, self.group_size = place, count, size
        self.group_rank, self.submod, self.stage_index_to_group_rank = 0, None, {}
        self.is_first, self.is_last = place == 0, place == count - 1


# Made by the same code over PyTorch 2.13, but for the last rank of 1F1B: the table
# that PyTorch has for it begins with the second microbatch.
ORDERS = {
    "LoopedBFS": "4a4abab8283d2f82",
    "Interleaved1F1B": "861622d721979b58",
    "InterleavedZeroBubble": "49fbfd9f0a150d0e",
    "ZBVZeroBubble": "a8dd66b1ad96a0c5",
    "DualPipeV": "f73370e32e2040c9",
    "GPipe": "033e0b4a8dd11e99",
    "1F1B": "851678ca173a9a53",
}


def texts(steps) -> list[str]:
    return ["" if action is None else str(action) for action in steps]


def order_digest(schedule, ranks) -> str:
    order, whole = (
        schedule.pipeline_order,
        getattr(schedule, "pipeline_order_with_comms", None),
    )
    if whole is None:
        rows: list = [texts(order[rank]) for rank in ranks]
    else:
        rows = [[texts(order[rank]), texts(whole[rank])] for rank in ranks]
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest()[:12]


@pytest.mark.parametrize("name", list(ORDERS))
def test_orders_are_pytorchs(name):
    kind = get_schedule_class(name.lower())
    single = issubclass(kind, schedules.PipelineScheduleSingle)
    found = {}
    for size in (2, 3, 4, 8):
        for count in (1, 2, 4, 6, 8, 16, 20):
            for local in (1,) if single else (2,) if name in V_SHAPED else (1, 2, 3):
                stages = [_Stage(i * size, size * local, size) for i in range(local)]
                key = (
                    f"{name} {size} {count}"
                    if single
                    else f"{name} {size} {local} {count}"
                )
                try:
                    schedule = kind(stages[0] if single else stages, count)
                except ValueError as error:
                    found[key] = " ".join(str(error).split()) if single else str(error)
                    continue
                ranks = range(size - 1 if name == "1F1B" else size)
                found[key] = order_digest(schedule, ranks)
                if not single:
                    schedule._simulate()  # raises where ranks wait for one another
    text = json.dumps(found, sort_keys=True)
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == ORDERS[name]


def test_orders_in_files_and_functions_in_place_of_steps(world, tmp_path):
    def run(rank):
        stages = [PipelineStage(Block(i), i, 4, "cpu") for i in (rank, rank + 2)]
        made = pipelining.ScheduleInterleaved1F1B(stages, 4)
        path = str(tmp_path / f"order{rank}.csv")
        made._dump_csv(path, format="compute_comms")
        schedule = schedules._PipelineScheduleRuntime(stages, 4, loss_fn=loss_of)
        schedule._load_csv(path, format="compute_comms")
        seen = []

        def forward(action, context):
            seen.append(str(action))
            context.schedule_ref._perform(
                action,
                {stage.stage_index: stage for stage in stages},
                [],
                (context.arg_mbs, context.kwarg_mbs, context.target_mbs, True, None),
            )

        schedule.register_custom_function(schedules.FORWARD, forward)
        x, target = batch()
        schedule.step(*([x] if rank == 0 else []), target=target)
        return seen, by_stage(stages)

    model = nn.Sequential(*[Block(i) for i in range(4)])
    x, target = batch()
    _, _, wanted = plain(model, x, target=target)
    for seen, grads in world(2, run):
        assert len(seen) == 8
        for key, grad in grads.items():
            torch.testing.assert_close(grad, wanted[key])


def test_texts_of_steps_and_tables():
    action = schedules._Action.from_str("(0F1;1B0)OVERLAP_F_B")
    assert str(action) == "(0F1;1B0)OVERLAP_F_B"
    assert [str(a) for a in action.sub_actions] == ["0F1", "1B0"]
    assert schedules._Action.from_str(" ") is None
    with pytest.raises(RuntimeError, match="Invalid action string: nonsense"):
        schedules._Action.from_str("nonsense")
    parse = schedules._Action.from_str
    order = {0: [parse("0F0"), None, parse("0B0")], 1: [None, parse("1F12"), action]}
    assert schedules._format_pipeline_order(order, 1) == (
        "        Rank 0 Rank 1              \n"
        "Step 0: 0F0                        \n"
        "Step 1:        1F12                 <-- ERROR HERE\n"
        "Step 2: 0B0    (0F1;1B0)OVERLAP_F_B\n"
    )
    assert texts(
        schedules._merge_bw([parse("1I0"), None, parse("1W0"), parse("0W0")])
    ) == ["1B0", "0W0"]
    with pytest.raises(ValueError, match="Unknown schedule name 'x'"):
        get_schedule_class("x")
    with pytest.raises(AssertionError, match="without first running Forward"):
        schedules._validate_schedule({0: [parse("0B0")]}, 1, 1, 1)


def test_batches_are_cut_and_put_together():
    x, mask = torch.arange(12.0).view(6, 2), torch.arange(10).view(2, 5)
    args, kwargs = microbatch.split_args_kwargs_into_chunks(
        (x, 3), {"mask": mask, "deep": [x, None]}, 4
    )
    assert len(args) == len(kwargs) == 2  # a tensor has two rows
    assert [a[0].shape[0] for a in args] == [3, 3]
    assert args[1][1] == 3
    assert kwargs[1]["deep"][1] is None
    spec = microbatch.TensorChunkSpec.from_tuple((1,))
    args, _ = microbatch.split_args_kwargs_into_chunks((mask,), None, 2, spec)
    assert [a[0].shape for a in args] == [(2, 3), (2, 2)]
    assert torch.equal(microbatch.merge_chunks([a[0] for a in args], spec[0]), mask)
    merged = microbatch.merge_chunks(
        [{"y": x, "n": 1}, {"y": x, "n": 1}],
        {"y": microbatch.TensorChunkSpec(0), "n": None},
    )
    assert merged["y"].shape == (12, 2)
    assert merged["n"] == 1
    total = microbatch.merge_chunks([x[0, 1], x[1, 1]], microbatch.sum_reducer)
    assert total == 4.0
    with pytest.raises(ValueError, match="did not match chunk spec"):
        microbatch.merge_chunks([(x, x), (x,)], None)
    assert str(spec[0]) == "TensorChunkSpec(1)"


def test_backward_in_two_passes_is_one():
    torch.manual_seed(0)
    x = torch.randn(3, WIDTH, requires_grad=True)
    grad = torch.randn(3, WIDTH)
    one, two = Block(0), Block(0)
    (wanted,) = stage_backward((one(x),), (grad,), [x])
    (found,), groups = stage_backward_input([two(x)], [grad], [x], two.parameters())
    torch.testing.assert_close(found, wanted)
    assert gradients(two) == {}
    stage_backward_weight(two.parameters(), groups)
    for name, value in gradients(two).items():
        torch.testing.assert_close(value, one.get_parameter(name).grad)
    with pytest.raises(RuntimeError, match="Failed to run stage backward"):
        stage_backward((one(x),), (grad[:1],), [x])


def test_schedules_refuse_what_they_cannot_do():
    with pytest.raises(ValueError, match="must be greater than or equal"):
        pipelining.Schedule1F1B(_Stage(0, 4, 4), 2)
    with pytest.raises(ValueError, match="multiple of the number of rounds"):
        pipelining.ScheduleInterleaved1F1B([_Stage(0, 4, 2), _Stage(2, 4, 2)], 5)
    with pytest.raises(ValueError, match="exactly 2 stages per rank"):
        pipelining.ScheduleZBVZeroBubble([_Stage(0, 2, 2)], 4)
