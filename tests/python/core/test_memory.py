"""Statistics that the CPU's allocator tells."""

import gc

import pytest

import hotaru as torch


@pytest.fixture(autouse=True)
def no_garbage():
    """Nothing of other tests goes meanwhile."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def test_memory_statistics_count_tensors_as_they_come_and_go():
    before = torch.cpu.memory_allocated()
    torch.cpu.reset_peak_memory_stats()
    x = torch.empty(100, 1000)
    assert torch.cpu.memory_allocated() == before + 400_000
    (x + 1).sum()
    assert torch.cpu.memory_allocated() == before + 400_000
    assert torch.cpu.max_memory_allocated() == before + 800_000
    assert torch.cpu.memory_reserved() >= before + 800_000
    torch.cpu.empty_cache()
    torch.cpu.reset_peak_memory_stats()
    assert torch.cpu.memory_reserved() == before + 400_000
    assert torch.cpu.max_memory_allocated() == before + 400_000
    del x
    assert torch.cpu.memory_allocated() == before
    with pytest.raises(ValueError, match="only device 0"):
        torch.cpu.memory_allocated(1)
