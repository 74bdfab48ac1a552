"""NCCL with the one GPU that there is: a world of one rank. Several ranks are
in tests/python/distributed/test_nccl.py.
"""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import timedelta

import hotaru.distributed as dist
import pytest
from hotaru.distributed.backends import nccl

import hotaru as torch

SOFT = os.environ.get("HOTARU_CUDA_DRIVER", "").startswith("soft")


@pytest.fixture
def world():
    if not dist.is_nccl_available():
        pytest.skip("NCCL is not here: " + nccl.why_not())
    dist.init_process_group(
        "nccl",
        store=dist.HashStore(),
        rank=0,
        world_size=1,
        timeout=timedelta(seconds=60),
        device_id=torch.device("cuda", 0),
    )
    yield dist.group.WORLD
    dist.destroy_process_group()


def test_every_collective_of_one_rank(world):
    x = torch.arange(6.0, device="cuda")
    for dtype in (
        torch.float32,
        torch.float64,
        torch.float16,
        torch.bfloat16,
        torch.int32,
        torch.int64,
        torch.uint8,
        torch.int8,
    ):
        t = x.to(dtype)
        for op in (dist.ReduceOp.SUM, dist.ReduceOp.MAX, dist.ReduceOp.AVG):
            dist.all_reduce(t, op)
        assert t.tolist() == x.to(dtype).tolist()
    t = x.clone()
    dist.all_reduce(t, dist._make_nccl_premul_sum(0.5))
    assert t.tolist() == (x / 2).tolist()
    half = x.half()
    dist.all_reduce(half, dist._make_nccl_premul_sum(0.5))
    assert half.tolist() == (x / 2).tolist()
    dist.reduce(t, 0)
    dist.broadcast(t, 0)
    out = torch.empty_like(x)
    dist.all_gather_into_tensor(out, x)
    assert out.tolist() == x.tolist()
    rows = [torch.empty_like(x)]
    dist.all_gather(rows, x)
    assert rows[0].tolist() == x.tolist()
    dist.reduce_scatter_tensor(out, x * 2)
    assert out.tolist() == (x * 2).tolist()
    dist.all_to_all_single(out, x)
    assert out.tolist() == x.tolist()
    rows = [torch.zeros_like(x)]
    dist.gather(x, rows, 0)
    assert rows[0].tolist() == x.tolist()
    dist.scatter(out, [x * 3], 0)
    assert out.tolist() == (x * 3).tolist()
    dist.barrier()


def test_an_asynchronous_one_is_in_order_with_other_streams(world):
    x = torch.ones(1 << 16, device="cuda")
    side = torch.cuda.Stream()
    for step in range(20):
        here = side if step % 2 else torch.cuda.current_stream()
        with torch.cuda.stream(here):
            x += 1
            work = dist.all_reduce(x, async_op=True)
        x += 1
        work.wait()
    assert x.unique().tolist() == [41]


def test_in_a_graph(world):
    x = torch.ones(4, device="cuda")
    y = torch.zeros(4, device="cuda")
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        t = x * 2
        dist.all_reduce(t)
        out = torch.empty(4, device="cuda")
        dist.all_gather_into_tensor(out, t)
        y.copy_(out + 1)
    for value in (1.0, 2.0, 3.0):
        x.fill_(value)
        graph.replay()
        assert y.tolist() == [2 * value + 1] * 4


def test_training_by_ddp(world):
    model = torch.nn.Linear(4, 2).cuda()
    parallel = torch.nn.parallel.DistributedDataParallel(model, device_ids=[0])
    x = torch.randn(8, 4)
    parallel(x).sum().backward()
    expected = x.sum(0).expand(2, 4)
    torch.testing.assert_close(model.weight.grad.cpu(), expected)


def test_after_an_abort_nothing_is_begun(world):
    x = torch.ones(4, device="cuda")
    dist.all_reduce(x)
    group = dist.new_group()
    dist.all_reduce(x, group=group)
    group.abort()
    with pytest.raises(dist.DistBackendError, match="destroyed"):
        dist.all_reduce(x, group=group)
    dist.all_reduce(x)  # the world goes on
    assert x.tolist() == [1] * 4


def test_its_version_is_told(world):
    [library] = torch._C._cuda_libraries("NCCL")
    version = torch.cuda.nccl.version()
    assert library["version"] == ".".join(map(str, version))
    assert torch.cuda.nccl.is_available([torch.ones(1, device="cuda")])
    assert not torch.cuda.nccl.is_available([torch.ones(1)])


@pytest.mark.skipif(SOFT, reason="GPUs in software are each process's own")
def test_two_ranks_are_told_to_take_a_gpu_each(tmp_path):
    if not dist.is_nccl_available():
        pytest.skip("NCCL is not here: " + nccl.why_not())
    code = f"""
import sys, hotaru as torch, hotaru.distributed as dist
dist.init_process_group("nccl", init_method="file://{tmp_path}/store",
                        rank=int(sys.argv[1]), world_size=2)
try:
    dist.all_reduce(torch.ones(1, device="cuda:0"))
except ValueError as error:
    print(error)
"""
    ranks = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(rank)], stdout=subprocess.PIPE, text=True
        )
        for rank in range(2)
    ]
    for rank in ranks:
        assert (
            "ranks 0 and 1 of the group use the same GPU"
            in (rank.communicate(timeout=50)[0])
        )
