"""Bool tensors whose bytes are not 0 and 1: anything but 0 is true."""

from __future__ import annotations

import io
import zipfile

import numpy as np
import pytest

N = 70  # beyond a vector, with a rest


def odd(hotaru):
    """Bools of bytes 0xff, 0x02 and so on; the third of every five is false."""
    values = [b if i % 5 != 2 else 0 for i, b in enumerate([255, 2, 128, 64] * N)]
    bytes_ = hotaru.tensor(values[:N], dtype=hotaru.uint8)
    truth = [bool(v) for v in values[:N]]
    return bytes_.view(hotaru.bool), truth


def bytes_of(t):
    return t.contiguous().view(-1).numpy().view(np.uint8).tolist()


def test_counting(hotaru):
    q, truth = odd(hotaru)
    count = sum(truth)
    assert q.sum() == count
    assert q.count_nonzero() == count
    assert q.nonzero().flatten().tolist() == np.flatnonzero(truth).tolist()
    assert q.cumsum(0)[-1] == count
    assert q.any()
    assert not q.all()
    assert q.to(hotaru.int64).tolist() == [int(t) for t in truth]
    assert q.float().sum() == count
    assert q.prod() == 0
    assert q[:2].prod() == 1


def test_choosing(hotaru):
    q, truth = odd(hotaru)
    x = hotaru.arange(float(N))
    wanted = np.arange(float(N))[truth].tolist()
    assert x[q].tolist() == wanted
    assert x.masked_select(q).tolist() == wanted
    assert x[::1][q].tolist() == wanted
    assert x.masked_fill(q, -1).tolist() == np.where(truth, -1, x).tolist()
    assert hotaru.where(q, x, -x).tolist() == np.where(truth, x, -x).tolist()
    assert x.masked_scatter(q, x)[q].tolist() == list(range(sum(truth)))
    y = hotaru.zeros(2, N)
    y[hotaru.stack([q, q])] = 1
    assert y.sum() == 2 * sum(truth)


@pytest.mark.parametrize(
    "f",
    [
        lambda h, q: q.clone(),
        lambda h, q: q.reshape(2, -1).t().clone(),
        lambda h, q: h.zeros(N, dtype=h.bool).copy_(q),
        lambda h, q: q.repeat(2),
        lambda h, q: ~q,
        lambda h, q: q.logical_not(),
        lambda h, q: q == True,  # noqa: E712
        lambda h, q: q != q.clone(),
        lambda h, q: q & q,
        lambda h, q: q | False,
        lambda h, q: q ^ True,
        lambda h, q: q + q,
        lambda h, q: q * q,
        lambda h, q: h.maximum(q, ~q),
        lambda h, q: q.reshape(2, -1).any(0),
        lambda h, q: q.reshape(2, -1).all(0),
        lambda h, q: q.amax(0),
        lambda h, q: q.cummax(0).values,
        lambda h, q: q.sort().values.clone(),
    ],
)
def test_results_are_as_of_clean_bools(hotaru, f):
    q, truth = odd(hotaru)
    clean = hotaru.tensor(truth)
    got, wanted = f(hotaru, q), f(hotaru, clean)
    assert got.tolist() == wanted.tolist()
    assert set(bytes_of(got)) <= {0, 1}


def test_values_on_the_host(hotaru):
    q, truth = odd(hotaru)
    assert q.tolist() == truth
    assert q[0].item() is True
    assert q[2].item() is False
    assert bool(q[1])
    assert hotaru.equal(q, hotaru.tensor(truth))
    assert str(q[:3]) == "tensor([ True,  True, False])"


def test_from_numpy_and_buffers(hotaru):
    array = np.full(8, 255, dtype=np.uint8).view(np.bool_)
    for q in (
        hotaru.from_numpy(array),
        hotaru.frombuffer(bytearray(b"\xff" * 8), dtype=hotaru.bool),
    ):
        assert q.nonzero().shape == (8, 1)
        assert q.sum() == 8
        assert (~q).sum() == 0


def test_from_a_file(hotaru):
    file = io.BytesIO()
    hotaru.save(hotaru.ones(8, dtype=hotaru.bool), file)
    changed = io.BytesIO()
    with zipfile.ZipFile(file) as old, zipfile.ZipFile(changed, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            new.writestr(name, b"\xff" * 8 if name.endswith("data/0") else data)
    changed.seek(0)
    q = hotaru.load(changed)
    assert q.nonzero().shape == (8, 1)
    assert q.sum() == 8
    assert hotaru.arange(8)[q].tolist() == list(range(8))


def test_queued_and_in_a_graph(hotaru):
    q, truth = odd(hotaru)
    stream = hotaru.cpu.Stream()
    with hotaru.cpu.stream(stream):
        total, inverse = q.sum(), ~q
    assert total == sum(truth)
    assert inverse.sum() == N - sum(truth)
    f = hotaru.compile(lambda m, x: hotaru.where(m, x, -x).sum())
    x = hotaru.ones(N)
    for _ in range(3):
        assert f(q, x) == 2 * sum(truth) - N
