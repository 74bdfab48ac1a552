"""Run by mpirun: every collective by MPI, and a few steps of training."""

import hotaru.distributed as dist

import hotaru as torch

FLOATS = (torch.float32, torch.float64, torch.bfloat16, torch.float16)
INTEGERS = (torch.int32, torch.int64, torch.uint8)


def full(size, value, dtype=torch.float32):
    return torch.full((size,), value).to(dtype)


def reductions(r, n):
    for dtype in (*FLOATS, *INTEGERS):
        t = full(3, r + 1, dtype)
        there = t.data_ptr()
        dist.all_reduce(t)
        assert t.tolist() == [n * (n + 1) / 2] * 3
        assert t.data_ptr() == there
        t = full(3, r + 1, dtype)
        dist.all_reduce(t, dist.ReduceOp.MAX)
        assert t.tolist() == [n] * 3
        t = full(3, 2 * r + 2, dtype)
        dist.all_reduce(t, dist.ReduceOp.AVG)
        assert t.tolist() == [n + 1] * 3
    both = torch.tensor([r == 0, True])
    dist.all_reduce(both, dist.ReduceOp.MIN)
    assert both.tolist() == [n == 1, True]
    t = full(1, r + 1)
    dist.reduce(t, 0)
    assert r or t.item() == n * (n + 1) / 2
    part = full(2, 0)
    dist.reduce_scatter_tensor(part, torch.arange(2.0 * n))
    assert part.tolist() == [n * 2 * r, n * (2 * r + 1)]
    part = full(2, 0, torch.bfloat16)
    rows = [full(2, i, torch.bfloat16) for i in range(n)]
    dist.reduce_scatter(part, rows, dist.ReduceOp.AVG)
    assert part.tolist() == [r, r]


def exchanges(r, n):
    t = full(2, r)
    dist.broadcast(t, 1 % n)
    assert t.tolist() == [1 % n] * 2
    every = [full(2, -1) for _ in range(n)]
    dist.all_gather(every, full(2, r))
    assert [x.tolist() for x in every] == [[i, i] for i in range(n)]
    whole = full(2 * n, -1)
    dist.all_gather_into_tensor(whole, full(2, r))
    assert whole.tolist() == [i // 2 for i in range(2 * n)]
    dist.all_to_all(every, [full(2, 10 * r + i) for i in range(n)])
    assert [x[0].item() for x in every] == [10 * i + r for i in range(n)]
    whole = full(n, -1)
    dist.all_to_all_single(whole, torch.arange(float(n)))
    assert whole.tolist() == [r] * n
    gathered = [full(1, -1) for _ in range(n)] if r == 0 else None
    dist.gather(full(1, r), gathered)
    assert r or [x.item() for x in gathered] == list(range(n))
    one = full(1, -1)
    dist.scatter(one, [full(1, i) for i in range(n)] if r == 0 else None)
    assert one.item() == r
    objects = [None] * n
    dist.all_gather_object(objects, {"rank": r})
    assert [x["rank"] for x in objects] == list(range(n))


def messages(r, n):
    into = full(1, -1)
    receiving = dist.irecv(into, (r - 1) % n)
    dist.isend(full(1, r), (r + 1) % n).wait()
    receiving.wait()
    assert into.item() == (r - 1) % n
    assert receiving.source_rank() == (r - 1) % n
    work = dist.all_reduce(full(1000, 1), async_op=True)
    work.wait()
    assert work.is_completed()
    assert work.result()[0].sum() == 1000 * n
    future = dist.all_reduce(full(2, 1), async_op=True).get_future()
    assert future.wait()[0].tolist() == [n, n]
    dist.barrier()
    pair = dist.new_group([0, 1])
    if r < 2:
        t = full(1, 1)
        dist.all_reduce(t, group=pair)
        assert t.item() == 2
        assert dist.get_backend(pair) == "mpi"


def training(r):
    torch.manual_seed(0)
    model = torch.nn.parallel.DistributedDataParallel(
        torch.nn.Sequential(
            torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Linear(16, 4)
        )
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    generator = torch.Generator().manual_seed(r)
    for _ in range(50):
        x = torch.randn(16, 8, generator=generator)
        loss = torch.nn.functional.mse_loss(model(x), x[:, :4])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    loss = loss.detach()
    dist.all_reduce(loss, dist.ReduceOp.AVG)
    return loss.item()


dist.init_process_group("mpi")
rank, size = dist.get_rank(), dist.get_world_size()
assert dist.get_backend() == "mpi"
reductions(rank, size)
exchanges(rank, size)
messages(rank, size)
loss = training(rank)
if rank == 0:
    print(f"{size} ranks, loss {loss:.6f}")
dist.destroy_process_group()
