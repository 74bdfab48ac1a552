"""Events of profiles as objects, their sums, and what reads them."""

from __future__ import annotations

import json

import pytest
from hotaru.profiler import (
    DeviceType,
    ProfilerAction,
    ProfilerActivity,
    profile,
)

import hotaru as torch
from hotaru.autograd import profiler, profiler_util


def _pair(**details):
    """An event of 10 us with one of 3 us inside, each with a kernel."""
    outer = profiler.FunctionEvent(1, "a", 0, 0.0, 10.0, **details)
    inner = profiler.FunctionEvent(
        2, "b", 0, 1.0, 4.0, cpu_memory_usage=7, device_memory_usage=3,
        use_device=details.get("use_device"),
    )  # fmt: skip
    outer.append_cpu_child(inner)
    inner.set_cpu_parent(outer)
    outer.append_kernel("k", 0, 5.0)
    inner.append_kernel("m", 0, 2.0)
    return outer, inner


# PyTorch 2.13's numbers.
@pytest.mark.parametrize(
    ("details", "wanted"),
    [
        ({}, [10, 7, 0, 0, -7, -3]),
        ({"use_device": "cuda"}, [10, 7, 7, 5, -7, -3]),
        ({"use_device": "cuda", "is_async": True}, [10, 0, 0, 0, 0, 0]),
        ({"use_device": "cuda", "is_legacy": True}, [10, 7, 5, 3, -7, -3]),
    ],
)
def test_times_and_memory_of_an_event(details, wanted):
    event, inner = _pair(**details)
    found = [
        event.cpu_time_total, event.self_cpu_time_total,
        event.device_time_total, event.self_device_time_total,
        event.self_cpu_memory_usage, event.self_device_memory_usage,
    ]  # fmt: skip
    assert found == wanted
    assert event.kernels == [("k", 0, 5.0)]
    assert inner.cpu_parent is event
    total = profiler_util.FunctionEventAvg().add(event)
    assert total.device_time_total == wanted[2]
    assert total.self_device_time_total == wanted[3]
    assert total.self_cpu_memory_usage == wanted[4]
    with pytest.warns(FutureWarning, match=r"Use `device_time_total` instead"):
        assert event.cuda_time_total == wanted[2]


def test_texts_of_times():
    event = profiler.FunctionEvent(
        3, "g", 0, 2.0, 9000.0, device_type=DeviceType.CUDA, use_device="cuda"
    )
    assert event.device_time_total_str == "8.998ms"
    assert event.cpu_time_total_str == event.cpu_time_str == "0.000us"
    events = profiler.EventList([_pair()[0]])
    assert "7.000us" in events.table()
    assert "0.007ms" in events.table(time_unit="ms")
    with pytest.raises(ValueError, match="time_unit must be one of s, ms, us"):
        events.table(time_unit="h")


def test_events_of_devices_have_no_part_in_the_tree():
    event = _pair()[0]
    device = profiler.FunctionEvent(
        3, "g", 0, 2.0, 9.0, device_type=DeviceType.CUDA
    )
    with pytest.raises(AssertionError, match="child device_type to be CPU"):
        event.append_cpu_child(device)
    with pytest.raises(AssertionError, match=r"^Expected device_type to be CP"):
        device.append_kernel("k", 0, 1.0)
    with pytest.raises(AssertionError, match="parent to be a FunctionEvent"):
        event.set_cpu_parent("outer")
    with pytest.raises(TypeError, match="unexpected keyword argument 'flop'"):
        profiler.FunctionEvent(1, "a", 0, 0.0, 1.0, flop=1)


def test_enumerations():
    assert [int(DeviceType.CUDA), int(DeviceType.MTIA)] == [1, 19]
    assert DeviceType.CPU != 0
    assert ProfilerActivity.CUDA.value == 2
    assert ProfilerAction(4) is ProfilerAction.DEVICE_STOPPED
    assert torch.utils.dlpack.DLDeviceType.kDLMAIA == 17
    device, _ = torch.ones(1).__dlpack_device__()
    assert device == torch.utils.dlpack.DLDeviceType.kDLCPU


def test_records_by_time():
    class Record:
        def __init__(self, time):
            self.start_ns = lambda: time

    records = [(Record(t), t) for t in (3000, 1000, 9000)]
    found = profiler.MemRecordsAcc(records)
    assert [r[1] for r in found.in_interval(1000, 8999)] == [1000, 3000]
    assert not list(found.in_interval(0, 999))
    unique = profiler.EnforceUnique()
    unique.see("a", 1)
    unique.see("a", 2)
    with pytest.raises(RuntimeError, match=r"duplicate key: \('a', 1\)"):
        unique.see("a", 1)


def test_names_of_recordings(tmp_path):
    names = iter(["first", "second"])
    prof = profile(custom_trace_id_callback=lambda: next(names))
    assert prof.get_trace_id() is None
    for name in ("first", "second"):
        with prof:
            pass
        assert prof.get_trace_id() == name
    prof.export_chrome_trace(tmp_path / "t.json")
    assert json.loads((tmp_path / "t.json").read_text())["trace_id"] == "second"
    prof.set_custom_trace_id_callback(None)
    with prof:
        pass
    assert len(prof.get_trace_id()) == 32


def test_an_interrupted_recording():
    x, cpu = torch.ones(3), [ProfilerActivity.CPU]
    with profile() as prof:
        x.exp()
        prof.toggle_collection_dynamic(False, cpu)
        x.log()
        prof.toggle_collection_dynamic(True, [ProfilerActivity.CUDA])
        prof.toggle_collection_dynamic(True, cpu)
        x.sin()
    names = [e.name for e in prof.events() if e.kind == "operator"]
    assert names == ["aten::exp", "aten::sin"]
    with profile() as prof:
        x.exp()
        prof.toggle_collection_dynamic(False, cpu)
        x.log()
    assert [e.name for e in prof.events()] == ["aten::exp", "exp"]
    assert not torch.overrides._get_current_function_mode_stack()


def test_what_is_not_recorded():
    with pytest.warns(UserWarning, match=r"ProfilerActivity\.CUDA"):
        profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])
    with profile() as prof:
        torch.ones(2).exp()
    with pytest.raises(NotImplementedError, match="overloads"):
        prof.key_averages(group_by_overload_name=True)
