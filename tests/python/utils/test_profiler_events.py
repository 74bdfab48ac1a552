"""Events of profiles as objects, their sums, and what reads them."""

from __future__ import annotations

import json

import pytest
from hotaru.profiler import DeviceType, ProfilerAction, ProfilerActivity, profile

import hotaru as torch
from hotaru.autograd import profiler, profiler_util


def _pair(**details):
    """An event of 10 us with one of 3 us inside, each with a kernel."""
    outer = profiler.FunctionEvent(1, "a", 0, 0.0, 10.0, **details)
    inner = profiler.FunctionEvent(
        2,
        "b",
        0,
        1.0,
        4.0,
        cpu_memory_usage=7,
        device_memory_usage=3,
        use_device=details.get("use_device"),
    )
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
        event.cpu_time_total,
        event.self_cpu_time_total,
        event.device_time_total,
        event.self_device_time_total,
        event.self_cpu_memory_usage,
        event.self_device_memory_usage,
    ]
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
    device = profiler.FunctionEvent(3, "g", 0, 2.0, 9.0, device_type=DeviceType.CUDA)
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


@pytest.mark.parametrize(
    ("activity", "text"),
    [
        (ProfilerActivity.XPU, "XPU is not available, disabling XPU profiling"),
        (ProfilerActivity.HPU, "HPU is not available, disabling HPU profiling"),
        (
            ProfilerActivity.PrivateUse1,
            "The privateuseone is not a valid device option",
        ),
    ],
)
def test_what_is_not_there(activity, text):
    """PyTorch's texts, at the start; then the CPU alone is recorded."""
    prof = profile(activities=[ProfilerActivity.CPU, activity])
    with pytest.warns(UserWarning, match=text), prof:
        torch.ones(2).exp()
    assert prof.use_device is None
    assert {e.use_device for e in prof.events()} == {None}
    nothing = pytest.raises(AssertionError, match="No activities specified")
    with pytest.warns(UserWarning, match=text), nothing:
        profile(activities=[activity]).start()
    assert not torch.autograd._profiler_enabled()


@pytest.mark.filterwarnings("ignore:CUDA is not available")
def test_older_ways_to_ask_for_cuda():
    with pytest.warns(FutureWarning, match="use `activities` argument instead"):
        prof = profile(use_cuda=False)
    assert prof.activities == {ProfilerActivity.CPU}
    with pytest.warns(FutureWarning, match="use_device = 'cuda'"):
        profiler.profile(use_cuda=True)
    with pytest.warns(UserWarning, match="The nix is not a valid device opt"):
        assert profiler.profile(use_device="nix").use_device is None
    with pytest.raises(AssertionError, match="No activities specified"):
        profiler.profile(use_cpu=False)


def _device_event(number, name, start, end, **details):
    return profiler.FunctionEvent(
        number,
        name,
        0,
        start,
        end,
        device_type=DeviceType.CUDA,
        use_device="cuda",
        **details,
    )


def test_columns_of_devices():
    """The total counts what devices did, and not again what launched it."""
    outer, inner = _pair(use_device="cuda")
    marked = _device_event(5, "mark", 0, 7, is_user_annotation=True)
    kernels = [_device_event(3, "k", 20, 25), _device_event(4, "a", 30, 32)]
    events = profiler.EventList([outer, inner, marked, *kernels])
    rows = events.key_averages()
    assert [(row.key, row.device_type.name) for row in rows] == [
        ("a", "CPU"),
        ("b", "CPU"),
        ("mark", "CUDA"),
        ("k", "CUDA"),
        ("a", "CUDA"),
    ]
    lines = rows.table(sort_by="cuda_time_total").splitlines()
    titles = [title.strip() for title in lines[1].split("  ") if title]
    assert titles[-5:] == [
        "Self CUDA",
        "Self CUDA %",
        "CUDA total",
        "CUDA time avg",
        "# of Calls",
    ]
    assert [line.split()[0] for line in lines[3:8]] == ["a", "mark", "k", "b", "a"]
    assert lines[3].split()[-5:] == ["5.000us", "71.43%", "7.000us", "7.000us", "1"]
    assert lines[-1] == "Self CUDA time total: 7.000us"
    first = rows.table(sort_by="self_device_time_total").splitlines()[3]
    assert first.split()[0] == "mark"


def test_what_is_not_recorded():
    with profile() as prof:
        torch.ones(2).exp()
    assert "CUDA" not in prof.key_averages().table(sort_by="cuda_time_total")
    with pytest.raises(NotImplementedError, match="overloads"):
        prof.key_averages(group_by_overload_name=True)
