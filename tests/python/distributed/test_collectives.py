"""Collectives of two and three processes, against what they stand for."""

from __future__ import annotations

from datetime import timedelta

import hotaru.distributed as dist
import pytest
from hotaru.distributed import ReduceOp

import hotaru


def test_ranks_and_sizes(world):
    def f(rank):
        assert dist.is_available()
        assert dist.is_initialized()
        assert dist.get_backend() == "gloo"
        return dist.get_rank(), dist.get_world_size()

    assert world(3, f) == [(0, 3), (1, 3), (2, 3)]


@pytest.mark.parametrize("async_op", [False, True])
@pytest.mark.parametrize("strided", [False, True])
def test_all_reduce(world, async_op, strided):
    def f(rank):
        x = hotaru.arange(6.0).reshape(2, 3) * (rank + 1)
        if strided:
            x = hotaru.zeros(3, 4).t()[::2].copy_(x)
        work = dist.all_reduce(x, async_op=async_op)
        if async_op:
            assert work.wait()
            assert work.is_success()
            assert work.result()[0] is x
        return x.tolist()

    for result in world(3, f):
        assert result == [[0, 6, 12], [18, 24, 30]]


def test_uses_wait_without_being_told(world):
    def f(rank):
        x = hotaru.full((1 << 18,), float(rank))
        dist.all_reduce(x, async_op=True)
        y = x * 2
        dist.all_reduce(y, async_op=True)
        return y.sum().item()

    assert world(2, f) == [4.0 * (1 << 18)] * 2


@pytest.mark.parametrize(
    ("op", "expected"),
    [
        (ReduceOp.SUM, 6),
        (ReduceOp.AVG, 3),
        (ReduceOp.PRODUCT, 8),
        (ReduceOp.MIN, 2),
        (ReduceOp.MAX, 4),
        (ReduceOp.BAND, 0),
        (ReduceOp.BOR, 6),
        (ReduceOp.BXOR, 6),
    ],
)
def test_reductions(world, op, expected):
    def f(rank):
        x = hotaru.tensor([2, 4])[rank : rank + 1].clone()
        dist.all_reduce(x, op)
        y = hotaru.tensor([2, 4])[rank : rank + 1].clone()
        dist.reduce(y, 1, op)
        return x.item(), y.item()

    results = world(2, f)
    assert [x for x, _ in results] == [expected] * 2
    assert results[1][1] == expected


@pytest.mark.parametrize(
    "dtype",
    [
        hotaru.float16,
        hotaru.bfloat16,
        hotaru.float64,
        hotaru.int8,
        hotaru.uint8,
        hotaru.int16,
        hotaru.int64,
        hotaru.complex64,
        hotaru.complex128,
    ],
)
def test_dtypes(world, dtype):
    def f(rank):
        x = hotaru.tensor([1, 2, 3]).to(dtype) * (rank + 1)
        dist.all_reduce(x)
        return x.real.tolist() if x.is_complex() else x.tolist()

    assert world(2, f) == [[3, 6, 9]] * 2


def test_what_a_dtype_cannot(world):
    def f(rank):
        with pytest.raises(ValueError, match="complex"):
            dist.all_reduce(hotaru.ones(1, dtype=hotaru.complex64), ReduceOp.MAX)
        with pytest.raises(RuntimeError, match="BAND with non-integral dtype"):
            dist.all_reduce(hotaru.ones(1), ReduceOp.BAND)
        with pytest.raises(TypeError, match="ReduceOp"):
            dist.all_reduce(hotaru.ones(1), "sum")
        with pytest.raises(TypeError, match="Expected parameter `tensor`"):
            dist.all_reduce(3)
        with pytest.raises(ValueError, match="different dtypes"):
            dist.all_gather([hotaru.ones(1).long()] * 2, hotaru.ones(1))
        with pytest.raises(RuntimeError, match="expected length 2, got 1"):
            dist.all_gather([hotaru.ones(1)], hotaru.ones(1))
        with pytest.raises(RuntimeError, match="invalid tensor size at index"):
            dist.all_gather([hotaru.ones(1), hotaru.ones(2)], hotaru.ones(1))
        with pytest.raises(RuntimeError, match="invalid root rank: 2"):
            dist.broadcast(hotaru.ones(1), 2)
        # None of this reached anybody.
        x = hotaru.ones(1)
        dist.all_reduce(x)
        return x.item()

    assert world(2, f) == [2, 2]


def test_gathers_and_scatters(world):
    def f(rank):
        mine = hotaru.tensor([rank, rank + 10])
        parts = [hotaru.zeros(2).long() for _ in range(3)]
        dist.all_gather(parts, mine)
        whole = hotaru.zeros(3, 2).long()
        dist.all_gather_into_tensor(whole, mine)
        assert whole.tolist() == [p.tolist() for p in parts]
        dist.gather(mine, parts if rank == 1 else None, dst=1)
        got = hotaru.zeros(2).long()
        give = [mine * (i + 1) for i in range(3)] if rank == 2 else None
        dist.scatter(got, give, src=2)
        part = hotaru.zeros(2).long()
        dist.reduce_scatter(part, [mine * (i + 1) for i in range(3)])
        again = hotaru.zeros(2).long()
        dist.reduce_scatter_tensor(
            again, hotaru.cat([mine * (i + 1) for i in range(3)])
        )
        assert again.tolist() == part.tolist()
        return [p.tolist() for p in parts], got.tolist(), part.tolist()

    for rank, (parts, got, part) in enumerate(world(3, f)):
        assert parts == [[0, 10], [1, 11], [2, 12]]
        assert got == [2 * (rank + 1), 12 * (rank + 1)]
        assert part == [3 * (rank + 1), 33 * (rank + 1)]


def test_all_to_all(world):
    def f(rank):
        given = hotaru.arange(6).reshape(3, 2) + 100 * rank
        got = hotaru.empty(3, 2).long()
        splits = ([1, 2], [2, 1])[rank]
        theirs = ([1, 2], [2, 1])[rank]
        dist.all_to_all_single(got, given, theirs, splits)
        rows = [hotaru.empty(1).long() for _ in range(2)]
        dist.all_to_all(rows, [hotaru.tensor([10 * rank + i]) for i in range(2)])
        return got.tolist(), [int(r) for r in rows]

    (zero, rows0), (one, rows1) = world(2, f)
    assert zero == [[0, 1], [100, 101], [102, 103]]
    assert one == [[2, 3], [4, 5], [104, 105]]
    assert (rows0, rows1) == ([0, 10], [1, 11])


def test_messages(world):
    def f(rank):
        if rank == 0:
            dist.send(hotaru.tensor([1.0]), 1, tag=5)
            dist.send(hotaru.tensor([2.0]), 1, tag=6)
            x = hotaru.zeros(100000)
            assert dist.recv(x) == 1
            return x[0].item()
        six, five = hotaru.zeros(1), hotaru.zeros(1)
        dist.recv(six, 0, tag=6)
        dist.recv(five, 0, tag=5)
        dist.send(hotaru.full((100000,), 7.0), 0)
        return five.item(), six.item()

    assert world(2, f) == [7.0, (1.0, 2.0)]


def test_both_receive_first(world):
    def f(rank):
        got = hotaru.zeros(1 << 16)
        given = hotaru.full((1 << 16,), float(rank))
        works = dist.batch_isend_irecv(
            [
                dist.P2POp(dist.irecv, got, 1 - rank),
                dist.P2POp(dist.isend, given, 1 - rank),
            ]
        )
        for work in works:
            work.wait()
        return got.sum().item()

    assert world(2, f) == [float(1 << 16), 0.0]


def test_objects(world):
    def f(rank):
        every = [None] * 3
        dist.all_gather_object(every, {"rank": rank, "text": "x" * rank})
        some = [None] * 3 if rank == 1 else None
        dist.gather_object(rank, some, dst=1)
        told = [[1, "a"], {2}] if rank == 0 else [None, None]
        dist.broadcast_object_list(told, src=0)
        out = [None]
        dist.scatter_object_list(out, ["a", "bb", "ccc"], src=2)
        if rank == 0:
            dist.send_object_list([range(3), None], dst=1)
        elif rank == 1:
            got = [None, None]
            assert dist.recv_object_list(got, src=0) == 0
            assert got == [range(3), None]
        return every, some, told, out

    for rank, (every, some, told, out) in enumerate(world(3, f)):
        assert every == [{"rank": r, "text": "x" * r} for r in range(3)]
        assert some == ([0, 1, 2] if rank == 1 else None)
        assert told == [[1, "a"], {2}]
        assert out == [("a", "bb", "ccc")[rank]]


def test_arguments_that_do_not_fit_are_told_by_kind(world):
    def f(rank):
        three, whole = hotaru.ones(3), hotaru.ones(2)
        group = dist.group.WORLD
        calls = [
            (
                RuntimeError,
                "not equal to group size",
                lambda: dist.all_to_all_single(whole, whole, [1, 1, 0], [1, 1]),
            ),
            (
                RuntimeError,
                "doesn't match total dim 0 size",
                lambda: dist.all_to_all_single(whole, whole, [1, 2], [1, 1]),
            ),
            (
                RuntimeError,
                "does not divide equally",
                lambda: dist.all_to_all_single(three, three),
            ),
            (
                ValueError,
                "tensors with different dtypes",
                lambda: dist.all_to_all_single(whole.double(), whole),
            ),
            (
                ValueError,
                "both group_rank and global_rank",
                lambda: dist.broadcast(whole, 0, group, group_src=0),
            ),
            (
                ValueError,
                "Must specify global_rank or group_rank",
                lambda: dist.broadcast(whole),
            ),
            (
                ValueError,
                r"Rank 5 is out of range. Valid ranks are 0 to 1",
                lambda: dist.new_group([0, 5]),
            ),
        ]
        for kind, text, call in calls:
            with pytest.raises(kind, match=text):
                call()
        return True

    assert world(2, f) == [True, True]


def test_groups(world):
    def f(rank):
        pair = dist.new_group([2, 0])
        x = hotaru.ones(1)
        if rank == 1:
            assert pair == dist.GroupMember.NON_GROUP_MEMBER
            assert dist.get_rank(pair) == -1
            assert dist.get_process_group_ranks(pair) == [0, 2]
            assert dist.get_global_rank(pair, 1) == 2
            with pytest.warns(UserWarning, match="global rank 1"):
                assert dist.all_reduce(x, group=pair) is None
        else:
            assert dist.get_process_group_ranks(pair) == [0, 2]
            assert dist.get_group_rank(pair, 2) == 1
            assert dist.get_global_rank(pair, 1) == 2
            dist.all_reduce(x, group=pair)
            y = hotaru.full((1,), float(rank))
            dist.broadcast(y, src=2, group=pair)
            assert y.item() == 2
        mine, every = dist.new_subgroups(1)
        assert mine.size() == 1
        assert len(every) == 3
        # Several groups are meant by what stands for one outside of it.
        with pytest.raises(ValueError, match="outside of"):
            dist.get_process_group_ranks(every[(rank + 1) % 3])
        part = dist.split_group(split_ranks=[[0, 1], [2]])
        z = hotaru.ones(1)
        dist.all_reduce(z, group=part)
        dist.destroy_process_group(part)
        return x.item(), z.item()

    assert world(3, f) == [(2, 2), (1, 2), (2, 1)]


def test_subgroups_are_of_the_group_that_is_given(world):
    def f(rank):
        outer = dist.new_group([1, 3, 0, 2][:2])
        if rank in (1, 3):
            mine, every = dist.new_subgroups(1, group=outer)
        else:
            mine, every = dist.new_subgroups_by_enumeration([[1], [3]])
        if mine is None:
            return None
        return dist.get_process_group_ranks(mine), len(every)

    assert world(4, f) == [None, ([1], 2), None, ([3], 2)]


def test_futures(world):
    def f(rank):
        work = dist.all_reduce(hotaru.ones(2), async_op=True)
        future = work.get_future().then(lambda f: f.value()[0] * 10)
        return future.wait().tolist()

    assert world(2, f) == [[20, 20]] * 2


def test_collectives_in_a_captured_graph(world):
    def f(rank):
        graph, x = hotaru.cpu.Graph(), hotaru.zeros(3)
        with hotaru.cpu.graph(graph):
            y = x * 2
            dist.all_reduce(y)
            z = y + 1
        results = []
        for i in range(3):
            x.fill_(rank + i)
            graph.replay()
            results.append(z.tolist())
        return results

    for result in world(2, f):
        assert result == [[3] * 3, [7] * 3, [11] * 3]


def test_a_world_again(world):
    def f(rank):
        store = dist.distributed_c10d._get_default_group().get_group_store()
        dist.destroy_process_group()
        assert not dist.is_initialized()
        dist.init_process_group(store=store, rank=rank, world_size=2)
        x = hotaru.ones(1)
        dist.all_reduce(x)
        return x.item()

    assert world(2, f) == [2, 2]


def test_options(world):
    def f(rank):
        pg = dist.group.WORLD
        opts = dist.AllreduceOptions()
        opts.reduceOp = ReduceOp.MAX
        x = hotaru.tensor([float(rank)])
        pg.allreduce([x], opts).wait()
        out = [[hotaru.zeros(1), hotaru.zeros(1)]]
        pg.allgather(out, [hotaru.tensor([float(rank)])]).wait()
        pg.broadcast([x], root=0).wait()
        pg.barrier().wait()
        return x.item(), [t.item() for t in out[0]]

    assert world(2, f) == [(1, [0, 1])] * 2


def test_several_tensors_of_a_process(world):
    def f(rank):
        pg = dist.group.WORLD
        x = [hotaru.tensor([2.0 * rank]), hotaru.tensor([2.0 * rank + 1])]
        result = pg.allreduce(x).get_future().wait()
        y = [hotaru.tensor([2.0 * rank]), hotaru.tensor([2.0 * rank + 1])]
        opts = dist.BroadcastOptions()
        opts.rootRank, opts.rootTensor = 1, 1
        pg.broadcast(y, opts).wait()
        z = [hotaru.tensor([2 * rank]), hotaru.tensor([2 * rank + 1])]
        out = [[hotaru.zeros(1).long() for _ in range(4)] for _ in range(2)]
        pg.allgather(out, z).wait()
        with pytest.raises(RuntimeError, match="requires non-empty tensor"):
            pg.allreduce([])
        with pytest.raises(RuntimeError, match="invalid tensor type at index"):
            pg.allreduce([x[0], x[0].long()])
        return (
            [t.item() for t in result],
            [t.item() for t in y],
            [[t.item() for t in many] for many in out],
        )

    expected = ([6, 6], [3, 3], [[0, 1, 2, 3]] * 2)
    assert world(2, f) == [expected] * 2


def test_lengths_that_differ_by_rank(world):
    def f(rank):
        given = [hotaru.ones(i) * (rank + 1) for i in range(3)]
        out = hotaru.zeros(rank)
        dist.reduce_scatter(out, given)
        return out.tolist()

    assert world(3, f) == [[], [6], [6, 6]]


def test_sparse_sums(world):
    def f(rank):
        x = hotaru.sparse_coo_tensor([[0, rank]], [1.0, 10.0], (4,))
        dist.all_reduce(x)
        y = hotaru.sparse_coo_tensor([[rank]], [1.0], (3,))
        with pytest.raises(RuntimeError, match="unsupported reduction"):
            dist.all_reduce(y, ReduceOp.MAX)
        return x.to_dense().tolist()

    assert world(3, f) == [[13, 10, 10, 0]] * 3


def test_coalesced(world):
    def f(rank):
        x = [hotaru.tensor([rank]), hotaru.tensor([10 * rank])]
        future = dist.all_reduce_coalesced(x, async_op=True)
        assert [int(t) for t in future.wait()] == [1, 10]
        out = [[hotaru.zeros(1).long() for _ in range(2)] for _ in range(2)]
        given = [hotaru.tensor([rank]), hotaru.tensor([10 + rank])]
        dist.all_gather_coalesced(out, given)
        return [[int(t) for t in many] for many in out]

    assert world(2, f) == [[[0, 10], [1, 11]]] * 2


# --- what goes wrong ----------------------------------------------------------


def test_a_rank_that_does_not_come_is_named(world):
    def f(rank):
        if rank == 1:
            dist.recv(hotaru.zeros(1), 0)  # until the others have given up
        dist.barrier(timeout=timedelta(milliseconds=1500))

    for rank, outcome in enumerate(world.outcomes(3, f)):
        assert "DistBackendError" in str(outcome)
        assert "Timed out waiting 1500ms for barrier" in str(outcome), rank
        assert "not heard of: rank 1" in str(outcome), rank


def test_a_monitored_barrier_names_who_is_missing(world):
    def f(rank):
        if rank == 1:
            with pytest.raises(RuntimeError):
                dist.recv(hotaru.zeros(1), 2)
            return
        dist.monitored_barrier(timeout=timedelta(milliseconds=1500))

    first, _, third = world.outcomes(3, f)
    assert "Rank 1 failed to pass monitoredBarrier in 1500 ms" in str(first)
    assert "Rank 2 successfully reached monitoredBarrier" in str(third)


def test_a_killed_rank_is_named(world):
    import os
    import signal

    def f(rank):
        for i in range(100000):
            if rank == 1 and i == 50:
                os.kill(os.getpid(), signal.SIGKILL)
            dist.all_reduce(hotaru.ones(10))

    zero, one, two = world.outcomes(3, f)
    assert "status 9" in str(one)
    for outcome in (zero, two):
        assert "rank 1 is gone" in str(outcome)
        assert "all_reduce(SUM) of 10 float32" in str(outcome)


def test_what_differs_is_told_everywhere(world):
    def f(rank):
        if rank == 0:
            dist.all_reduce(hotaru.ones(4))
        else:
            dist.broadcast(hotaru.ones(4), 1)
        dist.barrier()

    for outcome in world.outcomes(2, f):
        assert "DistBackendError" in str(outcome)


def test_a_child_of_a_rank_is_no_rank(world):
    import os
    import signal
    import time

    def f(rank):
        if rank == 0:
            begin = time.monotonic()
            with pytest.raises(dist.DistBackendError, match="rank 1 is gone"):
                dist.barrier()
            return time.monotonic() - begin
        child = os.fork()
        if child == 0:
            try:
                with pytest.raises(dist.DistBackendError, match="survive fork"):
                    dist.all_reduce(hotaru.ones(1))
                time.sleep(4)  # longer than the other rank may wait
            finally:
                os._exit(0)
        os.kill(os.getpid(), signal.SIGKILL)

    first, _ = world.outcomes(2, f)
    assert first < 2


def test_functional_collectives(world):
    from hotaru.distributed import _functional_collectives as F
    from hotaru.distributed.tensor import Replicate, Shard
    from hotaru.distributed.tensor._utils import compute_local_shape_and_global_offset

    def f(rank):
        x = hotaru.arange(6.0).reshape(2, 3) + 10 * rank
        part = F.reduce_scatter_tensor(x, "sum", 0, dist.group.WORLD)
        back = F.all_gather_tensor(part, 1, [0, 1])
        rows = F.all_to_all_single(x, None, None, dist.group.WORLD)
        mesh = dist.init_device_mesh("cpu", (2,))
        where = compute_local_shape_and_global_offset((5, 3), mesh, [Shard(0)])
        whole = compute_local_shape_and_global_offset((5,), mesh, [Replicate()])
        return (
            F.wait_tensor(F.all_reduce(x, "avg", mesh)).tolist(),
            part.tolist(),
            back.tolist(),
            rows.tolist(),
            (where, whole),
        )

    zero, one = world(2, f)
    assert zero[0] == one[0] == [[5, 6, 7], [8, 9, 10]]
    assert (zero[1], one[1]) == ([[10, 12, 14]], [[16, 18, 20]])
    assert zero[2] == one[2] == [[10, 12, 14, 16, 18, 20]]
    assert one[3] == [[3, 4, 5], [13, 14, 15]]
    assert zero[4] == (((3, 3), (0, 0)), ((5,), (0,)))
    assert one[4] == (((2, 3), (3, 0)), ((5,), (0,)))


def test_profiles_have_collectives_under_pytorchs_names(world):
    def run(rank):
        x = hotaru.ones(4)
        with hotaru.autograd.profiler.profile(record_shapes=True) as profile:
            dist.all_reduce(x)
            dist.all_reduce(x, async_op=True).wait()
            dist.all_gather([hotaru.empty(4) for _ in range(2)], x)
            if rank == 0:
                dist.send(x, 1)
            else:
                dist.recv(x, 0)
        return [
            (e.name, e.is_async, [list(s) for s in e.input_shapes])
            for e in profile.function_events
            if e.name.startswith("gloo:")
        ]

    for rank, found in enumerate(world(2, run)):
        message = "gloo:recv" if rank else "gloo:send"
        names = ["gloo:all_reduce"] * 2 + ["gloo:all_gather", message]
        assert found == [(name, True, [[4]]) for name in names]


def test_coalesced_sums_of_real_and_complex_numbers(world):
    def run(rank):
        a, b = hotaru.ones(2), hotaru.full((1,), 1 + 2j)
        dist.all_reduce_coalesced([a, b])
        with pytest.raises(ValueError, match="all_reduce does not support"):
            dist.all_reduce_coalesced([a, b], ReduceOp.MAX)
        dist.monitored_barrier(timeout=20)
        return a.tolist(), b.tolist()

    assert world(2, run) == [([2.0, 2.0], [2 + 4j])] * 2


def test_a_backend_of_the_programs_own(world):
    class Done(dist._Work):
        def wait(self, timeout=None):
            return True

    class Plus(dist.ProcessGroup):
        def getBackendName(self):  # noqa: N802  (PyTorch's name)
            return "plus"

        def allreduce(self, tensors, opts=None):
            for tensor in tensors:
                tensor.add_(self.rank() + 1)
            return Done()

        def allgather(self, outputs, inputs, opts=None):
            for output in outputs[0]:
                output.copy_(inputs[0])
            return Done()

    def run(rank):
        store = dist.group.WORLD.get_group_store()
        dist.destroy_process_group()
        dist.Backend.register_backend("plus", lambda s, r, n, t: Plus(r, n))
        assert dist.is_backend_available("plus")
        assert dist.Backend.PLUS == "plus"
        dist.init_process_group("plus", store=store, rank=rank, world_size=2)
        assert dist.get_backend() == "plus"
        x = hotaru.zeros(2)
        dist.all_reduce(x)
        assert dist.all_reduce(x, async_op=True).wait()
        parts = [hotaru.zeros(2) for _ in range(2)]
        dist.all_gather(parts, x)
        with pytest.raises(NotImplementedError, match="no method broadcast"):
            dist.broadcast(x, 0)
        alone = dist.new_group([rank], use_local_synchronization=True)
        assert (alone.rank(), alone.size()) == (0, 1)
        return x.tolist(), parts[1].tolist()

    assert world(2, run) == [([2.0, 2.0],) * 2, ([4.0, 4.0],) * 2]


def test_functional_collectives_with_gradients(world):
    from hotaru.distributed import _functional_collectives as F

    def run(rank):
        group = dist.group.WORLD
        found = []
        for dim in (0, 1):
            x = (hotaru.arange(4.0).view(2, 2) + rank).requires_grad_()
            whole = F.all_gather_tensor_autograd(x, dim, group)
            part = F.reduce_scatter_tensor_autograd(x, "sum", dim, group)
            (whole.pow(2).sum() + part.sum() * (rank + 1)).backward()
            found.append((list(whole.shape), part.tolist(), x.grad.tolist()))
        return found

    for rank, (rows, columns) in enumerate(world(2, run)):
        x = hotaru.arange(4.0).view(2, 2)
        both = 2 * x + 1
        ones = hotaru.ones(2, 2)
        ones[1] = 2
        for dim, found in ((0, rows), (1, columns)):
            shape = [4, 2] if dim == 0 else [2, 4]
            factors = ones if dim == 0 else ones.t()
            expected = 4 * (x + rank) + factors
            part = both.chunk(2, dim)[rank]
            assert found == (shape, part.tolist(), expected.tolist())
