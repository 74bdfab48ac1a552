"""Which devices there are, which one is current, what they are."""

from __future__ import annotations

import os
import re
import threading

import pytest

import hotaru as torch


def test_asking_uses_no_device(run):
    printed = run(
        "import hotaru as torch\n"
        "print(torch.cuda.is_initialized())\n"
        "print(torch.cuda.is_available(), torch.cuda.device_count() > 0)\n"
        "torch.manual_seed(0)\n"
        "torch.cuda.manual_seed(0)\n"
        "torch.cuda.empty_cache()\n"
        "print(torch.cuda.memory_stats(), torch.cuda.memory_allocated())\n"
        "print(torch.cuda.is_initialized())\n"
        "torch.cuda.init()\n"
        "print(torch.cuda.is_initialized())\n"
    )
    assert printed.splitlines() == [
        "False",
        "True True",
        "OrderedDict() 0",
        "False",
        "True",
    ]


def test_import_and_seeds_load_no_driver(run):
    program = (
        "import hotaru as torch\n"
        "torch.manual_seed(0)\n"
        "torch.cuda.manual_seed_all(1)\n"
        "torch.seed()\n"
        "maps = open('/proc/self/maps').read()\n"
        "print('cuda' in maps, 'soft_gpu' in maps)\n"
    )
    assert run(program) == "False False\n"


def test_current_device_is_set_by_any_name():
    for device in (0, "cuda:0", torch.device("cuda:0"), torch.device(0)):
        torch.cuda.set_device(device)
        assert torch.cuda.current_device() == 0
    torch.cuda.set_device(-1)
    assert torch.cuda.current_device() == 0


def test_current_device_changes_for_a_block(two_devices):
    with torch.cuda.device(1):
        assert torch.cuda.current_device() == 1
        assert torch.ones(2, device="cuda").device == torch.device("cuda:1")
        with torch.cuda.device("cuda:0"):
            assert torch.cuda.current_device() == 0
        with torch.cuda.device(-1):
            assert torch.cuda.current_device() == 1
        with torch.cuda.device(None):
            assert torch.cuda.current_device() == 1
        assert torch.cuda.current_device() == 1
    assert torch.cuda.current_device() == 0
    with pytest.raises(ZeroDivisionError), torch.cuda.device(1):
        1 / 0  # noqa: B018
    assert torch.cuda.current_device() == 0


def test_device_of_a_tensor_becomes_current(two_devices):
    tensor = torch.ones(2, device="cuda:1")
    with torch.cuda.device_of(tensor):
        assert torch.cuda.current_device() == 1
    with torch.cuda.device(1), torch.cuda.device_of(torch.ones(2)):
        assert torch.cuda.current_device() == 1


def test_current_device_is_each_threads_own(two_devices):
    seen = []
    torch.cuda.set_device(1)
    thread = threading.Thread(target=lambda: seen.append(torch.cuda.current_device()))
    thread.start()
    thread.join()
    assert seen == [0]
    assert torch.cuda.current_device() == 1


def test_properties_print_and_agree():
    properties = torch.cuda.get_device_properties(0)
    assert re.fullmatch(
        r"_CudaDeviceProperties\(name='.*', major=\d+, minor=\d+, "
        r"total_memory=\d+MB, multi_processor_count=\d+, uuid=[0-9a-f-]{36}, "
        r"pci_bus_id=\d+, pci_device_id=\d+, pci_domain_id=\d+, "
        r"L2_cache_size=\d+MB\)",
        repr(properties),
    )
    assert torch.cuda.get_device_name() == properties.name
    assert torch.cuda.get_device_name("cuda:0") == properties.name
    assert torch.cuda.get_device_capability() == (properties.major, properties.minor)
    assert properties.warp_size == 32
    assert properties.total_memory == torch.cuda.mem_get_info()[1]
    with pytest.raises(AttributeError):
        properties.name = "another"


def test_what_devices_can_do():
    at_least_8 = torch.cuda.get_device_capability()[0] >= 8
    assert torch.cuda.is_bf16_supported() == at_least_8
    assert torch.cuda.is_tf32_supported() == at_least_8
    assert all(
        re.fullmatch(r"(sm|compute)_\d+\w?", arch)
        for arch in torch.cuda.get_arch_list()
    )
    assert torch.cuda.can_device_access_peer(0, 0) is False
    with pytest.raises(AssertionError, match="Invalid peer device id"):
        torch.cuda.can_device_access_peer(0, 99)
    with pytest.raises(AssertionError, match="Invalid device id"):
        torch.cuda.can_device_access_peer(99, 0)


@pytest.mark.parametrize("device", [99, "cuda:99", torch.device("cuda", 99)])
def test_wrong_indices(device):
    with pytest.raises(RuntimeError, match="invalid device ordinal"):
        torch.cuda.set_device(device)
    with pytest.raises(RuntimeError, match="invalid device ordinal"):
        torch.cuda.synchronize(device)
    with pytest.raises(RuntimeError, match="invalid device ordinal"):
        torch.ones(2, device=device)
    with pytest.raises(AssertionError, match="Invalid device id"):
        torch.cuda.get_device_properties(device)
    with (
        pytest.raises(RuntimeError, match="invalid device ordinal"),
        torch.cuda.device(device),
    ):
        pass
    assert torch.cuda.current_device() == 0


def test_other_things_than_devices():
    with pytest.raises(ValueError, match="Expected a cuda device, but got: cpu"):
        torch.cuda.set_device("cpu")
    with pytest.raises(ValueError, match="with a specified index or an integ"):
        torch.cuda.set_device("cuda")
    with pytest.raises(ValueError, match="but got:None"):
        torch.cuda.set_device(None)
    with pytest.raises(ValueError, match=r"but got:1\.5"):
        torch.cuda.synchronize(1.5)
    with pytest.raises(RuntimeError, match="Invalid device string"):
        torch.cuda.device("cuda0")


def test_tensors_of_two_devices_do_not_mix():
    with pytest.raises(
        RuntimeError,
        match="Expected all tensors to be on the same device, but found at "
        "least two devices, cuda:0 and cpu!",
    ):
        torch.ones(2, device="cuda") + torch.ones(2)


def test_synchronize():
    torch.cuda.synchronize()
    torch.cuda.synchronize(0)
    torch.cuda.synchronize("cuda")
    torch.device("cuda").synchronize()
    torch.cuda.ipc_collect()


def test_accelerator_is_cuda():
    accelerator = torch.accelerator
    assert accelerator.is_available()
    assert accelerator.current_accelerator() == torch.device("cuda")
    assert accelerator.device_count() == torch.cuda.device_count()
    assert accelerator.current_device_index() == 0
    assert accelerator.current_stream() == torch.cuda.current_stream()
    accelerator.set_device_index("cuda:0")
    accelerator.synchronize()
    tensor = torch.ones(100, device="cuda")
    assert accelerator.memory_allocated() == torch.cuda.memory_allocated()
    assert accelerator.memory_allocated() >= tensor.numel() * 4
    # Others may take and give memory of a GPU between two questions.
    free, total = accelerator.get_memory_info()
    here, all_of_it = torch.cuda.mem_get_info()
    assert total == all_of_it
    if torch._C._cuda_in_software():
        assert free == here
    with pytest.raises(ValueError, match="cpu doesn't match the current acc"):
        accelerator.set_device_index("cpu")
    with accelerator.device_index(None):
        assert accelerator.current_device_index() == 0


def test_accelerators_device_changes_for_a_block(two_devices):
    with torch.accelerator.device_index(1):
        assert torch.cuda.current_device() == 1
    assert torch.cuda.current_device() == 0


def test_back_ends_say_what_there_is():
    assert torch.backends.cuda.is_built()
    cudnn = torch.backends.cudnn
    assert cudnn.is_available() == (cudnn.version() is not None)
    if torch._C._cuda_in_software():
        stands_in = os.environ.get("HOTARU_CUDA_LIBRARIES") == "soft"
        assert cudnn.is_available() == stands_in
        x = torch.ones(1, device="cuda")
        assert cudnn.is_acceptable(x) == stands_in
        assert not cudnn.is_acceptable(x.long())
    assert re.fullmatch(r"\d+\.\d+", torch.version.cuda)


def test_legacy_types():
    tensor = torch.cuda.FloatTensor([1, 2])
    assert tensor.device == torch.device("cuda:0")
    assert tensor.type() == "torch.cuda.FloatTensor"
    assert isinstance(tensor, torch.cuda.FloatTensor)
    assert not isinstance(tensor, torch.FloatTensor)
    assert not isinstance(tensor, torch.cuda.DoubleTensor)
    assert not isinstance(torch.ones(2), torch.cuda.FloatTensor)


def test_profiler_ranges():
    from hotaru.cuda import nvtx

    assert nvtx.range_push("outer") == 0
    with nvtx.range("inner {}", 1):
        nvtx.mark("here")
        assert nvtx.range_push("innermost") == 2
        assert nvtx.range_pop() == 2
    assert nvtx.range_pop() == 0
    nvtx.range_end(nvtx.range_start("across threads"))


def test_cat_wants_one_device(hotaru, cuda):
    """As other operators say it, before anything is copied."""
    t = hotaru
    with pytest.raises(
        RuntimeError,
        match="Expected all tensors to be on the same device, but found at "
        "least two devices, cuda:0 and cpu!",
    ):
        t.cat([t.zeros(2, device=cuda), t.zeros(2)])
