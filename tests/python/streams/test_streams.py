"""CPU streams from Python: asynchrony, order, errors, and random programs on
several streams against the same programs on the default stream.
"""

import json
import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import hotaru as torch

# 10,000 programs by night: HOTARU_STREAM_PROGRAMS=10000.
PROGRAMS = int(os.environ.get("HOTARU_STREAM_PROGRAMS", "300"))


@pytest.fixture(autouse=True)
def two_workers():
    """A pool that can run two streams beside the caller."""
    threads = torch.get_num_threads()
    torch.set_num_threads(3)
    yield
    torch.cpu.synchronize()
    torch.set_num_threads(threads)


def busy_stream():
    """A stream amid work that takes some milliseconds, and its result."""
    stream = torch.cpu.Stream()
    x = torch.full((300, 300), 1e-3)
    with torch.cpu.stream(stream):
        for _ in range(40):
            x = x @ x
    return stream, x


def test_work_is_queued_and_waited_for():
    stream, x = busy_stream()
    assert not stream.query()
    stream.synchronize()
    assert stream.query()
    assert x.isfinite().all()


def test_reading_a_value_waits():
    stream = torch.cpu.Stream()
    with torch.cpu.stream(stream):
        x = torch.ones(1000, 1000)
        for _ in range(5):
            x = x + 1
    assert x[0, 0].item() == 6
    assert np.asarray(x)[-1, -1] == 6
    assert str(x[0, :2]) == "tensor([6., 6.])"
    assert bool((x == 6).all())
    assert x[:1, :2].tolist() == [[6, 6]]


def test_numpy_memory_outlives_its_owner():
    stream = torch.cpu.Stream()
    array = np.ones(100_000, dtype=np.float32)
    with stream:
        y = torch.from_numpy(array)
        for _ in range(20):
            y = y * 2
    del array
    assert y.sum().item() == 100_000 * 2.0**20


def test_the_current_stream_belongs_to_the_thread():
    stream = torch.cpu.Stream()
    seen = []
    with torch.cpu.stream(stream):
        assert torch.cpu.current_stream() == stream
        thread = threading.Thread(
            target=lambda: seen.append(torch.cpu.current_stream())
        )
        thread.start()
        thread.join()
        with torch.cpu.stream(None):
            assert torch.cpu.current_stream() == stream
    assert torch.cpu.current_stream().stream_id == 0
    assert seen[0].stream_id == 0


def test_a_stream_is_left_when_the_block_raises():
    with pytest.raises(KeyError), torch.cpu.Stream():
        raise KeyError
    assert torch.cpu.current_stream().stream_id == 0


def test_streams_compare_and_hash():
    a, b = torch.cpu.Stream(), torch.Stream(device="cpu")
    with a:
        assert torch.cpu.current_stream() == a != b
    assert len({a, b, torch.cpu.current_stream()}) == 3
    assert "device_type=cpu" in repr(a)
    assert a.device == torch.device("cpu")


def test_events_between_streams():
    a, _ = busy_stream()
    event = a.record_event()
    b = torch.cpu.Stream()
    b.wait_event(event)
    end = b.record_event()
    end.synchronize()
    assert event.query()
    assert a.query()


def test_wait_stream_and_default_stream():
    a, _ = busy_stream()
    torch.cpu.current_stream().wait_stream(a)
    assert a.query()


def test_event_timing():
    start = torch.Event(enable_timing=True)
    end = torch.Event(enable_timing=True)
    stream = torch.cpu.Stream()
    with stream:
        start.record()
        x = torch.ones(500, 500)
        x = x @ x
        end.record()
    end.synchronize()
    assert 0 < start.elapsed_time(end) < 60_000
    with pytest.raises(RuntimeError, match="enable_timing=True"):
        torch.Event().elapsed_time(end)
    with pytest.raises(RuntimeError, match="must be recorded"):
        torch.Event(enable_timing=True).elapsed_time(end)
    assert torch.Event().query()


def test_an_error_is_raised_at_the_next_synchronisation():
    stream = torch.cpu.Stream()
    x = torch.arange(4.0)
    with stream:
        bad = torch.gather(x, 0, torch.tensor([7]))
        good = x + 1
    with pytest.raises(RuntimeError, match=r"(?s)7.*queued call of gather"):
        stream.synchronize()
    stream.synchronize()
    assert good.tolist() == [1, 2, 3, 4]
    with pytest.raises(RuntimeError, match="queued call of gather"):
        bad.item()
    with stream:
        assert (x * 2).tolist() == [0, 2, 4, 6]


def test_an_error_is_not_lost_when_the_interpreter_ends():
    program = (
        "import hotaru as torch\n"
        "with torch.cpu.Stream():\n"
        "    torch.gather(torch.arange(4.0), 0, torch.tensor([7]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True
    )
    assert "queued call of gather" in done.stderr


def test_autograd_over_streams():
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1)
    )
    x = torch.randn(32, 8)

    def gradients():
        model.zero_grad()
        (model(x) ** 2).mean().backward()
        return [p.grad.clone() for p in model.parameters()]

    want = gradients()
    stream = torch.cpu.Stream()
    with stream:
        found = gradients()
    for a, b in zip(want, found):
        assert torch.equal(a, b)


def test_a_training_loop_on_a_stream_equals_the_default_one():
    def train():
        torch.manual_seed(1)
        model = torch.nn.Sequential(
            torch.nn.Linear(4, 8),
            torch.nn.Tanh(),
            torch.nn.Dropout(0.1),
            torch.nn.Linear(8, 1),
        )
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
        losses = []
        for _ in range(10):
            x = torch.randn(16, 4)
            loss = ((model(x) - x.sum(1, keepdim=True)) ** 2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.detach())
        return torch.stack(losses)

    want = train()
    with torch.cpu.Stream():
        found = train()
    assert torch.equal(want, found)


def test_many_threads_with_streams_of_their_own():
    results = [None] * 8

    def work(index):
        stream = torch.cpu.Stream()
        with stream:
            x = torch.full((50, 50), float(index))
            for _ in range(50):
                x = x + 1
        results[index] = x

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for index, x in enumerate(results):
        assert x[3, 3].item() == index + 50


def test_threads_that_share_tensors_across_streams_never_deadlock():
    shared = [torch.zeros(10) for _ in range(4)]

    def work(seed):
        order = np.random.default_rng(seed)
        stream = torch.cpu.Stream()
        with stream:
            for _ in range(300):
                a, b = order.choice(4, 2, replace=False)
                shared[a].add_(shared[b], alpha=0)
        stream.synchronize()

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
        assert not thread.is_alive()
    assert all(t.sum().item() == 0 for t in shared)


def test_synchronize_checks_its_device():
    torch.cpu.synchronize()
    torch.cpu.synchronize("cpu")
    torch.cpu.synchronize(0)
    torch.device("cpu").synchronize()
    torch.accelerator.synchronize()
    with pytest.raises(ValueError, match="Expected a cpu device"):
        torch.cpu.synchronize("cuda")
    with pytest.raises(ValueError, match="only device 0"):
        torch.cpu.synchronize(3)


@pytest.mark.skipif(
    torch.cuda.is_available(), reason="what a machine without a GPU says"
)
def test_without_a_gpu_cuda_refuses_to_synchronize_and_its_streams():
    for refused in (
        torch.device("cuda").synchronize,
        torch.cuda.Stream,
        torch.cuda.Event().record,
    ):
        with pytest.raises(RuntimeError, match="Found no NVIDIA driver"):
            refused()


def test_cuda_enters_cpu_streams():
    stream = torch.cpu.Stream()
    with torch.cuda.stream(stream):
        assert torch.cpu.current_stream() == stream
    with pytest.raises(TypeError, match="expected a Stream"):
        torch.cpu.stream("cpu")


# --- random programs ---------------------------------------------------------

VARIABLES = 4
STREAMS = 3

_step = st.tuples(
    st.sampled_from(["add", "mul", "inplace", "view", "matmul", "copy", "draw", "cat"]),
    st.integers(0, STREAMS - 1),
    st.integers(0, VARIABLES - 1),
    st.integers(0, VARIABLES - 1),
)


def run_program(steps, streams):
    """The variables after the steps, each on the stream it names."""
    torch.manual_seed(5)
    variables = [torch.full((6, 6), 0.25 * i) for i in range(VARIABLES)]
    for kind, stream, a, b in steps:
        with torch.cpu.stream(streams[stream] if streams else None):
            x, y = variables[a], variables[b]
            if kind == "add":
                variables[a] = x + y * 0.5
            elif kind == "mul":
                variables[a] = (x * y).tanh()
            elif kind == "inplace":
                x.mul_(0.5).add_(y, alpha=0.25)
            elif kind == "view":
                x[1:3].copy_(y[3:5])
            elif kind == "matmul":
                variables[a] = (x @ y.t()).sigmoid()
            elif kind == "copy":
                x.copy_(y)
            elif kind == "draw":
                x.uniform_()
            else:
                variables[a] = torch.cat([x[:3], y[3:]])
    return torch.stack(variables)


@settings(max_examples=PROGRAMS, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(_step, min_size=1, max_size=40))
def test_random_programs_equal_the_default_stream(steps):
    want = run_program(steps, None)
    found = run_program(steps, [torch.cpu.Stream() for _ in range(STREAMS)])
    assert torch.equal(want, found)


# --- profiler ----------------------------------------------------------------


def test_profiler_records_calls_of_all_streams(tmp_path):
    stream = torch.cpu.Stream()
    with torch.profiler.profile(record_shapes=True) as prof:
        with torch.profiler.record_function("outer"):
            x = torch.ones(20, 20)
            y = x @ x
        with stream:
            z = y.exp()
    names = {event.name for event in prof.events()}
    assert {"matmul", "exp", "outer"} <= names
    by_name = {event.name: event for event in prof.events()}
    assert by_name["exp"].stream == stream.stream_id
    assert by_name["matmul"].stream == 0
    outer = by_name["outer"]
    inner = by_name["matmul"]
    assert outer.start <= inner.start
    assert inner.start + inner.duration <= outer.start + outer.duration
    assert outer.self_duration <= outer.duration - inner.duration + 1e-6

    table = prof.key_averages().table(sort_by="count", row_limit=3)
    assert "# of Calls" in table
    assert "Self CPU time total" in table
    with pytest.raises(ValueError, match="sort_by"):
        prof.key_averages().table(sort_by="colour")
    shaped = prof.key_averages(group_by_input_shape=True)
    assert any([20, 20] in map(list, row.input_shapes) for row in shaped)

    path = tmp_path / "trace.json"
    prof.export_chrome_trace(path)
    rows = json.loads(path.read_text())["traceEvents"]
    calls = [row for row in rows if row["ph"] == "X" and row["name"] == "exp"]
    assert {row["pid"] for row in calls} == {0, os.getpid()}
    assert all(row["dur"] >= 0 for row in rows if row["ph"] == "X")
    assert z.shape == (20, 20)


def test_only_one_profiler_runs():
    """The one that began last, with the calls of all streams."""
    empty = pytest.warns(UserWarning, match="another one began inside")
    stream = torch.cpu.Stream()
    with empty, torch.profiler.profile() as first:
        torch.ones(3).exp()
        with torch.profiler.profile() as second, torch.cpu.stream(stream):
            torch.ones(3).sin()
        torch.ones(3).exp()
    assert first.events() == []
    assert {"sin", "aten::sin"} <= {event.name for event in second.events()}
    assert "exp" not in {event.name for event in second.events()}
    with torch.cuda.profiler.profile() as prof:
        torch.ones(3) + 1
    assert prof.events()


def test_profiler_schedule():
    ready = []
    schedule = torch.profiler.schedule(wait=1, warmup=1, active=2, repeat=1)
    with torch.profiler.profile(
        schedule=schedule,
        on_trace_ready=lambda prof: ready.append(
            len([e for e in prof.events() if e.kind == "kernel"])
        ),
    ) as prof:
        for _ in range(8):
            torch.ones(3).add_(1)
            prof.step()
    assert len(ready) == 1
    assert ready[0] == 4  # fill and add, in each of two steps
