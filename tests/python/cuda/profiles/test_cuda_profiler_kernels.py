"""Profiles with the times of each kernel on CUDA devices, by CUPTI.

On a GPU they run where CUPTI is found; in software with its stand-in
(`HOTARU_CUDA_LIBRARIES=soft`), which counts broken rules. What only a stand-in
does is in test_cuda_profiler_cupti.py.
"""

from __future__ import annotations

import ctypes
import json
import os
import threading

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
# How far CUPTI's conversion of the device's clock may be from the host's, in
# microseconds, on a GPU; the stand-in's clock is the host's.
APART = 0 if os.environ.get("HOTARU_CUDA_LIBRARIES") == "soft" else 1e3


@pytest.fixture(autouse=True, scope="module")
def cupti():
    """Skips without CUPTI; afterwards no rule of its was broken."""
    if not torch.cuda.is_available():
        yield
        return
    [report] = torch._C._cuda_libraries("CUPTI")
    if report["why_not"]:
        pytest.skip(f"no CUPTI: {report['why_not']}")
    yield
    if torch._C._cuda_in_software():
        library = ctypes.CDLL(report["path"])
        assert library.hotaru_softgpu_cupti_faults() == 0
        assert library.hotaru_softgpu_cupti_pushed() == 0


def device_events(prof) -> list:
    return [e for e in prof.events() if e.device_type is DeviceType.CUDA]


def launched(prof) -> list:
    """Events of calls; the GPU in software fills new memory, too."""
    return [
        e
        for e in device_events(prof)
        if e.external_id and e.activity_type != "gpu_memset"
    ]


def names(prof) -> list[str]:
    return [e.name.split("_")[0] for e in launched(prof)]


def test_kernels_have_names_and_sizes(cuda):
    x = torch.rand(64, 64, device=cuda)
    torch.cuda.synchronize()
    with profile(activities=BOTH) as prof, record_function("all"):
        x.exp()
        torch.cuda.synchronize()
    (event,) = launched(prof)
    (span,) = (e.time_range for e in prof.events() if e.name == "all")
    assert event.name == "Exp_f32"
    assert event.activity_type == "kernel"
    assert span.start - APART <= event.start <= event.time_range.end
    assert event.time_range.end <= span.end + APART
    meta = event.extra_meta
    assert len(meta["grid"]) == len(meta["block"]) == 3
    # As many threads as there are elements, or elements in vectors.
    assert meta["grid"][0] * meta["block"][0] >= 64 * 64 // 16
    assert meta["grid"][1:] == meta["block"][1:] == [1, 1]
    assert meta["registers per thread"] > 0
    assert meta["shared memory"] >= 0
    assert meta["correlation"] == event.flow_id
    assert (event.device_index, event.device_resource_id) == (0, 7)


def test_operators_have_the_times_of_all_their_kernels(cuda):
    """One that launches several has their sum, and gaps do not count."""
    x = torch.rand(2, 5000, device=cuda)
    linear = torch.nn.Linear(32, 16).to(cuda)
    y = torch.rand(8, 32, device=cuda)
    torch.cuda.synchronize()
    with profile(activities=BOTH) as prof:
        with torch.profiler.record_function("outer"):
            x.sort(1)
            linear(y).exp()
        linear(y).sum().backward()
    by_id = {e.id: e for e in prof.events()}
    work = [e for e in device_events(prof) if e.external_id]
    for event in prof.events():
        if event.device_type is DeviceType.CUDA:
            continue
        mine = [w for w in work if by_id[w.external_id] is event]
        assert event.kernels == [(w.name, 0, w.duration) for w in mine]
        assert event.self_device_time_total == pytest.approx(
            sum(w.duration for w in mine)
        )
        for w in mine:
            assert event.start - APART <= w.start
    (sort,) = (e for e in prof.events() if e.name == "aten::sort")
    kernels = [w for w in work if by_id[w.external_id] is sort]
    assert len(kernels) > 2
    assert len({w.extra_meta["correlation"] for w in kernels}) == len(kernels)
    outer = next(e for e in prof.events() if e.name == "outer")
    assert outer.device_time_total == pytest.approx(
        sum(c.device_time_total for c in outer.cpu_children)
    )
    row = next(r for r in prof.key_averages() if r.key == "aten::sort")
    assert row.device_time_total == pytest.approx(sum(w.duration for w in kernels))
    # The backward pass's belong to its nodes.
    owners = {e.kind for e in prof.events() if e.kernels}
    assert owners == {"operator", "node"}


def test_copies_and_fills(cuda):
    host = torch.rand(1000)
    pinned = host.pin_memory()
    with profile(activities=BOTH) as prof:
        x = host.to(cuda)
        y = pinned.to(cuda, non_blocking=True)
        x.clone()
        pinned.copy_(y, non_blocking=True)
        x.cpu()
        x.histc(10)
    copies = [
        (e.name, e.extra_meta["bytes"])
        for e in device_events(prof)
        if e.activity_type == "gpu_memcpy" and e.extra_meta["bytes"] > 400
    ]
    assert copies == [
        ("Memcpy HtoD (Pageable -> Device)", 4000),
        ("Memcpy HtoD (Pinned -> Device)", 4000),
        ("Memcpy DtoD (Device -> Device)", 4000),
        ("Memcpy DtoH (Device -> Pinned)", 4000),
        ("Memcpy DtoH (Device -> Pageable)", 4000),
    ]
    fills = [e for e in device_events(prof) if e.activity_type == "gpu_memset"]
    assert {e.name for e in fills} == {"Memset (Device)"}
    assert all(e.extra_meta["bytes"] > 0 for e in fills)


def test_copies_between_devices(cuda, two_devices):
    x = torch.rand(1000, device=cuda)
    y = torch.empty(1000, device="cuda:1")
    with profile(activities=BOTH) as prof:
        y.copy_(x)
        with torch.cuda.device(1):
            y.exp()
    (copy,) = (e for e in launched(prof) if e.activity_type == "gpu_memcpy")
    assert copy.name == "Memcpy PtoP (Device -> Device)"
    (kernel,) = (e for e in launched(prof) if e.name == "Exp_f32")
    assert kernel.device_index == 1


def test_traces_have_lanes_of_streams(cuda, tmp_path):
    x, stream = torch.rand(100, device=cuda), torch.cuda.Stream()
    with profile(activities=BOTH) as prof:
        for _ in range(3):
            x.exp().cpu()
            with torch.cuda.stream(stream):
                x.sin()
    prof.export_chrome_trace(tmp_path / "trace.json")
    trace = json.loads((tmp_path / "trace.json").read_text())
    assert "lost_device_records" not in trace
    rows = trace["traceEvents"]
    kernels = [r for r in rows if r.get("cat") == "kernel"]
    lanes = {r["name"]: r["tid"] for r in kernels}
    assert set(lanes) == {"Exp_f32", "Sin_f32"}
    assert lanes["Exp_f32"] == 7 != lanes["Sin_f32"]
    named = {
        (r["pid"], r["tid"]): r["args"]["name"]
        for r in rows
        if r["name"] == "thread_name"
    }
    for row in kernels:
        args = row["args"]
        assert set(args) == {
            "External id",
            "device",
            "stream",
            "correlation",
            "grid",
            "block",
            "registers per thread",
            "shared memory",
        }
        assert (row["pid"], row["tid"]) == (args["device"], args["stream"])
        assert named[row["pid"], row["tid"]] == f"stream {args['stream']}"
    of_ops = {
        r["args"]["External id"]: r["name"]
        for r in rows
        if r.get("cat") == "cpu_op" and "External id" in r["args"]
    }
    starts = {r["id"]: r for r in rows if r["ph"] == "s"}
    ends = {r["id"]: r for r in rows if r["ph"] == "f"}
    assert set(starts) == set(ends)
    calls = {
        (r["tid"], r["ts"]): r["name"] for r in rows if r.get("cat") == "cuda_runtime"
    }
    for row in kernels:
        name = row["name"].split("_")[0].lower()
        number = row["args"]["correlation"]
        assert of_ops[row["args"]["External id"]] == f"aten::{name}"
        start, end = starts[number], ends[number]
        assert calls[start["tid"], start["ts"]] == name
        assert (end["tid"], end["ts"]) == (row["tid"], row["ts"])


def test_eight_threads(cuda):
    """Each one's kernels are its own calls'."""
    functions = ("exp", "sin", "cos", "tan", "tanh", "sqrt", "neg", "abs")
    x = torch.rand(100, device=cuda)
    ready = threading.Barrier(len(functions))
    numbers = {}

    def work(name):
        numbers[threading.get_native_id()] = name
        ready.wait()
        with torch.cuda.stream(torch.cuda.Stream()):
            for _ in range(50):
                getattr(x, name)()

    threads = [threading.Thread(target=work, args=(f,)) for f in functions]
    with profile(activities=BOTH) as prof:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    counts = dict.fromkeys(functions, 0)
    lanes: dict[str, set] = {f: set() for f in functions}
    for event in launched(prof):
        name = numbers[event.thread]
        assert event.name.split("_")[0].lower() == name
        counts[name] += 1
        lanes[name].add(event.device_resource_id)
    assert set(counts.values()) == {50}
    assert all(len(lane) == 1 for lane in lanes.values())


def test_profiles_one_after_another(cuda):
    """Each has its own work; what was queued before is nobody's."""
    x = torch.rand(100, device=cuda)
    for name in ("exp", "sin", "cos"):
        for _ in range(100):
            x.tan()  # may still run when the profile begins
        with profile(activities=BOTH) as prof:
            getattr(x, name)()
        assert names(prof) == [name.capitalize()]
        x.tan()
    with profile(activities=BOTH) as prof:
        pass
    assert not device_events(prof)


def test_steps_and_interruptions(cuda):
    x = torch.rand(10, device=cuda)
    plan = schedule(wait=1, warmup=0, active=1, repeat=2)
    with profile(activities=BOTH, schedule=plan, acc_events=True) as prof:
        for name in ("exp", "sin", "cos", "tan", "log"):
            getattr(x, name)()
            prof.step()
    assert names(prof) == ["Sin", "Tan"]
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
    assert names(prof) == ["Exp", "Cos", "Log"]
    # Nothing that was left out is there without an owner.
    assert not [
        e
        for e in device_events(prof)
        if not e.external_id and e.activity_type == "kernel"
    ]


def test_errors_amid_calls(cuda):
    """Numbers are given back, and what a failed call launched has no owner."""
    x, wrong = torch.arange(4.0, device=cuda), torch.tensor([7], device=cuda)
    prof = profile(activities=BOTH)
    prof.start()
    x.exp()
    torch.gather(x, 0, wrong)
    x.sin()
    with pytest.raises(RuntimeError, match="index 7 is out of bounds"):
        prof.stop()
    assert [names(prof)[0], names(prof)[-1]] == ["Exp", "Sin"]
    other = torch.ones(3, device=cuda)
    with profile(activities=BOTH) as prof:
        x.exp()
        with pytest.raises(RuntimeError, match="inconsistent tensor size"):
            x @ other
        x.cos()
    assert names(prof) == ["Exp", "Cos"]


def test_what_is_asked_for_is_recorded(cuda):
    x = torch.rand(10, device=cuda)
    with profile(activities=[ProfilerActivity.CUDA]) as prof:
        x.exp()
    assert {e.kind for e in prof.events()} == {"device"}
    assert names(prof) == ["Exp"]
    with profile(activities=[ProfilerActivity.CPU]) as prof:
        x.exp()
    assert not device_events(prof)


def test_replays_of_graphs(cuda):
    x = torch.rand(100, device=cuda)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = x.exp().sin()
    with profile(activities=BOTH) as prof:
        graph.replay()
        graph.replay()
    found = [e.name.split("_")[0] for e in device_events(prof)]
    assert [n for n in found if n in ("Exp", "Sin")] == ["Exp", "Sin"] * 2
    assert y.tolist() == pytest.approx(x.exp().sin().tolist())
