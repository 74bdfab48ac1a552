"""`cuda.MemPool`: a name for a part of a program, and for graphs' memory."""

from __future__ import annotations

import pytest

import hotaru as torch


def test_tensors_are_as_without_a_pool():
    pool, other = torch.cuda.MemPool(), torch.cuda.MemPool()
    assert pool.id != other.id
    assert pool.use_count() == 1
    before = torch.cuda.memory_allocated()
    with torch.cuda.use_mem_pool(pool), torch.cuda.use_mem_pool(other, device=0):
        assert pool.use_count() == 2
        x = torch.arange(1024, device="cuda")
        assert torch.cuda.memory_allocated() > before
    assert pool.use_count() == 1
    assert x.sum().item() == 1024 * 1023 // 2
    with pytest.raises(ValueError, match="dropped"), torch.cuda.use_mem_pool(pool):
        raise ValueError("dropped")
    assert pool.use_count() == 1


def test_graphs_of_a_pool_share_memory():
    pool = torch.cuda.MemPool()
    x = torch.ones(4, device="cuda")
    first, second = torch.cuda.CUDAGraph(), torch.cuda.CUDAGraph()
    with torch.cuda.graph(first, pool=pool):
        y = x + 1
    with torch.cuda.graph(second, pool=pool):
        z = y * 2
    first.replay()
    second.replay()
    assert z.tolist() == [4.0] * 4
    assert first.pool() == second.pool()


def test_what_needs_memory_apart_is_refused():
    for how in ({"allocator": 1}, {"use_on_oom": True}, {"no_split": True}):
        with pytest.raises(NotImplementedError, match="one pool and one allocator"):
            torch.cuda.MemPool(**how)
    with pytest.raises(NotImplementedError, match="memory_snapshot"):
        torch.cuda.MemPool().snapshot()
    with pytest.raises(TypeError, match="expected a MemPool"):
        torch.cuda.use_mem_pool((0, 1)).__enter__()
