"""Profiles where CUPTI does what it seldom does: with its stand-in, which tests
can tell to. What it always does is in test_cuda_profiler_kernels.py.
"""

from __future__ import annotations

import pytest
from stand_ins import passes_with

import hotaru

_PRELUDE = """
import json, os, warnings
from hotaru.profiler import DeviceType, ProfilerActivity, profile
BOTH = [ProfilerActivity.CPU, ProfilerActivity.CUDA]
x = torch.arange(6.0, device="cuda")
y = torch.empty(6, device="cuda")


def device_events(prof):
    return [e for e in prof.events() if e.device_type is DeviceType.CUDA]


def names(prof):
    return [e.name for e in device_events(prof) if e.activity_type == "kernel"]


def no_faults():
    assert library.hotaru_softgpu_cupti_faults() == 0
    assert library.hotaru_softgpu_cupti_pushed() == 0
"""

passes = passes_with("CUPTI", _PRELUDE)


def test_what_had_no_place_is_said(passes, tmp_path, monkeypatch):
    """One buffer of 2 MiB has at most 9,709 records of kernels."""
    monkeypatch.setenv("HOTARU_CUPTI_BUFFER_MB", "2")
    monkeypatch.setenv("TRACE", str(tmp_path / "trace.json"))
    passes("""
CALLS = 12_000
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    with profile(activities=BOTH) as prof:
        for _ in range(CALLS):
            torch.exp(x, out=y)
(warning,) = told
lost = int(str(warning.message).split("lacks ")[1].split()[0])
found = names(prof)
assert set(found) == {"Exp_f32"}
assert 1000 < len(found) < 9710
# Each call has a kernel, a number and a call of the driver.
assert lost >= CALLS - len(found)
assert len(found) + lost <= 3 * CALLS
assert "HOTARU_CUPTI_BUFFER_MB" in str(warning.message)
assert all(e.external_id for e in device_events(prof))
assert sum(e.kind == "kernel" for e in prof.events()) == CALLS
prof.export_chrome_trace(os.environ["TRACE"])
with open(os.environ["TRACE"]) as file:
    assert json.load(file)["lost_device_records"] == lost
# The next profile has the memory again.
with warnings.catch_warnings():
    warnings.simplefilter("error")
    with profile(activities=BOTH) as prof:
        torch.exp(x, out=y)
assert names(prof) == ["Exp_f32"]
no_faults()
""")


def test_without_memory_there_is_nothing_but_a_warning(passes, monkeypatch):
    monkeypatch.setenv("HOTARU_CUPTI_BUFFER_MB", "0")
    passes("""
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    with profile(activities=BOTH) as prof:
        torch.exp(x, out=y)
assert ["the profile lacks" in str(w.message) for w in told] == [True]
assert not device_events(prof)
assert [e.name for e in prof.events()] == ["aten::exp", "exp"]
no_faults()
""")


def test_kernels_of_libraries_are_told_apart_by_plain_names(passes):
    passes("""
w = torch.rand(8, 8, device="cuda")
with profile(activities=BOTH) as prof:
    w @ w
assert names(prof) == ["hotaru::soft_gpu::library()"]
no_faults()
""")


@pytest.mark.parametrize("kind", [10, 39, 5])
def test_events_serve_where_cupti_will_not(passes, kind):
    """Whichever kind of record it refuses; the others are given up, and the
    next profile may have them.
    """
    passes(f"""
library.hotaru_softgpu_cupti_refuse({kind})
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    with profile(activities=BOTH) as prof:
        x.exp()
(warning,) = told
assert "cuptiActivityEnable" in str(warning.message)
assert "INSUFFICIENT_PRIVILEGES" in str(warning.message)
assert [e.name for e in device_events(prof)] == ["exp"]
os.environ["HOTARU_CUPTI"] = "0"
with warnings.catch_warnings():
    warnings.simplefilter("error")
    with profile(activities=BOTH) as prof:
        x.exp()
assert [e.name for e in device_events(prof)] == ["exp"]
del os.environ["HOTARU_CUPTI"]
library.hotaru_softgpu_cupti_refuse(-1)
with profile(activities=BOTH) as prof:
    torch.exp(x, out=y)
assert names(prof) == ["Exp_f32"]
no_faults()
""")


@pytest.mark.parametrize("version", [17, 29, 120000, 129999, 130600, 140000])
def test_records_of_other_versions_are_not_read(cuda, run, version):
    if not hotaru._C._cuda_in_software():
        pytest.skip("a GPU: its CUPTI is what it is")
    printed = run(
        f"""
import ctypes
import hotaru as torch
from hotaru.profiler import ProfilerActivity, profile
x = torch.arange(6.0, device="cuda")
with open("/proc/self/maps") as maps:
    driver = ctypes.CDLL(next(
        line.split()[-1] for line in maps if "libhotaru_softgpu" in line))
driver.hotaru_softgpu_cupti_is({version})
with profile(activities=[ProfilerActivity.CUDA]) as prof:
    x.exp()
print([e.name for e in prof.events()])
[report] = torch._C._cuda_libraries("CUPTI")
print(report["version"], report["why_not"])
""",
        HOTARU_CUDA_LIBRARIES="soft",
        PYTHONWARNINGS="error",
    )
    events, report = printed.splitlines()
    assert events == "['exp']"
    assert report.startswith(" ")
    assert report.endswith(f", not of {version}")


def test_why_it_is_not_used(cuda, run):
    program = """
import hotaru as torch
torch.zeros(1, device="cuda")
[report] = torch._C._cuda_libraries("CUPTI")
print(report["name"], report["why_not"])
"""
    choice = {"HOTARU_CUDA_LIBRARIES": "none"}
    assert run(program, **choice) == "CUPTI HOTARU_CUDA_LIBRARIES is none\n"
    if hotaru._C._cuda_in_software():
        printed = run(program, HOTARU_CUDA_LIBRARIES="")
        assert "the GPU in software" in printed


def test_a_device_that_is_lost(passes, monkeypatch):
    """Calls that it never ran count as lost; the next profile is whole."""
    # The device begins nothing by itself before it is lost.
    monkeypatch.setenv("HOTARU_SOFT_GPU_DELAY_US", "100000000")
    passes("""
prof = profile(activities=BOTH)
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    try:
        with prof:
            torch.exp(x, out=y)
            library.hotaru_softgpu_fail(0, 719)
    except torch.AcceleratorError as error:
        assert "unspecified launch failure" in str(error)
    else:
        assert False
assert names(prof) == []
(warning,) = told
assert "lacks 1 records" in str(warning.message)
assert "a device never did it" in str(warning.message)
library.hotaru_softgpu_fail(0, 0)
with prof:
    torch.sin(x, out=y)
assert names(prof) == ["Sin_f32"]
no_faults()
""")


def test_others_work_has_no_owner(passes):
    """Work of another library of the process: it calls the driver itself."""
    passes("""
fill = library.cuMemsetD8Async
fill.argtypes = [ctypes.c_void_p, ctypes.c_ubyte, ctypes.c_size_t,
                 ctypes.c_void_p]
z = torch.empty(1000, device="cuda")
with profile(activities=BOTH) as prof:
    torch.exp(x, out=y)
    assert fill(z.data_ptr(), 1, 1234, None) == 0
exp, filled = sorted(device_events(prof), key=lambda e: e.name)
assert filled.name == "Memset (Device)"
assert filled.extra_meta["bytes"] == 1234
assert filled.external_id == 0 and filled.flow_id is None
assert exp.external_id
assert z[0].item() > 0
rows = {r.key: r.device_time_total for r in prof.key_averages()}
assert rows["Memset (Device)"] == filled.duration
no_faults()
""")


def test_what_is_left_of_other_profiles_is_not_ours(passes):
    """Numbers of an earlier profile, as a call amid its end has, and buffers
    that another profiler of the process asked for.
    """
    passes("""
fill = library.cuMemsetD8Async
fill.argtypes = [ctypes.c_void_p, ctypes.c_ubyte, ctypes.c_size_t,
                 ctypes.c_void_p]
push = library.cuptiActivityPushExternalCorrelationId
push.argtypes = [ctypes.c_int, ctypes.c_uint64]
for number in range(1, 4):
    with profile(activities=BOTH) as prof:
        torch.exp(x, out=y)
        for stale in range(1, number):
            assert push(3, stale << 40) == 0
            assert fill(y.data_ptr(), 1, 4, None) == 0
            assert library.cuptiActivityPopExternalCorrelationId(3, None) == 0
        library.hotaru_softgpu_cupti_stray()
    assert [e.name for e in device_events(prof)] == ["Exp_f32"]
no_faults()
""")


def test_profiles_come_and_go_while_threads_launch(passes):
    """No call has another's kernels, and all numbers are given back."""
    passes("""
import threading
functions = "exp sin cos tan tanh sqrt neg abs".split()
over = threading.Event()
owners = {}


def work(name):
    owners[threading.get_native_id()] = name
    z = torch.empty(6, device="cuda")
    with torch.cuda.stream(torch.cuda.Stream()):
        while not over.is_set():
            for _ in range(20):
                getattr(torch, name)(x, out=z)
            torch.cuda.synchronize()


threads = [threading.Thread(target=work, args=(f,)) for f in functions]
for thread in threads:
    thread.start()
seen = rounds = 0
warnings.simplefilter("ignore")
while rounds < 40 or (not seen and rounds < 4000):
    rounds += 1
    with profile(activities=BOTH) as prof:
        torch.log(x, out=y)
    for event in device_events(prof):
        if event.external_id and event.activity_type == "kernel":
            name = owners.get(event.thread, "log")
            assert event.name.split("_")[0].lower() == name, (event, name)
            seen += name != "log"
over.set()
for thread in threads:
    thread.join()
assert seen > 0, rounds
no_faults()
""")
