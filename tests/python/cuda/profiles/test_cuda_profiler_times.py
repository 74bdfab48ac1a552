"""Profiles with the times of CUDA devices, by events around each call. Threads
are in tests/cpp/device/profiler_test.cpp, kernels one by one in
test_cuda_profiler_kernels.py.
"""

from __future__ import annotations

import json
import os
import time

import pytest
from hotaru.profiler import (
    DeviceType,
    ProfilerActivity,
    profile,
    record_function,
    schedule,
)

import hotaru as torch

BOTH = [ProfilerActivity.CPU, ProfilerActivity.CUDA]
# How late the device's clock may seem, in microseconds: by the narrowest of
# the looks at both clocks, which a loaded machine makes wide.
LATE = 1e5

soft = pytest.mark.skipif(
    not torch.cuda.is_available() or not torch._C._cuda_in_software(),
    reason="only the GPU in software counts its events",
)
HEAD = """
import ctypes
import hotaru as torch
from hotaru.profiler import ProfilerActivity, profile
BOTH = [ProfilerActivity.CPU, ProfilerActivity.CUDA]
x = torch.arange(6.0, device="cuda")
with open("/proc/self/maps") as maps:
    driver = ctypes.CDLL(next(
        line.split()[-1] for line in maps if "libhotaru_softgpu" in line))
driver.hotaru_softgpu_events.restype = ctypes.c_size_t
"""


@pytest.fixture(autouse=True)
def by_events(monkeypatch):
    monkeypatch.setenv("HOTARU_CUPTI", "0")


def device_events(prof) -> list:
    return [e for e in prof.events() if e.device_type is DeviceType.CUDA]


def assert_in_turn(events: list) -> None:
    """No two of a stream at once, in the order of the list."""
    for before, after in zip(events, events[1:]):
        assert before.time_range.end <= after.start


def test_streams_have_lanes_of_their_own(cuda):
    x, stream = torch.rand(64, 64, device=cuda), torch.cuda.Stream()
    with profile(activities=BOTH) as prof:
        for _ in range(20):
            x.exp()
            with torch.cuda.stream(stream):
                x.sin()
    lanes: dict[int, list] = {}
    for event in device_events(prof):
        lanes.setdefault(event.device_resource_id, []).append(event)
    assert len(lanes) == 2
    assert [e.name for e in lanes.pop(7)] == ["exp"] * 20
    ((number, other),) = lanes.items()
    assert [e.name for e in other] == ["sin"] * 20
    assert {e.stream for e in other} == {stream.stream_id}
    assert number != 7
    for lane in (other, [e for e in device_events(prof) if e.name == "exp"]):
        assert_in_turn(lane)
        assert all(e.duration > 0 for e in lane)
    # The number stays, in another profile, too.
    with profile(activities=BOTH) as prof, torch.cuda.stream(stream):
        x.sin()
    (event,) = device_events(prof)
    assert event.device_resource_id == number


def test_events_lie_between_launch_and_end(cuda):
    x = torch.rand(100, device=cuda)
    with profile(activities=BOTH) as prof:
        for _ in range(3):
            with record_function("once"):
                x.exp()
                torch.cuda.synchronize()
            time.sleep(0.2)  # longer than times are counted from one event
    launches = [e for e in prof.events() if e.name == "exp" and e.flow_start]
    after = max(e.time_range.end for e in prof.events() if e.name == "once")
    work = device_events(prof)
    assert len(launches) == len(work) == 3
    for launch, event in zip(launches, work):
        assert launch.flow_id == event.flow_id
        assert launch.start <= event.start
        assert event.duration < 2e5
    assert work[-1].time_range.end <= after + LATE
    for before, following in zip(work, work[1:]):
        assert following.start - before.start >= 2e5
    starts = [e.start for e in prof.events()]
    assert starts == sorted(starts)


def test_times_of_operators_are_those_of_their_kernels(cuda):
    linear = torch.nn.Linear(32, 16).to(cuda)
    x = torch.rand(8, 32, device=cuda)
    with profile(activities=BOTH) as prof:
        with torch.profiler.record_function("outer"):
            y = linear(x)
            torch.nn.functional.softmax(y, 1).pow(2)
        y.sum().backward()
    work = device_events(prof)
    assert {e.use_device for e in prof.events()} == {"cuda"}
    by_id = {e.id: e for e in prof.events()}
    for event in prof.events():
        if event.device_type is DeviceType.CUDA:
            assert event.device_index == 0
            assert event.self_device_time_total == event.duration
            assert event.cpu_time_total == 0
            assert event.cpu_parent is None
            continue
        mine = [w for w in work if by_id[w.linked_correlation_id] is event]
        assert event.kernels == [(w.name, 0, w.duration) for w in mine]
        assert event.self_device_time_total == pytest.approx(
            sum(w.duration for w in mine)
        )
        assert event.device_time_total == pytest.approx(
            event.self_device_time_total
            + sum(c.device_time_total for c in event.cpu_children)
        )
    outer = next(e for e in prof.events() if e.name == "outer")
    inside = [e for e in outer.cpu_children if e.device_time_total]
    assert {"aten::linear", "aten::softmax", "aten::pow"} <= {e.name for e in inside}
    # Kernels are those of the innermost operator.
    assert {"aten::addmm", "aten::_softmax", "aten::pow"} <= {
        e.name for e in prof.events() if e.kernels
    }
    assert (
        0
        < outer.device_time_total
        == pytest.approx(sum(e.device_time_total for e in inside))
    )
    # Launches of the backward pass belong to its nodes, not to `outer`.
    launched = [e for e in prof.events() if e.kind == "node" and e.kernels]
    assert launched
    total = sum(e.duration for e in work)
    tops = [e for e in prof.events() if e.kind != "device" and not e.cpu_parent]
    assert sum(e.device_time_total for e in tops) == pytest.approx(total)


def test_tables_have_columns_of_the_device(cuda):
    x = torch.rand(50, 50, device=cuda)
    with profile(activities=BOTH) as prof:
        for _ in range(4):
            (x @ x).exp()
    rows = prof.key_averages()
    of_device = {r.key: r for r in rows if r.device_type is DeviceType.CUDA}
    of_cpu = {r.key: r for r in rows if r.device_type is DeviceType.CPU}
    assert set(of_device) == {"matmul", "exp"}
    assert of_cpu["aten::matmul"].device_time_total > 0
    for name, row in of_device.items():
        operator = of_cpu[f"aten::{'mm' if name == 'matmul' else name}"]
        assert row.count == operator.count == 4
        assert row.cpu_time_total == of_cpu[name].self_device_time_total == 0
        assert operator.self_device_time_total == pytest.approx(row.device_time_total)
        assert row.device_time == pytest.approx(row.device_time_total / 4)
    total = sum(row.self_device_time_total for row in of_device.values())
    for by in ("cuda_time_total", "self_cuda_time_total", "device_time_total"):
        lines = rows.table(sort_by=by, time_unit="us").splitlines()
        assert "Self CUDA %" in lines[1]
        last, text = lines[-1].split(": ")
        assert last == "Self CUDA time total"
        assert float(text[:-2]) == pytest.approx(total, abs=1e-3)
        assert lines[-2].startswith("Self CPU time total: ")
        longest = max(of_device.values(), key=lambda r: r.device_time_total)
        first = lines[3].split()[0]
        named = {"aten::matmul", "aten::mm"} if longest.key == "matmul" else ()
        assert first.endswith(longest.key) or first in named


def test_copies_are_named_and_measured(cuda):
    host = torch.rand(1000)
    pinned = host.pin_memory()
    with profile(activities=BOTH) as prof:
        x = host.to(cuda)
        y = pinned.to(cuda, non_blocking=True)
        x.clone()
        x[::2].clone()
        pinned.copy_(y, non_blocking=True)
        x.cpu()
    found = [
        (e.name, e.activity_type, (e.extra_meta or {}).get("bytes"))
        for e in device_events(prof)
    ]
    copy = "gpu_memcpy"
    assert found == [
        ("Memcpy HtoD (Pageable -> Device)", copy, 4000),
        ("Memcpy HtoD (Pinned -> Device)", copy, 4000),
        ("Memcpy DtoD (Device -> Device)", copy, 4000),
        ("copy_", "kernel", None),
        ("Memcpy DtoH (Device -> Pinned)", copy, 4000),
        ("Memcpy DtoH (Device -> Pageable)", copy, 4000),
    ]


def test_traces(cuda, tmp_path):
    x, stream = torch.rand(100, device=cuda), torch.cuda.Stream()
    queue = torch.cpu.Stream()
    with profile(activities=BOTH) as prof:
        x.exp().cpu()
        with torch.cuda.stream(stream):
            x.sin()
        with torch.cpu.stream(queue):
            torch.ones(10).cos()
    prof.export_chrome_trace(tmp_path / "trace.json")
    rows = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    work = device_events(prof)
    drawn = [r for r in rows if r.get("cat") in ("kernel", "gpu_memcpy")]
    fields = ("name", "pid", "tid", "ts", "dur")
    assert [tuple(r[k] for k in fields) for r in drawn] == [
        (e.name, 0, e.device_resource_id, e.start, e.duration) for e in work
    ]
    total = sum(
        row.self_device_time_total
        for row in prof.key_averages()
        if row.device_type is DeviceType.CUDA
    )
    assert sum(r["dur"] for r in drawn) == pytest.approx(total)

    named = {(r["name"], r["pid"], r["tid"]): r["args"] for r in rows if r["ph"] == "M"}
    assert named["process_name", 0, 0] == {"name": "GPU 0"}
    assert named["process_labels", 0, 0] == {"labels": "GPU 0"}
    assert named["thread_name", 0, 7] == {"name": "stream 7"}
    (lane,) = {e.device_resource_id for e in work} - {7}
    assert named["thread_name", 0, lane] == {"name": f"stream {lane}"}
    # The queues of the CPU lie beside the devices, and no launch among them.
    queued = [r["name"] for r in rows if r["pid"] == "streams" and "dur" in r]
    assert queued
    assert set(queued) <= {"fill_", "cos"}

    launches = {r["id"]: r for r in rows if r["ph"] == "s"}
    arrivals = {r["id"]: r for r in rows if r["ph"] == "f"}
    assert set(launches) == set(arrivals)
    assert len(launches) == len(work)
    calls = {
        (r["tid"], r["ts"]): r
        for r in rows
        if r.get("pid") == os.getpid() and r["ph"] == "X" and r["cat"] == "cuda_runtime"
    }
    for row in drawn:
        number = row["args"]["correlation"]
        start, end = launches[number], arrivals[number]
        assert start["cat"] == end["cat"] == "ac2g"
        assert start["pid"] == os.getpid()
        assert (start["tid"], start["ts"]) in calls
        assert [end[k] for k in ("pid", "tid", "ts", "bp")] == [
            0,
            row["tid"],
            row["ts"],
            "e",
        ]
        assert start["ts"] <= end["ts"]


@pytest.mark.parametrize("both", [False, True])
def test_what_is_asked_for_is_recorded(cuda, both):
    x = torch.rand(10, device=cuda)
    named = torch.profiler.record_function("range")
    with profile(activities=[BOTH[int(both)]]) as prof, named:
        x.exp()
    kinds = {e.kind for e in prof.events()}
    assert kinds == ({"device"} if both else {"range", "operator", "kernel"})
    assert ("CUDA" in prof.key_averages().table()) == both
    assert prof.use_device == ("cuda" if both else None)


def test_without_activities_what_is_used_is_recorded(cuda):
    x = torch.rand(10, device=cuda)
    with profile() as prof:
        x.exp()
    assert [e.name for e in device_events(prof)] == ["exp"]
    with profile() as prof:
        torch.ones(2).exp()
    assert {e.use_device for e in prof.events()} == {None}
    assert torch.profiler.supported_activities() == set(BOTH)


def test_the_older_profile(cuda):
    x = torch.rand(10, device=cuda)
    for options, recorded in (({}, False), ({"use_device": "cuda"}, True)):
        with torch.autograd.profiler.profile(**options) as prof:
            x.exp()
        assert bool(device_events_of(prof.function_events)) == recorded
        assert ("Self CUDA" in prof.table()) == recorded
    with pytest.warns(FutureWarning, match="use_cuda"):
        prof = torch.autograd.profiler.profile(use_cuda=True, use_cpu=False)
    with prof:
        x.exp()
    assert [e.kind for e in prof.function_events] == ["device"]


def device_events_of(events) -> list:
    return [e for e in events if e.device_type is DeviceType.CUDA]


def test_steps_and_interruptions(cuda):
    x = torch.rand(10, device=cuda)
    plan = schedule(wait=1, warmup=0, active=1, repeat=2)
    with profile(activities=BOTH, schedule=plan, acc_events=True) as prof:
        for name in ("exp", "sin", "cos", "tan", "log"):
            getattr(x, name)()
            prof.step()
    assert [e.name for e in device_events(prof)] == ["sin", "tan"]
    cuda_alone = [ProfilerActivity.CUDA]
    with profile(activities=BOTH) as prof:
        x.exp()
        prof.toggle_collection_dynamic(False, cuda_alone)
        x.sin()
        prof.toggle_collection_dynamic(True, cuda_alone)
        x.cos()
        prof.toggle_collection_dynamic(False, BOTH)
        x.tan()
        prof.toggle_collection_dynamic(True, BOTH)
        x.log()
    assert [e.name for e in device_events(prof)] == ["exp", "cos", "log"]
    operators = [e.name for e in prof.events() if e.kind == "operator"]
    assert operators == ["aten::exp", "aten::sin", "aten::cos", "aten::log"]


def test_queues_and_graphs_of_the_cpu(cuda):
    x, queue = torch.ones(10), torch.cpu.Stream()
    graph = torch.cpu.Graph()
    with torch.cpu.graph(graph):
        y = x * 3
    with profile(activities=BOTH) as prof:
        with torch.cpu.stream(queue):
            z = (x + 1).to(cuda).exp()
        graph.replay()
        w = y.to(cuda)
    assert z.tolist() == pytest.approx([7.389056] * 10)
    assert w.tolist() == [3] * 10
    names = [e.name for e in device_events(prof)]
    assert names.count("exp") == 1
    assert names.count("Memcpy HtoD (Pageable -> Device)") == 2
    queued = [e.name for e in prof.events() if e.stream == queue.stream_id]
    assert "add" in queued


def test_an_error_of_a_kernel_amid_a_profile(cuda):
    """It is told at the end; what ran is known, and all is usable."""
    x, wrong = torch.arange(4.0, device=cuda), torch.tensor([7], device=cuda)
    prof = profile(activities=BOTH)
    prof.start()
    x.exp()
    torch.gather(x, 0, wrong)
    x.sin()
    with pytest.raises(RuntimeError, match="index 7 is out of bounds"):
        prof.stop()
    names = [e.name for e in device_events(prof)]
    assert [names[0], names[-1]] == ["exp", "sin"]
    assert not torch.autograd._profiler_enabled()
    prof.start()
    x.exp()
    with pytest.raises(RuntimeError, match="inconsistent tensor size"):
        x @ torch.ones(3, device=cuda)
    prof.stop()
    names = [e.name for e in device_events(prof)]
    assert names[0] == "exp"
    assert "matmul" not in names
    assert (x + 1).tolist() == [1, 2, 3, 4]


def test_streams_that_go_amid_a_profile(cuda):
    """Their events stay; another library's stream is not asked any more."""
    x = torch.rand(10, device=cuda)
    with profile(activities=BOTH) as prof:
        stream = torch.cuda.Stream(priority=-1)
        borrowed = torch.cuda.ExternalStream(stream.cuda_stream)
        with torch.cuda.stream(borrowed):
            x.exp()
        torch.cuda.synchronize()
        del borrowed, stream
        with torch.cuda.stream(torch.cuda.Stream(priority=-1)):
            x.sin()
    assert [e.name for e in device_events(prof)] == ["exp", "sin"]


@soft
def test_a_device_that_is_lost_amid_a_profile(run):
    printed = run(
        HEAD + "prof = profile(activities=BOTH)\n"
        "try:\n"
        "    with prof:\n"
        "        y = x + 1\n"
        "        driver.hotaru_softgpu_fail(0, 719)\n"
        "except torch.AcceleratorError as error:\n"
        "    print(str(error).split('\\n')[0])\n"
        "print([e.name for e in prof.events()])\n"
        "driver.hotaru_softgpu_fail(0, 0)\n"
        "with prof:\n"
        "    y = x + 1\n"
        "print([e.name for e in prof.events()], y.tolist()[0])\n"
    )
    assert printed.splitlines() == [
        "CUDA error: unspecified launch failure",
        "['aten::add', 'add']",
        "['aten::add', 'add', 'add'] 1.0",
    ]


@soft
def test_events_are_used_again(run):
    """By a thousand profiles, and by calls of a long one that are over."""
    printed = run(
        HEAD + "def work():\n"
        "    with profile(activities=BOTH) as prof:\n"
        "        x.exp(); x.sin()\n"
        "    assert len(prof.events()) == 6\n"
        "work()\n"
        "before = driver.hotaru_softgpu_events()\n"
        "for _ in range(1000):\n"
        "    work()\n"
        "print(driver.hotaru_softgpu_events() - before)\n"
        "with profile(activities=[ProfilerActivity.CUDA]) as prof:\n"
        "    for i in range(3000):\n"
        "        x.add_(1)\n"
        "        if i % 500 == 0: torch.cuda.synchronize()\n"
        "events = prof.events()\n"
        "print(len(events), driver.hotaru_softgpu_events() < 3500)\n"
        "print(all(a.time_range.end <= b.start and a.duration > 0\n"
        "          for a, b in zip(events, events[1:])))\n"
        "before = driver.hotaru_softgpu_events()\n"
        "with profile(activities=[ProfilerActivity.CPU]):\n"
        "    for _ in range(2000): x.add_(1)\n"
        "print(driver.hotaru_softgpu_events() - before)\n"
    )
    assert printed.splitlines() == ["0", "3000 True", "True", "0"]


def test_two_devices(two_devices, tmp_path):
    x = torch.rand(100, device="cuda:0")
    with profile(activities=BOTH) as prof:
        y = x.exp().to("cuda:1")
        y.sin()
    found = [(e.name, e.device_index) for e in device_events(prof)]
    assert {("exp", 0), ("sin", 1)} <= set(found)
    assert "Memcpy PtoP (Device -> Device)" in [name for name, _ in found]
    sine = next(e for e in prof.events() if e.name == "aten::sin")
    assert [kernel.device for kernel in sine.kernels] == [1]
    prof.export_chrome_trace(tmp_path / "trace.json")
    rows = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    labels = [r["args"] for r in rows if r["name"] == "process_labels"]
    assert labels == [{"labels": "GPU 0"}, {"labels": "GPU 1"}]
    assert {r["pid"] for r in rows if r.get("cat") == "kernel"} == {0, 1}


def test_callers_with_times_of_the_device(cuda, tmp_path):
    x = torch.rand(300, 300, device=cuda)
    with profile(activities=BOTH, with_stack=True) as prof:
        x @ x
    path = tmp_path / "stacks"
    prof.export_stacks(str(path), "self_cuda_time_total")
    (line,) = path.read_text().splitlines()
    event = next(e for e in prof.events() if e.name == "aten::mm")
    assert int(line.rpartition(" ")[2]) == int(event.self_device_time_total)
