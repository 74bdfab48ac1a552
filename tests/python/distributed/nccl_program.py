"""One rank of a world whose tensors are on GPUs: `nccl_program.py SCENARIO`.

Errors end it with a traceback; faults print what was raised.
"""

from __future__ import annotations

import copy
import os
import signal
import sys
import threading
import time
import warnings
from datetime import timedelta

import hotaru.distributed as dist
from hotaru.distributed.fsdp import fully_shard
from hotaru.distributed.tensor.parallel import (
    ColwiseParallel,
    RowwiseParallel,
    parallelize_module,
)
from hotaru.nn.parallel import DistributedDataParallel

import hotaru as torch
from hotaru import nn

OPS = dist.ReduceOp
FLOATS = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
WHOLE = (torch.int32, torch.int64, torch.int8, torch.uint8)


def full(size, value, dtype=torch.float32):
    return torch.full((size,), value, device="cuda").to(dtype)


def raised(kind, f, *words):
    try:
        f()
        text = None
    except kind as error:
        text = str(error)
    assert text is not None, f"no {kind.__name__}"
    assert all(word in text for word in words), text


# Values.


def reductions(r, n):
    total = n * (n + 1) // 2
    for dtype in (*FLOATS, *WHOLE):
        for op, expected in (
            (OPS.SUM, total),
            (OPS.MAX, n),
            (OPS.MIN, 1),
            (OPS.PRODUCT, 2 if n == 2 else 6),
        ):
            t = full(3, r + 1, dtype)
            there = t.data_ptr()
            dist.all_reduce(t, op)
            assert t.tolist() == [expected] * 3, (dtype, op, t)
            assert t.data_ptr() == there
    for dtype in FLOATS:
        t = full(2, 2 * r + 2, dtype)
        dist.all_reduce(t, OPS.AVG)
        assert t.tolist() == [n + 1] * 2
        t = full(2, r + 1, dtype)
        dist.all_reduce(t, dist._make_nccl_premul_sum(0.5))
        assert t.tolist() == [total / 2] * 2
    both = torch.tensor([r == 0, False], device="cuda")
    dist.all_reduce(both)
    assert both.tolist() == [True, False]
    z = full(2, complex(r, 1), torch.complex64)
    dist.all_reduce(z)
    assert z.tolist() == [complex(total - n, n)] * 2
    t = full(4, r + 1)
    dist.reduce(t, 1)
    assert t.tolist() == [total if r == 1 else r + 1] * 4
    part = full(2, 0)
    dist.reduce_scatter_tensor(part, torch.arange(2.0 * n, device="cuda"))
    assert part.tolist() == [n * 2 * r, n * (2 * r + 1)]
    # Rows that do not lie behind each other, of several lengths.
    mine = full(r + 1, 0)
    dist.reduce_scatter(mine, [full(i + 1, i) for i in range(n)])
    assert mine.tolist() == [n * r] * (r + 1)
    # With strides.
    t = torch.arange(6.0, device="cuda").view(2, 3).t()
    dist.all_reduce(t)
    assert t.tolist() == [[0, 3 * n], [n, 4 * n], [2 * n, 5 * n]]
    # In one call, and of nothing.
    many = [full(2, r), full(3, 1)]
    dist.all_reduce_coalesced(many)
    assert [t.tolist() for t in many] == [[total - n] * 2, [n] * 3]
    dist.all_reduce(full(0, 0))


def movements(r, n):
    for dtype in (*FLOATS, *WHOLE, torch.bool, torch.int16, torch.complex128):
        t = full(3, r, dtype)
        dist.broadcast(t, 1)
        assert t.tolist() == full(3, 1, dtype).tolist()
    ranks = list(map(float, range(n)))
    rows = [full(2, -1) for _ in ranks]
    dist.all_gather(rows, full(2, r))
    assert [t.tolist() for t in rows] == [[i, i] for i in ranks]
    whole = full(2 * n, -1)
    dist.all_gather_into_tensor(whole, full(2, r))
    assert whole.view(n, 2).tolist() == [[i, i] for i in ranks]
    rows = [full(2, -1) for _ in ranks] if r == 1 else None
    dist.gather(full(2, r), rows, 1)
    assert r != 1 or [t.tolist() for t in rows] == [[i, i] for i in ranks]
    t = full(2, -1)
    rows = [full(2, 10 + i) for i in ranks] if r == 0 else None
    dist.scatter(t, rows, 0)
    assert t.tolist() == [10 + r] * 2
    t = full(n, -1)
    dist.all_to_all_single(t, torch.arange(float(n), device="cuda") + 10 * r)
    assert t.tolist() == [10 * i + r for i in ranks]
    rows = [full(i + 1, -1) for i in range(n)]
    dist.all_to_all(rows, [full(r + 1, r) for _ in ranks])
    assert [t.tolist() for t in rows] == [[i] * (int(i) + 1) for i in ranks]
    objects = [None] * n
    dist.all_gather_object(objects, {"rank": r})
    assert objects == [{"rank": i} for i in range(n)]
    # The CPU's go beside them.
    t = torch.ones(2)
    dist.all_reduce(t)
    assert t.tolist() == [n, n]


def messages(r, n):
    if r == 0:
        dist.send(full(3, 7), 1)
    elif r == 1:
        t = full(3, 0)
        assert dist.recv(t, 0) == 0
        assert t.tolist() == [7] * 3
    after, before = (r + 1) % n, (r - 1) % n
    t, long = full(2, -1), full(1 << 16, -1)
    works = dist.batch_isend_irecv(
        [
            dist.P2POp(dist.isend, full(2, r), after),
            dist.P2POp(dist.irecv, t, before),
            dist.P2POp(dist.isend, full(1 << 16, r), after),
            dist.P2POp(dist.irecv, long, before),
        ]
    )
    for work in works:
        work.wait()
    assert t.tolist() == [before] * 2
    assert long.sum().item() == before * (1 << 16)
    if r < 2:  # both ways at once
        t = full(4, -1)
        sent = dist.isend(full(4, r), 1 - r)
        dist.irecv(t, 1 - r).wait()
        sent.wait()
        assert t.tolist() == [1 - r] * 4
    raised(ValueError, lambda: dist.recv(full(1, 0)), "a rank that is named")


def at_once(r, n):
    """Threads that first need one communicator at the same time."""
    ready = threading.Barrier(4)
    got = []

    def sends_or_receives():
        t = full(5, r + 1)
        ready.wait()
        if r == 0:
            dist.send(t, 1)
        elif r == 1:
            dist.recv(t, 0)
            got.append(t.tolist())

    threads = [threading.Thread(target=sends_or_receives) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got == [[1] * 5] * (4 * (r == 1)), got
    dist.barrier()


def order(r, n):
    """Whoever uses a tensor comes after the collective, and before the next."""
    x = full(1 << 12, 1)
    work = dist.all_reduce(x, async_op=True)
    y = x * 2
    assert y[0].item() == 2 * n
    work.wait()
    assert work.is_completed() or work.wait()
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        x += 1
        dist.all_reduce(x)
    dist.all_reduce(x)
    assert x[0].item() == (n + 1) * n * n
    future = dist.all_reduce(x, async_op=True).get_future()
    doubled = future.then(lambda f: f.value()[0] * 2).wait()
    assert doubled[0].item() == 2 * (n + 1) * n**3
    dist.barrier()


def captured(r, n):
    x, y = full(4, r + 1), full(4, 0)
    z = full(2, 1)
    dist.all_reduce(y)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        t = x * 2
        dist.all_reduce(t)
        u = z * 3
        dist.all_reduce(u)
        y.copy_(t + 1)
    assert y.tolist() == [0] * 4
    for step in range(4):
        x.fill_(float(r + step))
        graph.replay()
        assert y.tolist() == [2 * (n * (n - 1) / 2 + n * step) + 1] * 4
        assert u.tolist() == [3 * n] * 2


# Training.


def network():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))


def batch(step, n):
    generator = torch.Generator().manual_seed(step)
    return (
        torch.randn(2 * n, 8, generator=generator),
        torch.randn(2 * n, 4, generator=generator),
    )


def gradients(model, x, y):
    model.zero_grad()
    loss = nn.functional.mse_loss(model(x.cuda()), y.cuda())
    loss.backward()
    return [p.grad.clone() for p in model.parameters()]


def trained(r, n, as_views):
    """To the bit what one process gets that adds up in the order of ranks."""
    model = network().cuda()
    alone = copy.deepcopy(model)
    parallel = DistributedDataParallel(
        model, device_ids=[r], gradient_as_bucket_view=as_views
    )
    ours = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    theirs = torch.optim.SGD(alone.parameters(), lr=0.1, momentum=0.9)
    for step in range(10):
        x, y = batch(step, n)
        ours.zero_grad()
        loss = nn.functional.mse_loss(parallel(x[r::n]), y[r::n].cuda())
        loss.backward()
        parts = [gradients(alone, x[i::n], y[i::n]) for i in range(n)]
        for p, *rows in zip(alone.parameters(), *parts):
            total = rows[0]
            for row in rows[1:]:
                total = total + row
            p.grad = total / n
        ours.step()
        theirs.step()
    for a, b in zip(model.parameters(), alone.parameters()):
        assert a.tolist() == b.tolist()


def data_parallel(r, n):
    trained(r, n, False)
    trained(r, n, True)


def captured_step(r, n):
    """A training step with its collectives as one graph."""
    model, alone = network().cuda(), network()
    parallel = DistributedDataParallel(model, device_ids=[r])
    ours = torch.optim.SGD(model.parameters(), lr=0.1)
    theirs = torch.optim.SGD(alone.parameters(), lr=0.1)
    x, y = torch.zeros(2, 8, device="cuda"), torch.zeros(2, 4, device="cuda")

    def step():
        ours.zero_grad(set_to_none=False)
        nn.functional.mse_loss(parallel(x), y).backward()
        ours.step()

    graph, run = torch.cuda.CUDAGraph(), step
    for i in range(8):
        if i == 3:
            with torch.cuda.graph(graph):
                step()
            run = graph.replay
        whole_x, whole_y = batch(i, n)
        x.copy_(whole_x[r::n])
        y.copy_(whole_y[r::n])
        run()
        theirs.zero_grad()
        nn.functional.mse_loss(alone(whole_x), whole_y).backward()
        theirs.step()
    for a, b in zip(model.parameters(), alone.parameters()):
        torch.testing.assert_close(a.cpu(), b)


def sharded(r, n):
    model, alone = network().cuda(), network()
    for layer in (model[0], model[2], model):
        fully_shard(layer)
    ours = torch.optim.AdamW(model.parameters(), lr=0.1)
    theirs = torch.optim.AdamW(alone.parameters(), lr=0.1)
    for step in range(3):
        x, y = batch(step, n)
        for net, optimizer, rows in (
            (model, ours, slice(r, None, n)),
            (alone, theirs, slice(None)),
        ):
            there = next(net.parameters()).device
            optimizer.zero_grad()
            out = net(x[rows].to(there))
            nn.functional.mse_loss(out, y[rows].to(there)).backward()
            optimizer.step()
    for a, b in zip(model.parameters(), alone.parameters()):
        torch.testing.assert_close(a.full_tensor().cpu(), b)


def tensor_parallel(r, n):
    mesh = dist.init_device_mesh("cuda", (n,))
    model, alone = network().cuda(), network().cuda()
    parallelize_module(model, mesh, {"0": ColwiseParallel(), "2": RowwiseParallel()})
    x = batch(0, n)[0].cuda()
    torch.testing.assert_close(model(x), alone(x))
    model(x).sum().backward()
    alone(x).sum().backward()
    torch.testing.assert_close(model[0].weight.grad.full_tensor(), alone[0].weight.grad)


# Groups.


def groups(r, n):
    assert dist.get_backend() == "nccl"
    host = dist.new_group(backend="gloo")
    assert dist.get_backend(host) == "gloo"
    t = full(2, r)
    dist.all_reduce(t, group=host)
    work = dist.all_reduce(t, group=host, async_op=True)
    work.wait()
    assert t.tolist() == [n * n * (n - 1) / 2] * 2
    if n > 2:
        some = dist.new_group([0, 2])
        t = full(1, r)
        if r != 1:
            dist.all_reduce(t, group=some)
        assert t.item() == (1 if r == 1 else 2)
    whole = full(1, 1, torch.int32)
    raised(ValueError, lambda: dist.all_reduce(whole, OPS.BAND), "BAND")
    raised(
        NotImplementedError, lambda: dist.all_reduce(full(1, 1, torch.int16)), "int16"
    )
    both = [full(1, 1), torch.ones(1)]
    raised(RuntimeError, lambda: dist.all_gather(both, full(1, 1)))
    dist.destroy_process_group(host)
    child = os.fork()  # as workers of a DataLoader are
    if child == 0:
        signal.alarm(20)
        try:
            dist.group.WORLD.shutdown()
        finally:
            os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    dist.barrier()


def chosen_by_mesh(r, n):
    """Nobody has chosen a GPU: each rank gets its own."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        mesh = dist.init_device_mesh("cuda", (n,))
    assert ["no GPU was chosen" in str(w.message) for w in told] == [True]
    assert torch.cuda.current_device() == r
    t = full(1, r)
    dist.all_reduce(t, group=mesh.get_group())
    assert t.item() == n * (n - 1) / 2
    assert t.device.index == r


# Faults: a rank does something else.


def told(f):
    begin = time.monotonic()
    try:
        f()
        torch.cuda.synchronize()
        print("nothing")
    except dist.DistBackendError as error:
        print(f"{time.monotonic() - begin:.1f} s: {error}")
    try:
        dist.all_reduce(full(1, 1))
        print("and then nothing")
    except dist.DistBackendError:
        print("and then again")
    assert (full(2, 1) + 1).tolist() == [2, 2]  # the GPU goes on


def killed(r, n):
    if r == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    told(lambda: dist.all_reduce(full(4, 1)))


def left(r, n):
    if r == 1:
        os._exit(0)
    told(lambda: dist.all_reduce(full(4, 1)))


def mismatched(r, n):
    told(lambda: dist.all_reduce(full(4 + r, 1)))


def reordered(r, n):
    first, then = (
        lambda: dist.all_reduce(full(4, 1)),
        lambda: dist.broadcast(full(4, 1), 0),
    )[:: 1 if r else -1]

    def both():
        first()
        then()

    told(both)


def hung(r, n):
    if r == 1:
        sys.stdin.read()  # until the test has heard of the others
        os._exit(0)
    told(lambda: dist.all_reduce(full(4, 1)))


def unanswered(r, n):
    if r == 1:
        sys.stdin.read()
        os._exit(0)
    told(lambda: dist.recv(full(4, 1), 1))


def main():
    rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    chooses = sys.argv[1] != "chosen_by_mesh"
    if chooses:
        torch.cuda.set_device(rank)
    eager = {"device_id": torch.device("cuda", rank)}
    seconds = float(os.environ.get("TIMEOUT_S", "60"))
    dist.init_process_group(
        "nccl",
        init_method=os.environ["PLACE"],
        timeout=timedelta(seconds=seconds),
        rank=rank,
        world_size=size,
        **(eager if sys.argv[1] == "movements" else {}),
    )
    if chooses:
        dist.all_reduce(full(1, 1))
        torch.cuda.synchronize()
    globals()[sys.argv[1]](rank, size)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
