"""A world of one process: what collectives leave, and what is refused."""

from __future__ import annotations

from unittest import mock

import pytest

import hotaru
from hotaru import distributed, nn


@pytest.fixture
def world():
    distributed.init_process_group(
        "gloo", store=distributed.HashStore(), rank=0, world_size=1
    )
    yield distributed.group.WORLD
    distributed.destroy_process_group()


def test_without_a_group():
    assert distributed.is_available()
    assert not distributed.is_initialized()
    with pytest.raises(ValueError, match="has not been initialized"):
        distributed.get_rank()


def test_the_world_has_this_process(world):
    assert distributed.is_initialized()
    assert (distributed.get_rank(), distributed.get_world_size()) == (0, 1)
    assert distributed.get_backend() == "gloo"
    assert distributed.get_process_group_ranks(world) == [0]
    with pytest.raises(ValueError, match="twice"):
        distributed.init_process_group("gloo")


def test_collectives_copy_what_one_process_gives(world):
    x = hotaru.arange(4.0)
    distributed.all_reduce(x)
    assert x.tolist() == [0, 1, 2, 3]
    parts = [hotaru.zeros(4)]
    distributed.all_gather(parts, x)
    whole, scattered = hotaru.zeros(2, 2), hotaru.zeros(4)
    distributed.all_gather_into_tensor(whole, x)
    distributed.reduce_scatter(scattered, [x * 2])
    assert parts[0].tolist() == [0, 1, 2, 3]
    assert whole.tolist() == [[0, 1], [2, 3]]
    assert scattered.tolist() == [0, 2, 4, 6]
    with pytest.raises(RuntimeError, match="expected length 1, got 2"):
        distributed.all_gather([x, x], x)


def test_asynchronous_work_is_done_at_once(world):
    x = hotaru.ones(2)
    work = distributed.all_reduce(x, async_op=True)
    assert work.wait()
    assert work.is_completed()
    assert work.get_future().value()[0] is x
    assert distributed.all_reduce(x) is None


def test_objects_are_copies(world):
    given = {"a": [1]}
    found = [None]
    distributed.all_gather_object(found, given)
    assert found == [given]
    assert found[0] is not given


def test_nobody_else_is_reached(world):
    with pytest.raises(ValueError, match="Invalid destination rank"):
        distributed.send(hotaru.ones(1), 0)
    with pytest.raises(RuntimeError, match="invalid root rank"):
        distributed.broadcast(hotaru.ones(1), src=1)
    with pytest.raises(NotImplementedError, match="no transport"):
        distributed.rpc.init_rpc("worker")


def test_groups_without_this_process(world):
    mine = distributed.new_group([0])
    other = distributed.new_group([])
    assert distributed.get_rank(mine) == 0
    assert distributed.get_rank(other) == -1
    assert distributed.all_reduce(hotaru.ones(1), group=other) is None


def test_parallel_module_needs_a_group():
    with pytest.raises(ValueError, match="has not been initialized"):
        nn.parallel.DistributedDataParallel(nn.Linear(2, 2))


def test_parallel_module_has_the_modules_gradients(world):
    hotaru.manual_seed(0)
    inner = nn.Linear(3, 2)
    outer = nn.parallel.DistributedDataParallel(inner)
    x = hotaru.randn(4, 3)
    with outer.no_sync():
        outer(x).sum().backward()
    want = x.sum(0).expand(2, 3)
    assert hotaru.allclose(inner.weight.grad, want)
    assert list(outer.state_dict()) == ["module.weight", "module.bias"]


def test_gradients_pass_through_functional_collectives(world):
    from hotaru.distributed import nn as collectives

    x = hotaru.rand(3, requires_grad=True)
    other = hotaru.empty(3)
    results = [
        collectives.all_reduce(x),
        collectives.broadcast(x, 0),
        collectives.reduce(x, 0),
        *collectives.all_gather(x),
        *collectives.gather(x),
        collectives.scatter([x]),
        collectives.reduce_scatter(other, [x]),
        *collectives.all_to_all([other], [x]),
        collectives.all_to_all_single(other, x),
    ]
    for result in results:
        x.grad = None
        assert hotaru.equal(result, x)
        (2 * result).sum().backward()
        assert x.grad.tolist() == [2, 2, 2]
        with hotaru.no_grad():
            result.zero_()  # is no view of what was given
        assert x.all()
    with pytest.raises(ValueError, match="not part of group"):
        collectives.broadcast(x, 1)


def test_functional_collectives_need_a_world():
    from hotaru.distributed import nn as collectives

    with pytest.raises(ValueError, match="has not been initialized"):
        collectives.all_reduce(hotaru.ones(1))


def test_a_grid_of_one(world):
    mesh = distributed.init_device_mesh("cpu", (1, 1), mesh_dim_names=("a", "b"))
    assert mesh.shape == (1, 1)
    assert mesh["b"].get_group().size() == 1
    assert mesh.get_coordinate() == (0, 0)


def test_backends_that_are_not_there():
    with pytest.raises(RuntimeError, match="doesn't have UCC built in"):
        distributed.init_process_group("ucc")
    with pytest.raises(AssertionError, match="Unknown backend type foo"):
        distributed.init_process_group("foo")
    with pytest.raises(ValueError, match="RANK expected, but not set"):
        distributed.init_process_group("gloo")
    assert not distributed.is_initialized()


def test_the_table_of_groups_is_as_the_groups_are(tmp_path):
    table = distributed.distributed_c10d._pg_map
    assert len(table) == 0
    store = distributed.FileStore(str(tmp_path / "store"), 1)
    distributed.init_process_group("gloo", store=store, rank=0, world_size=1)
    try:
        assert list(table) == [distributed.group.WORLD]
        assert table[distributed.group.WORLD][0] == "gloo"
        with mock.patch.dict(table, {"other": ("", None)}):
            assert "other" in table
            assert len(table) == 2
        assert "other" not in table
        assert distributed.group.WORLD in table
    finally:
        distributed.destroy_process_group()
    assert not table


def test_a_launcher_fills_in_options():
    from hotaru.distributed.run import get_args_parser

    args = get_args_parser().parse_args(["--nnodes", "2", "program.py", "--flag"])
    assert args.nnodes == "2"
    assert args.training_script == "program.py"
    assert args.training_script_args == ["--flag"]
