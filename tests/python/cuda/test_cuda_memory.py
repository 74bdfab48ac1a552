"""Counting, limiting and giving back memory of CUDA devices."""

from __future__ import annotations

import gc

import pytest

import hotaru as torch

MIB = 1 << 20
COUNTERS = (
    "active",
    "active_bytes",
    "allocated_bytes",
    "allocation",
    "requested_bytes",
    "reserved_bytes",
    "segment",
)


@pytest.fixture(autouse=True)
def nothing_kept():
    gc.collect()
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()


def test_allocated_and_reserved_follow_tensors():
    before = torch.cuda.memory_allocated()
    x = torch.empty(3 * MIB, dtype=torch.uint8, device="cuda")
    assert torch.cuda.memory_allocated() == before + 3 * MIB
    assert torch.cuda.memory_reserved() >= torch.cuda.memory_allocated()
    y = torch.empty(1, device="cuda")
    assert torch.cuda.memory_allocated() == before + 3 * MIB + 512
    del x, y
    torch.cuda.synchronize()
    assert torch.cuda.memory_allocated() == before
    assert torch.cuda.max_memory_allocated() == before + 3 * MIB + 512
    torch.cuda.reset_peak_memory_stats("cuda:0")
    assert torch.cuda.max_memory_allocated() == before
    assert torch.cuda.max_memory_reserved() == torch.cuda.memory_reserved()


def test_empty_cache_gives_memory_back():
    x = torch.empty(64 * MIB, dtype=torch.uint8, device="cuda")
    reserved = torch.cuda.memory_reserved()
    free = torch.cuda.mem_get_info()[0]
    del x
    torch.cuda.synchronize()
    assert torch.cuda.memory_reserved() == reserved
    torch.cuda.empty_cache()
    assert torch.cuda.memory_reserved() <= reserved - 64 * MIB
    # Memory of all processes: on a GPU others may take some meanwhile.
    if torch._C._cuda_in_software():
        assert torch.cuda.mem_get_info()[0] >= free + 64 * MIB


def test_stats_have_pytorchs_names_in_order():
    x = torch.ones(1000, device="cuda")
    stats = torch.cuda.memory_stats()
    assert list(stats) == sorted(stats)
    assert set(stats) == {
        f"{counter}.{pool}.{what}"
        for counter in COUNTERS
        for pool in ("all", "small_pool", "large_pool")
        for what in ("current", "peak", "allocated", "freed")
    } | {"num_alloc_retries", "num_ooms"}
    for counter in COUNTERS:
        for what in ("current", "allocated", "freed"):
            assert stats[f"{counter}.all.{what}"] == (
                stats[f"{counter}.small_pool.{what}"]
                + stats[f"{counter}.large_pool.{what}"]
            )
        assert stats[f"{counter}.all.current"] == (
            stats[f"{counter}.all.allocated"] - stats[f"{counter}.all.freed"]
        )
        assert stats[f"{counter}.all.peak"] >= stats[f"{counter}.all.current"] >= 0
    assert stats["requested_bytes.all.current"] >= x.numel() * 4
    nested = torch.cuda.memory_stats_as_nested_dict(0)
    assert (
        nested["allocated_bytes"]["all"]["current"]
        == stats["allocated_bytes.all.current"]
    )


def test_peak_of_both_pools_is_one_moments():
    """Not the sum of each pool's own peak."""
    before = torch.cuda.max_memory_allocated()
    large = torch.empty(4 * MIB, dtype=torch.uint8, device="cuda")
    del large
    torch.cuda.synchronize()
    small = [torch.empty(MIB // 2, dtype=torch.uint8, device="cuda")] * 1
    del small
    assert torch.cuda.max_memory_allocated() == before + 4 * MIB


def test_accumulated_counts_begin_anew():
    x = torch.ones(1000, device="cuda")
    torch.cuda.reset_accumulated_memory_stats()
    stats = torch.cuda.memory_stats()
    assert stats["allocation.all.allocated"] == 0
    assert stats["allocation.all.freed"] == 0
    assert stats["num_ooms"] == 0
    assert stats["allocated_bytes.all.current"] >= x.numel() * 4


def test_snapshot_lists_blocks():
    x = torch.empty(2 * MIB, dtype=torch.uint8, device="cuda")
    blocks = {
        block["address"]: (segment, block)
        for segment in torch.cuda.memory_snapshot()
        for block in segment["blocks"]
    }
    segment, block = blocks[x.data_ptr()]
    assert block["state"] == "active_allocated"
    assert block["size"] == block["requested_size"] == 2 * MIB
    assert segment["device"] == 0
    assert segment["segment_type"] == "large"
    assert segment["total_size"] == sum(b["size"] for b in segment["blocks"])
    with pytest.raises(NotImplementedError, match="leave mempool_id out"):
        torch.cuda.memory_snapshot((0, 1))


def test_summary_is_a_table():
    torch.ones(1000, device="cuda")
    lines = torch.cuda.memory_summary().splitlines()
    assert {len(line) for line in lines} == {77}
    assert lines[1].split() == (
        ["|", "PyTorch", "CUDA", "memory", "summary,", "device", "ID", "0", "|"]
    )
    assert lines[3].startswith("|            CUDA OOMs: ")
    assert lines[5] == (
        "|        Metric         | Cur Usage  | Peak Usage | Tot Alloc  | Tot Freed  |"
    )
    assert sum("from large pool" in line for line in lines) == 7
    short = torch.cuda.memory_summary(0, abbreviated=True)
    assert "pool" not in short
    assert "| Allocated memory      |" in short


def test_deprecated_names_warn():
    with pytest.warns(FutureWarning, match="renamed to `torch.cuda.memory_res"):
        assert torch.cuda.memory_cached() == torch.cuda.memory_reserved()
    with pytest.warns(FutureWarning, match="renamed to `torch.cuda.max_memor"):
        torch.cuda.max_memory_cached()
    with pytest.warns(FutureWarning, match="resets /all/ peak memory stats"):
        torch.cuda.reset_max_memory_allocated()
    with pytest.warns(FutureWarning, match="resets /all/ peak memory stats"):
        torch.cuda.reset_max_memory_cached()


def test_raw_blocks_for_other_libraries():
    before = torch.cuda.memory_allocated()
    address = torch.cuda.caching_allocator_alloc(1000)
    assert torch.cuda.memory_allocated() == before + 1024
    stream = torch.cuda.Stream()
    others = [
        torch.cuda.caching_allocator_alloc(1000, 0, stream),
        torch.cuda.caching_allocator_alloc(1000, "cuda:0", stream.cuda_stream),
    ]
    assert len({address, *others}) == 3
    for one in (address, *others):
        torch.cuda.caching_allocator_delete(one)
    stream.synchronize()
    torch.cuda.synchronize()
    assert torch.cuda.memory_allocated() == before
    with pytest.raises(RuntimeError, match="invalid device pointer: 0x"):
        torch.cuda.caching_allocator_delete(address)
    with pytest.raises(TypeError, match="Invalid type for stream argument"):
        torch.cuda.caching_allocator_alloc(1000, stream="main")


def test_fraction_limits_the_process():
    total = torch.cuda.mem_get_info()[1]
    with pytest.raises(TypeError, match="must be `float`"):
        torch.cuda.set_per_process_memory_fraction(1)
    for wrong in (-0.1, 1.5, float("nan")):
        with pytest.raises(ValueError, match="Allowed range: 0~1"):
            torch.cuda.set_per_process_memory_fraction(wrong)
    assert torch.cuda.get_per_process_memory_fraction() == 1.0
    torch.cuda.set_per_process_memory_fraction(256 * MIB / total)
    try:
        assert torch.cuda.get_per_process_memory_fraction("cuda") == (256 * MIB / total)
        kept = torch.empty(128 * MIB, dtype=torch.uint8, device="cuda")
        with pytest.raises(torch.OutOfMemoryError):
            torch.empty(256 * MIB, dtype=torch.uint8, device="cuda")
        del kept
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)
    torch.empty(256 * MIB, dtype=torch.uint8, device="cuda")


def test_out_of_memory_says_how_much_there_is():
    ooms = torch.cuda.memory_stats()["num_ooms"]
    with pytest.raises(torch.cuda.OutOfMemoryError) as caught:
        torch.empty(1 << 50, dtype=torch.uint8, device="cuda")
    text = str(caught.value)
    assert text.startswith(
        "CUDA out of memory. Tried to allocate 1048576.00 GiB. GPU 0 has a "
        "total capacity of "
    )
    assert "GiB is free." in text
    assert "is allocated by PyTorch, and" in text
    assert torch.cuda.memory_stats()["num_ooms"] == ooms + 1
    assert torch.ones(2, device="cuda").sum().item() == 2


def test_out_of_memory_is_an_exception_of_its_own():
    assert torch.OutOfMemoryError is torch.cuda.OutOfMemoryError
    assert issubclass(torch.OutOfMemoryError, RuntimeError)
    assert torch.OutOfMemoryError.__module__ == torch.__name__


def test_a_small_device_fills_up_and_recovers(run):
    printed = run(
        "import hotaru as torch\n"
        "print(torch.cuda.mem_get_info()[1])\n"
        "kept = []\n"
        "try:\n"
        "    for _ in range(100):\n"
        "        kept.append(torch.ones(1 << 20, device='cuda'))\n"
        "except torch.OutOfMemoryError as error:\n"
        "    print(10 <= len(kept) <= 16)\n"
        "    print(str(error).split('.')[0])\n"
        "del kept\n"
        "print(torch.ones(1 << 23, device='cuda').sum().item())\n",
        HOTARU_CUDA_DRIVER="soft",
        HOTARU_SOFT_GPU_MEMORY="67108864",
    )
    assert printed.splitlines() == [
        "67108864",
        "True",
        "CUDA out of memory",
        "8388608.0",
    ]


def test_devices_count_apart(two_devices):
    before = torch.cuda.memory_allocated(0), torch.cuda.memory_allocated(1)
    x = torch.empty(MIB, dtype=torch.uint8, device="cuda:1")
    assert torch.cuda.memory_allocated(0) == before[0]
    assert torch.cuda.memory_allocated("cuda:1") == before[1] + x.numel()
    with torch.cuda.device(1):
        assert torch.cuda.memory_allocated() == before[1] + x.numel()
    assert {s["device"] for s in torch.cuda.memory_snapshot()} >= {1}


def test_what_else_there_is():
    assert torch.cuda.get_allocator_backend() == "native"
    assert isinstance(torch.cuda.list_gpu_processes(), str)
    with pytest.raises(RuntimeError, match="invalid device ordinal"):
        torch.cuda.memory_stats(99)
    with pytest.raises(RuntimeError, match="invalid device ordinal"):
        torch.cuda.mem_get_info("cuda:99")
