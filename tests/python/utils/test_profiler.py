"""torch.profiler and torch.autograd.profiler: operators, ranges, tables.

Kernel calls and streams are in streams/test_streams.py.
"""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
import threading
import time
import weakref

import pytest
from hotaru.autograd.profiler_util import EventList, FunctionEvent, FunctionEventAvg
from hotaru.profiler import ProfilerAction, profile, record_function
from hotaru.profiler._inner.body import Row
from hotaru.profiler._operators import _events_of

import hotaru
from hotaru import profiler


def _operators(prof) -> list[str]:
    """Names of operators that Python called."""
    found = [e for e in prof.events() if e.kind == "operator"]
    return [e.name for e in found if e.cpu_parent not in found]


def test_operators_that_python_calls():
    x, linear = hotaru.rand(3, 4), hotaru.nn.Linear(4, 2)
    with profile() as prof:
        y = linear(x * 2 - 1)
        y += 1
        1 - y
        x[0], x[1:], y.sum(), x.shape
        hotaru.nn.functional.dropout(y, 0.5)
    hotaru.ones(3)  # not in it
    assert _operators(prof) == [
        "aten::mul",
        "aten::sub",
        "aten::linear",
        "aten::add_",
        "aten::rsub",
        "aten::select",
        "aten::slice",
        "aten::sum",
        "aten::dropout",
    ]
    assert not hotaru.overrides._get_current_function_mode_stack()


def test_kernels_lie_in_operators():
    x = hotaru.rand(64, 64)
    with profile() as prof, record_function("outer"):
        x.exp()
    by_name = {e.name: e for e in prof.events()}
    outer, operator = by_name["outer"], by_name["aten::exp"]
    kernel = by_name["exp"]
    assert kernel.cpu_parent is operator
    assert operator.cpu_parent is outer
    assert outer.cpu_children == [operator]
    assert operator.self_cpu_time_total == pytest.approx(
        operator.duration - kernel.duration
    )
    # Every moment counts once.
    assert prof.events().self_cpu_time_total == pytest.approx(outer.duration)


def test_shapes_and_values():
    x = hotaru.rand(2, 6)
    with profile(record_shapes=True) as prof:
        x.as_strided([4, 3], [1, 4])
        hotaru.nn.functional.linear(x, hotaru.rand(3, 6), hotaru.rand(3))
    by_name = {e.name: e for e in prof.events()}
    strided = next(e for e in prof.events() if e.name == "aten::as_strided")
    assert strided.input_shapes == [[2, 6], [], [], []]
    assert strided.concrete_inputs == [None, [4, 3], [1, 4], None]
    assert by_name["aten::linear"].input_shapes == [[2, 6], [3, 6], [3]]


def test_ranges_with_inputs():
    x = hotaru.rand(2, 3)
    fast = hotaru._C._profiler._RecordFunctionFast
    with profile(record_shapes=True) as prof:
        with record_function("text", "1, 2"), record_function("none"):
            pass
        with pytest.raises(ZeroDivisionError), fast("fast", [x], {"a": 1}):
            1 / 0  # noqa: B018
        opened = hotaru.autograd._record_function_with_args_enter("with", 1, x)
        hotaru.autograd._record_function_with_args_exit(opened)
        opened = hotaru.ops.profiler._record_function_enter("legacy", None)
        hotaru.ops.profiler._record_function_exit(opened)
        hotaru.ops.profiler._record_function_exit(opened)
    found = {e.name: e for e in prof.events()}
    assert set(found) == {"text", "none", "fast", "with", "legacy"}
    assert len(prof.events()) == 5
    assert found["text"].input_shapes == [[]]
    assert found["none"].input_shapes == []
    assert found["fast"].input_shapes == [[2, 3]]
    assert found["fast"].kwinputs == {"a": 1}
    assert found["with"].input_shapes == [[], [2, 3]]
    assert all(e.is_user_annotation for e in prof.key_averages())
    with pytest.raises(TypeError, match="keyword_values must be dict"):
        fast("name", [x], [1])


def test_enabled():
    enabled = hotaru.autograd._profiler_enabled
    assert not enabled()
    for kind in (profile, hotaru.autograd.profiler.profile):
        with kind():
            assert enabled()
            assert hotaru.autograd.profiler._is_profiler_enabled
        assert not enabled()
    with hotaru.autograd.profiler.profile(enabled=False):
        assert not enabled()


def test_modes_of_the_program_stay():
    """A profile that ends inside of a mode takes away its own alone."""

    class Count(hotaru.overrides.TorchFunctionMode):
        calls = 0

        def __torch_function__(self, func, types, args=(), kwargs=None):
            Count.calls += 1
            return func(*args, **(kwargs or {}))

    x, prof = hotaru.rand(3), profile()
    prof.start()
    with Count() as mode:
        x.exp()
        prof.stop()
        stack = hotaru.overrides._get_current_function_mode_stack()
        assert stack == [mode]
        x.sin()
    assert Count.calls == 2
    assert _operators(prof) == ["aten::exp"]


def test_derivatives_under_a_profile():
    x = hotaru.rand(3, requires_grad=True)
    with profile() as prof:
        (x * x).sum().backward()
    assert x.grad.equal(2 * x.detach())
    assert _operators(prof)[:2] == ["aten::mul", "aten::sum"]


@pytest.mark.parametrize("active", [1, 2])
def test_events_of_all_recordings(active):
    def count(**options) -> int:
        plan = profiler.schedule(wait=1, warmup=0, active=active, repeat=3)
        with profile(schedule=plan, **options) as prof:
            for _ in range(20):
                hotaru.ones(2)
                prof.step()
        return _operators(prof).count("aten::ones")

    assert count() == active
    assert count(acc_events=True) == 3 * active


def test_steps_are_ranges_and_counted():
    tracker = hotaru.autograd.profiler.KinetoStepTracker
    before = tracker.current_step()
    with profile(schedule=profiler.schedule(wait=1, warmup=0, active=2)) as p:
        for _ in range(3):
            tracker.increment_step("another")
            p.step()
    assert [e.name for e in p.events() if e.is_range] == [
        "ProfilerStep#1",
        "ProfilerStep#2",
    ]
    assert tracker.current_step() == before + 3
    assert tracker.erase_step_count("another")
    assert not tracker.erase_step_count("another")


def test_schedule_without_the_first_wait():
    plan = profiler.schedule(
        skip_first=1, wait=2, warmup=1, active=1, repeat=2, skip_first_wait=1
    )
    none, warm = ProfilerAction.NONE, ProfilerAction.WARMUP
    save = ProfilerAction.RECORD_AND_SAVE
    assert list(map(plan, range(8))) == [none, warm, save, none, none, warm, save, none]


def _event(number, start, end, thread=0, name="f"):
    return FunctionEvent(
        id=number, name=name, thread=thread, start_us=start, end_us=end
    )


def test_what_lies_in_what():
    """As in PyTorch 2.13: what only overlaps is not inside."""
    spans = [(0, 1, 1), (1, 2, 1), (0, 2, 0), (1, 2, 0), (1, 3, 0)]
    events = EventList(
        _event(i, start, end, thread) for i, (start, end, thread) in enumerate(spans)
    )
    events._populate_cpu_children()
    inside = [[child.id for child in e.cpu_children] for e in events]
    assert inside == [[], [], [], [], [3]]


def test_times_count_from_the_start(monkeypatch):
    """A machine's hundred years leave room for nanoseconds within a call."""
    clock = time.perf_counter_ns
    monkeypatch.setattr(time, "perf_counter_ns", lambda: clock() + 10**17)
    a, b = hotaru.ones(4, 4), hotaru.ones(4, 5)
    with profile(record_shapes=True) as prof:
        hotaru.einsum("ij,jk", a, b)
    (call,) = (e for e in prof.events() if e.name == "aten::einsum")
    assert 0 <= call.start < 1e7
    assert len(call.cpu_children) == 12
    assert call.cpu_children[-1].time_range.end == call.time_range.end


@pytest.mark.parametrize("work", [None, 0, 3])
def test_what_a_call_is_made_of_lies_in_it(work):
    """Whatever the rounding of its time."""
    one = Row("view", [], [], (), False, 1, 0)
    rows = tuple(Row("reshape", [], [], (one, one), i == work, 3, 0) for i in range(4))
    for i in range(100):
        start = 73452697049.643 + i / 7
        call = _event(0, start, start + 0.02 * (i + 1))
        inside = _events_of(rows, call, *call.time_range, False, False)
        events = EventList([call, *inside])
        events._populate_cpu_children()
        assert [len(e.cpu_children) for e in events] == [4, *[2, 0, 0] * 4]


def test_sums():
    average = FunctionEventAvg()
    average.add(_event(0, 10, 15)).add(_event(1, 20, 30))
    average.add(average)
    assert (average.key, average.count) == ("f", 4)
    assert average.cpu_time_total == average.self_cpu_time_total == 30
    assert average.cpu_time == 7.5
    with pytest.raises(AssertionError, match="Expected an event of 'f'"):
        average.add(_event(2, 0, 1, name="g"))


def test_table():
    events = EventList([_event(0, 0, 10), _event(1, 2, 5, name="inside")])
    events._populate_cpu_children()
    text = events.key_averages().table(sort_by="self_cpu_time_total")
    lines = text.splitlines()
    assert lines[3].split() == [
        "f",
        "70.00%",
        "7.000us",
        "100.00%",
        "10.000us",
        "10.000us",
        "1",
    ]
    assert lines[4].split()[:3] == ["inside", "30.00%", "3.000us"]
    assert lines[-1] == "Self CPU time total: 10.000us"
    top = events.table(header="TEST", top_level_events_only=True)
    assert top.startswith("TEST\n")
    assert "inside" not in top
    with pytest.raises(ValueError, match="sort_by must be one of"):
        events.table(sort_by="name")


def test_callers(tmp_path):
    with profile(with_stack=True) as prof:
        hotaru.rand(200, 200).matmul(hotaru.rand(200, 200))
    event = next(e for e in prof.events() if e.name == "aten::matmul")
    assert event.stack[0].startswith(f"{__file__}(")
    assert event.stack[0].endswith("): test_callers")
    prof.export_stacks(str(tmp_path / "stacks"))
    lines = (tmp_path / "stacks").read_text().splitlines()
    assert any("test_callers" in line for line in lines)
    assert all(int(line.rpartition(" ")[2]) > 0 for line in lines)
    assert not any("profiler/_" in caller for caller in event.stack)
    with pytest.raises(ValueError, match="metric should be one of"):
        prof.export_stacks(str(tmp_path / "stacks"), "self_xpu_time_total")


def test_traces(tmp_path):
    handler = profiler.tensorboard_trace_handler(str(tmp_path / "a"), "worker")
    with profile(on_trace_ready=handler) as prof:
        hotaru.ones(2)
    prof.add_metadata("who", "me")
    prof.add_metadata_json("what", "[1, 2]")
    (path,) = (tmp_path / "a").iterdir()
    assert path.name.startswith("worker.")
    assert path.name.endswith(".pt.trace.json")
    prof.export_chrome_trace(tmp_path / "trace")
    trace = json.loads((tmp_path / "trace").read_text())
    assert (trace["who"], trace["what"]) == ("me", [1, 2])
    kinds = {row.get("cat") for row in trace["traceEvents"]}
    assert {"cpu_op", "kernel"} <= kinds
    with pytest.raises(ValueError, match="use_gzip is not supported"):
        profiler.tensorboard_trace_handler("x", use_gzip=True)


@pytest.mark.parametrize("option", ["with_modules"])
def test_what_is_not_recorded_is_a_warning(option):
    with pytest.warns(UserWarning, match=f"{option}=True"):
        profile(**{option: True})


def test_loaders_and_pipes_are_named():
    from hotaru.utils.data import DataLoader, datapipes

    loader = DataLoader([1, 2, 3])
    pipe = datapipes.iter.IterableWrapper([1, 2])
    with hotaru.autograd.profiler.profile() as prof:
        assert len(list(loader)) == 3
        assert list(pipe) == [1, 2]
    found = [e.name for e in prof.function_events if e.is_range]
    name = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
    assert found.count(name) == 4  # the last finds the end
    name = "enumerate(DataPipe)#IterableWrapperIterDataPipe"
    assert found.count(name) == 3
    assert list(pipe) == [1, 2]


MISUSES = {
    "stop": (lambda p: p.stop(), "before stopping trace"),
    "events": (lambda p: p.events(), "before accessing events"),
    "key_averages": (lambda p: p.key_averages(), "before getting key averages"),
    "trace": (
        lambda p: p.export_chrome_trace("t.json"),
        "before exporting chrome trace",
    ),
    "stacks": (lambda p: p.export_stacks("s.txt"), "before exporting stacks"),
}


@pytest.mark.parametrize("misuse", MISUSES)
def test_a_profiler_that_was_not_started(misuse):
    use, text = MISUSES[misuse]
    with pytest.raises(AssertionError, match=f"must be initialized {text}"):
        use(profile(activities=[profiler.ProfilerActivity.CPU]))


def test_what_a_profiler_is_not_made_for(tmp_path):
    for activities in (["cpu"], []):
        with pytest.raises(AssertionError, match="No valid profiler activ"):
            profile(activities=activities)
    with profile(activities=[profiler.ProfilerActivity.CPU]) as p:
        hotaru.ones(2) + 1
    with pytest.raises(AssertionError, match="requires with_stack=True"):
        p.export_stacks(str(tmp_path / "s.txt"))


def test_traces_of_that_name_are_compressed(tmp_path):
    with profile(activities=[profiler.ProfilerActivity.CPU]) as p:
        hotaru.ones(2) + 1
    path = tmp_path / "trace.json.gz"
    p.export_chrome_trace(str(path))
    with gzip.open(path, "rt") as file:
        assert "traceEvents" in json.load(file)


def test_a_profiler_may_still_run_at_the_end():
    program = (
        "import hotaru as torch\n"
        "from hotaru.profiler import profile\n"
        "p = profile(); p.start(); torch.ones(2) + 1\n"
    )
    done = subprocess.run([sys.executable, "-c", program], check=False)
    assert done.returncode == 0


_LOST = "ignore:the profile holds nothing"
_KINDS = [profile, hotaru.autograd.profiler.profile]


def _names(prof) -> list[str]:
    events = getattr(prof, "events", lambda: prof.function_events)()
    return [e.name for e in events if e.kind in ("operator", "range")]


@pytest.mark.filterwarnings(_LOST)
@pytest.mark.parametrize("outer", _KINDS)
@pytest.mark.parametrize("inner", _KINDS)
def test_a_profile_inside_of_another_takes_over(outer, inner):
    x = hotaru.ones(2)
    enabled = hotaru.autograd._profiler_enabled
    with outer() as first:
        x.exp()
        with inner() as second:
            x.sin()
            with record_function("range"):
                x.cos()
        assert not enabled()
        x.exp()
        with inner() as third:
            x.tan()
    assert _names(first) == []
    assert _names(second) == ["aten::sin", "range", "aten::cos"]
    assert _names(third) == ["aten::tan"]
    assert not hotaru.overrides._get_current_function_mode_stack()
    assert first.key_averages().table() == ""
    with outer() as again:
        x.log()
    assert _names(again) == ["aten::log"]


@pytest.mark.filterwarnings(_LOST)
@pytest.mark.parametrize("outer", _KINDS)
@pytest.mark.parametrize("inner", _KINDS)
def test_profiles_that_cross(outer, inner):
    """Whoever ends first has what the last one that began has recorded."""
    x = hotaru.ones(2)
    first, second = outer(), inner()
    first.__enter__()
    x.exp()
    second.__enter__()
    x.sin()
    first.__exit__(None, None, None)
    x.cos()
    second.__exit__(None, None, None)
    assert _names(first) == ["aten::sin"]
    assert _names(second) == []
    assert not hotaru.overrides._get_current_function_mode_stack()


@pytest.mark.filterwarnings(_LOST)
def test_an_error_in_the_inner_profile():
    x = hotaru.ones(2)
    with profile() as first:
        second = profile()
        with pytest.raises(AttributeError), second:
            x.sin().raises  # noqa: B018
        x.exp()
    assert (_names(first), _names(second)) == ([], ["aten::sin"])


@pytest.mark.filterwarnings(_LOST)
def test_profiles_inside_of_steps():
    x = hotaru.ones(2)
    found = []
    steps = profiler.schedule(wait=0, warmup=0, active=1, repeat=2)
    with profile(
        schedule=steps, on_trace_ready=lambda p: found.append(_names(p))
    ) as prof:
        for number in range(3):
            x.exp()
            if number == 0:
                with profile():
                    x.sin()
            x.cos()
            prof.step()
    assert found == [[], ["ProfilerStep#1", "aten::exp", "aten::cos"]]
    with profile() as outer:
        inner = profile(schedule=steps)
        inner.start()
        inner.stop()
    assert outer.events() == []


def test_a_profile_that_is_started_again_begins_from_nothing():
    x = hotaru.ones(2)
    prof = profile()
    prof.start()
    x.exp()
    prof.start()
    x.sin()
    prof.stop()
    assert _names(prof) == ["aten::sin"]


@pytest.mark.filterwarnings(_LOST)
def test_a_profile_of_another_thread_takes_over():
    """Calls of the first thread are no longer noted."""
    x = hotaru.ones(2)
    begun, over = threading.Event(), threading.Event()
    found = []

    def other():
        with profile() as prof:
            x.sin()
            begun.set()
            over.wait()
        found.append(_names(prof))

    with profile() as prof:
        x.exp()
        thread = threading.Thread(target=other)
        thread.start()
        begun.wait()
        x.exp()
        over.set()
        thread.join()
    assert _names(prof) == []
    assert found == [["aten::sin"]]
    assert not hotaru.overrides._get_current_function_mode_stack()


def test_operators_of_other_operators():
    """They lie in each other, the kernel in the innermost that works."""
    x, linear = hotaru.rand(5, 4), hotaru.nn.Linear(4, 2)
    with profile() as prof:
        linear(x)
    found = [e for e in prof.events() if e.kind == "operator"]
    assert [(e.name, e.cpu_parent and e.cpu_parent.name) for e in found] == [
        ("aten::linear", None),
        ("aten::t", "aten::linear"),
        ("aten::transpose", "aten::t"),
        ("aten::as_strided", "aten::transpose"),
        ("aten::addmm", "aten::linear"),
        ("aten::expand", "aten::addmm"),
        ("aten::as_strided", "aten::expand"),
    ]
    kernels = [e for e in prof.events() if e.kind == "kernel"]
    assert kernels
    assert {e.cpu_parent.name for e in kernels} == {"aten::addmm"}
    # Every moment counts once.
    assert prof.events().self_cpu_time_total == pytest.approx(found[0].duration)
    assert all(e.input_shapes == [] == e.concrete_inputs for e in found)


def test_inputs_are_those_from_before_the_call():
    x = hotaru.rand(2, 3)
    with profile(record_shapes=True) as prof:
        x.unsqueeze_(0)
    assert prof.events()[0].input_shapes == [[2, 3], []]


def test_a_profile_keeps_no_tensor():
    x = hotaru.rand(2, 3)
    gone = weakref.ref(x)
    with profile(record_shapes=True):
        x.reshape(3, 2)
        hotaru.cat([x, x])
        del x
        assert gone() is None


def test_sums_by_shape():
    x, y = hotaru.rand(4, 4), hotaru.rand(2, 4)
    with profile(record_shapes=True) as prof:
        for given in (x, x, y):
            given @ x
    sums = prof.key_averages(group_by_input_shape=True)
    assert [(e.input_shapes, e.count) for e in sums if e.key == "aten::mm"] == [
        ([[4, 4], [4, 4]], 2),
        ([[2, 4], [4, 4]], 1),
    ]


class _Strange(hotaru.Tensor):
    """A tensor without strides of its own."""

    @staticmethod
    def __new__(cls, data):
        made = hotaru.Tensor._make_wrapper_subclass(cls, data.size())
        made.inner = data
        return made

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        args = [a.inner if isinstance(a, _Strange) else a for a in args]
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize(
    "call",
    [
        lambda: hotaru.eye(2).to_sparse() @ hotaru.eye(2),
        lambda: hotaru.eye(2).to_sparse().sum(),
        lambda: hotaru.nested.nested_tensor([hotaru.ones(2)]) * 2,
        lambda: hotaru.ones(2, device="meta").reshape(1, 2),
        lambda: hotaru.ones(0, 3).reshape(3, 0, 1),
        lambda: hotaru.ones(0, 3) @ hotaru.ones(3, 2),
        lambda: hotaru.tensor(1.0).mean(),
        lambda: hotaru.tensor(1.0).flatten(),
        lambda: hotaru.tensor(1.0).t(),
        lambda: _Strange(hotaru.ones(2, 2)).t(),
        lambda: hotaru.quantize_per_tensor(
            hotaru.ones(2, 2), 1.0, 0, hotaru.qint8
        ).reshape(4),
        lambda: hotaru.einsum("ii->i", hotaru.ones(2, 2)),
        lambda: hotaru.einsum("...,...->...", hotaru.ones(2), hotaru.ones(2)),
    ],
)
def test_whatever_is_given_is_recorded(call):
    with profile(record_shapes=True) as prof:
        call()
    assert prof.key_averages(group_by_input_shape=True).table()


def test_calls_that_are_refused_are_recorded():
    x = hotaru.ones(2, 3)
    with profile(record_shapes=True) as prof:
        for call in (
            lambda: x @ x,
            lambda: x.reshape(5, -1),
            lambda: x.select(7, 0),
            lambda: hotaru.einsum("ij,k->", x, x),
            lambda: hotaru.nn.functional.linear(x, x[0], x),
        ):
            with pytest.raises((RuntimeError, IndexError, ValueError)):
                call()
    assert "aten::matmul" in _operators(prof)


_FLOPS = {
    "mm": lambda x, y: (hotaru.mm(x, y), 48),
    "matmul": lambda x, y: (x @ y, 48),
    "addmm": lambda x, y: (hotaru.addmm(y[0], x, y), 48),
    "linear": lambda x, y: (hotaru.nn.functional.linear(x, y.t(), y[0]), 48),
    "bmm": lambda x, y: (hotaru.bmm(x[None], y[None]), 48),
    "batches": lambda x, y: (x.expand(2, 2, 3) @ y.expand(2, 3, 4), 96),
    "baddbmm": lambda x, y: (hotaru.baddbmm(y[:2], x[None], y[None]), 48),
    "add": lambda x, y: (x + x, 6),
    "the first's": lambda x, y: (x[:1] + x, 3),
    "mul": lambda x, y: (2 * x, 6),
    "numbers": lambda x, y: (x[0, 0] * x[0, 0], 1),
    "others": lambda x, y: ((x - x).exp().add_(x), 0),
    "nothing": lambda x, y: (x[:0] @ y, 0),
    "nothing inside": lambda x, y: (x[:, :0] @ y[:0], 0),
    "conv2d": lambda x, y: (
        hotaru.nn.functional.conv2d(
            hotaru.ones(2, 4, 8, 8),
            hotaru.ones(6, 2, 3, 3),
            groups=2,
            stride=2,
            padding=1,
            dilation=2,
        ),
        3888,
    ),
}


@pytest.mark.parametrize("name", _FLOPS)
@pytest.mark.parametrize("kind", _KINDS)
def test_counts_of_operations(kind, name):
    x, y = hotaru.rand(2, 3), hotaru.rand(3, 4)
    with kind(with_flops=True) as prof:
        _, wanted = _FLOPS[name](x, y)
    assert prof.key_averages().total_average().flops == wanted
    table = prof.key_averages().table()
    assert ("FLOPs" in table) is (wanted > 0)


def test_where_operations_are_counted():
    x = hotaru.rand(2, 3)
    with profile(with_flops=True) as prof:
        for _ in range(3):
            x @ x.t()
    found = {e.key: e.flops for e in prof.key_averages() if e.flops}
    assert found == {"aten::mm": 72}
    (event, *_) = [e for e in prof.events() if e.name == "aten::mm"]
    assert event.flops == 24
    assert event.input_shapes == [[2, 3], [3, 2]]
    with profile(record_shapes=True) as prof:
        x @ x.t()
    assert {e.flops for e in prof.events()} == {0}
    assert "FLOPs" not in prof.key_averages().table()


@pytest.mark.parametrize(
    ("sizes", "title", "texts"),
    [
        ([10], "Total KFLOPs", ["2.000"]),
        ([10, 100], "Total KFLOPs", ["2.000", "2000.000"]),
        ([300], "Total MFLOPs", ["54.000"]),
        ([2], "Total FLOPs", ["16.000"]),
    ],
)
def test_columns_of_operations(sizes, title, texts):
    """The smallest count chooses the unit."""
    with profile(with_flops=True) as prof:
        for size in sizes:
            x = hotaru.ones(size, size)
            hotaru.mm(x, x)
    rows = prof.events().table().splitlines()
    assert rows[1].strip().endswith(title)
    found = [row.split()[-1] for row in rows if row.split()[0] == "aten::mm"]
    assert found == texts
