"""Caches of keys and values, written in place by captured steps."""

import json

import pytest
from hotaru.nn import functional as F

import hotaru as torch

HEADS, LENGTH, SIZE = 4, 48, 32


def by_index(cache, position, new):
    cache[:, :, position] = new


def by_index_copy(cache, position, new):
    cache.index_copy_(2, position, new)


def by_index_put(cache, position, new):
    everything = slice(None)
    cache[(everything, everything, position)] = new


def by_scatter(cache, position, new):
    cache.scatter_(2, position.view(1, 1, 1, 1).expand(new.shape), new)


WAYS = (by_index, by_index_copy, by_index_put, by_scatter)


def caches(dtype):
    shape = (1, HEADS, LENGTH, SIZE)
    return torch.zeros(shape, dtype=dtype), torch.zeros(shape, dtype=dtype)


def step(write, keys, values, q, k, v, position):
    write(keys, position, k)
    write(values, position, v)
    mask = torch.arange(LENGTH) <= position
    return F.scaled_dot_product_attention(q, keys, values, attn_mask=mask)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("write", WAYS)
def test_steps_write_their_position_in_place(write, dtype, tmp_path):
    position = torch.tensor([0])
    q, k, v = (torch.zeros(1, HEADS, 1, SIZE, dtype=dtype) for _ in range(3))
    kept, plain = caches(dtype), caches(dtype)
    where = [cache.data_ptr() for cache in kept]
    graph = torch.cpu.Graph()
    with torch.no_grad():
        with torch.cpu.graph(graph):
            y = step(write, *kept, q, k, v, position)
        for cache in kept:
            cache.zero_()
        for at in (0, 1, 2, 17, LENGTH - 1):
            position.fill_(at)
            for tensor in (q, k, v):
                tensor.copy_(torch.randn(tensor.shape))
            graph.replay()
            want = step(write, *plain, q, k, v, torch.tensor([at]))
            limit = 1e-6 if dtype is torch.float32 else 2.0**-6
            assert torch.allclose(y, want, rtol=limit, atol=limit)
            for found, expected in zip(kept, plain):
                assert torch.equal(found, expected)
    assert [cache.data_ptr() for cache in kept] == where
    # Nothing copies or widens a cache.
    graph.debug_dump(str(tmp_path / "g.json"))
    events = json.loads((tmp_path / "g.json").read_text())
    events = events["traceEvents"] if isinstance(events, dict) else events
    names = [e["name"] for e in events if e.get("ph") == "X"]
    assert names
    assert not [n for n in names if "copy" in n or "pack" in n], names


def test_compiled_steps_read_the_position_each_time():
    keys, values = caches(torch.float32)

    def run(q, k, v, position):
        return step(by_index_copy, keys, values, q, k, v, position)

    compiled = torch.compile(run, fullgraph=True)
    other = caches(torch.float32)
    with torch.no_grad():
        for at in (3, 4, 9):
            q, k, v = (torch.randn(1, HEADS, 1, SIZE) for _ in range(3))
            position = torch.tensor([at])
            got = compiled(q, k, v, position)
            want = step(by_index_copy, *other, q, k, v, position)
            assert torch.allclose(got, want, rtol=1e-6, atol=1e-6)
    assert torch.equal(keys, other[0])
    assert torch.equal(values, other[1])
