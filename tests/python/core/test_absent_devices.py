"""Devices that PyTorch knows and hotaru lacks: what their modules answer.

The outcomes are those of PyTorch 2.13 built for the CPU, but where it fails by
an accident of its own (`xpu.reset_peak_memory_stats`: AttributeError).
"""

from __future__ import annotations

import importlib

import pytest

import hotaru as torch

REFUSES = {
    "xpu": (
        AssertionError,
        "Torch not compiled with XPU enabled",
        {
            "can_device_access_peer": (0, 1),
            "current_device": (),
            "current_stream": (),
            "get_device_capability": (),
            "get_device_name": (0,),
            "get_device_properties": ("xpu:0",),
            "get_per_process_memory_fraction": (),
            "get_rng_state": (),
            "get_stream_from_external": (0,),
            "init": (),
            "initial_seed": (),
            "mem_get_info": (),
            "set_device": (0,),
            "set_per_process_memory_fraction": (0.5,),
            "synchronize": (),
        },
    ),
    "mps": (
        RuntimeError,
        "without MPS backend",
        {
            "Event": (),
            "current_allocated_memory": (),
            "driver_allocated_memory": (),
            "empty_cache": (),
            "get_rng_state": (),
            "recommended_max_memory": (),
            "seed": (),
            "set_per_process_memory_fraction": (0.5,),
            "set_rng_state": (torch.zeros(1),),
            "synchronize": (),
        },
    ),
    "mtia": (
        RuntimeError,
        "without MTIA backend",
        {
            "MTIAGraph": (),
            "attach_out_of_memory_observer": (print,),
            "current_device": (),
            "current_stream": (),
            "default_stream": (),
            "empty_cache": (),
            "get_device_capability": (),
            "get_device_properties": (),
            "graph_pool_handle": (),
            "set_device": (0,),
            "set_rng_state": (torch.zeros(1),),
            "snapshot": (),
            "stream": (None,),
            "synchronize": (),
        },
    ),
}
ANSWERS = {
    "xpu": {
        "device_count": 0,
        "empty_cache": None,
        "get_arch_list": [],
        "get_gencode_flags": "",
        "get_rng_state_all": [],
        "is_available": False,
        "is_bf16_supported": False,
        "is_initialized": False,
        "is_tf32_supported": False,
        "max_memory_allocated": 0,
        "max_memory_reserved": 0,
        "memory_allocated": 0,
        "memory_reserved": 0,
        "memory_snapshot": [],
        "memory_stats": {},
        "memory_stats_as_nested_dict": {},
        "reset_peak_memory_stats": None,
        "seed": None,
        "seed_all": None,
    },
    "mps": {"device_count": 0, "is_available": False},
    "mtia": {
        "device_count": 0,
        "get_rng_state_all": [],
        "is_available": False,
        "is_bf16_supported": True,
        "is_initialized": False,
        "max_memory_allocated": 0,
        "memory_allocated": 0,
        "memory_stats": {},
        "record_memory_history": None,
        "reset_peak_memory_stats": None,
    },
}


@pytest.mark.parametrize("kind", REFUSES)
def test_what_needs_a_device_says_so(kind):
    error, text, calls = REFUSES[kind]
    module = importlib.import_module(f"{torch.__name__}.{kind}")
    for name, args in calls.items():
        with pytest.raises(error, match=text) as caught:
            getattr(module, name)(*args)
        assert '"cpu"' in str(caught.value), name


@pytest.mark.parametrize("kind", ANSWERS)
def test_questions_are_answered(kind):
    module = getattr(torch, kind)
    for name, answer in ANSWERS[kind].items():
        found = getattr(module, name)()
        assert found == answer, name
        assert type(found) is type(answer) or isinstance(found, dict), name


@pytest.mark.parametrize("kind", ["xpu", "mps", "mtia"])
def test_seeds_are_taken_without_a_device(kind):
    module = getattr(torch, kind)
    before = torch.get_rng_state()
    assert module.manual_seed(3) is None
    assert torch.equal(torch.get_rng_state(), before)
    assert set(module.__all__) <= set(dir(module))


@pytest.mark.parametrize("kind", ["xpu", "mtia"])
def test_a_block_with_no_device_changes_nothing(kind):
    device = getattr(torch, kind).device
    for none in (None, -1):
        with device(none):
            pass
    with pytest.raises((AssertionError, RuntimeError)), device(0):
        pass


def test_objects_of_a_device_cannot_be_made():
    for name in ("Event", "Stream", "MemPool", "XPUGraph"):
        with pytest.raises(RuntimeError, match=f"dummy base class {name}"):
            getattr(torch.xpu, name)()
    with torch.xpu.stream(None), torch.xpu.device_of(torch.ones(1)):
        pass


def test_mps_records_nothing():
    with pytest.raises(RuntimeError, match="profilerStartTrace"):
        torch.mps.profiler.start()
    with (
        pytest.raises(RuntimeError, match="profilerStartTrace"),
        torch.mps.profiler.profile(),
    ):
        pass
    assert not torch.backends.mps.is_macos_or_newer(13, 3)
