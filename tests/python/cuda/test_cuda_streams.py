"""Streams and events of CUDA devices."""

from __future__ import annotations

import threading

import pytest

import hotaru as torch


def test_streams_print_compare_and_know_their_device():
    stream, other = torch.cuda.Stream(), torch.cuda.Stream(device=0)
    assert isinstance(stream, torch.Stream)
    assert stream == stream
    assert stream != other
    assert len({stream, other, stream}) == 2
    assert stream.device == torch.device("cuda:0")
    assert stream.cuda_stream != 0
    assert repr(stream) == (
        f"<torch.cuda.Stream device=cuda:0 cuda_stream={stream.cuda_stream:#x}>"
    )
    default = torch.cuda.default_stream()
    assert isinstance(default, torch.cuda.Stream)
    assert repr(default) == ("<torch.cuda.Stream device=cuda:0 cuda_stream=0x0>")
    assert default == torch.cuda.current_stream()
    assert default.__cuda_stream__() == (0, 0)
    assert stream._as_parameter_.value == stream.cuda_stream


def test_priorities_are_brought_into_their_range():
    least, greatest = torch.cuda.Stream.priority_range()
    assert greatest < least <= 0
    assert torch.cuda.Stream().priority == 0
    assert torch.cuda.Stream(priority=-1).priority == -1
    assert torch.cuda.Stream(priority=-100).priority == greatest
    assert torch.cuda.Stream(priority=100).priority == least
    stream = torch.cuda.Stream(priority=greatest)
    with torch.cuda.stream(stream):
        assert torch.cuda.current_stream().priority == greatest


def test_a_block_sends_its_operators_to_a_stream():
    stream = torch.cuda.Stream()
    x = torch.arange(1000.0, device="cuda")
    with torch.cuda.stream(stream) as entered:
        assert entered == stream
        assert torch.cuda.current_stream() == stream
        assert isinstance(torch.cuda.current_stream(), torch.cuda.Stream)
        y = x * 2
        with torch.cuda.stream(None):
            assert torch.cuda.current_stream() == stream
        with torch.cuda.stream(torch.cuda.default_stream()):
            z = y + 1  # waits by itself
        assert torch.cuda.current_stream() == stream
    assert torch.cuda.current_stream() == torch.cuda.default_stream()
    stream.synchronize()
    assert stream.query()
    assert z.cpu().equal(torch.arange(1000.0) * 2 + 1)


def test_a_block_restores_after_an_error():
    before = torch.cuda.current_stream()
    with pytest.raises(ZeroDivisionError), torch.cuda.stream(torch.cuda.Stream()):
        1 / 0  # noqa: B018
    assert torch.cuda.current_stream() == before


def test_a_stream_makes_its_device_current(two_devices):
    far = torch.cuda.Stream(device=1)
    near = torch.cuda.Stream()
    for entering in (torch.cuda.stream(far), far):
        with torch.cuda.stream(near):
            with entering:
                assert torch.cuda.current_device() == 1
                assert torch.cuda.current_stream() == far
                assert torch.cuda.current_stream(0) == near
                made = torch.ones(3, device="cuda") + 1
                assert made.device == torch.device("cuda:1")
            assert torch.cuda.current_device() == 0
            assert torch.cuda.current_stream() == near
            assert torch.cuda.current_stream(1) == torch.cuda.default_stream(1)
        assert made.tolist() == [2, 2, 2]


def test_set_stream_sets_the_device(two_devices):
    far = torch.cuda.Stream(device="cuda:1")
    torch.cuda.set_stream(far)
    assert torch.cuda.current_device() == 1
    assert torch.cuda.current_stream() == far
    torch.cuda.set_stream(None)
    assert torch.cuda.current_stream() == far


def test_streams_are_current_for_their_thread():
    stream, seen = torch.cuda.Stream(), []
    with torch.cuda.stream(stream):
        thread = threading.Thread(
            target=lambda: seen.append(torch.cuda.current_stream())
        )
        thread.start()
        thread.join()
    assert seen == [torch.cuda.default_stream()]


def test_cpu_streams_beside_cuda_ones():
    queued, stream = torch.cpu.Stream(), torch.cuda.Stream()
    with torch.cuda.stream(stream), torch.cuda.stream(queued):
        assert torch.cpu.current_stream() == queued
        assert torch.cuda.current_stream() == stream
        x = torch.ones(3) + 1
    assert x.cuda().tolist() == [2, 2, 2]
    assert torch.cpu.current_stream() != queued
    assert torch.Stream().device == torch.device("cpu")
    assert torch.Stream("cuda").device == torch.device("cuda:0")


def test_events_mark_and_wait():
    stream, other = torch.cuda.Stream(), torch.cuda.Stream()
    event = torch.cuda.Event()
    assert repr(event) == "<torch.cuda.Event uninitialized>"
    assert event.device is None
    assert event.query()
    x = torch.zeros(1000, device="cuda")
    with torch.cuda.stream(stream):
        x += 1
        event.record()
    assert event.device == torch.device("cuda:0")
    assert repr(event).startswith("<torch.cuda.Event 0x")
    other.wait_event(event)
    with torch.cuda.stream(other):
        event.wait()
        x *= 2
    torch.cuda.current_stream().wait_stream(other)
    event.synchronize()
    assert event.query()
    assert x.sum().item() == 2000
    made = other.record_event()
    assert isinstance(made, torch.cuda.Event)
    assert other.record_event(event) is event


def test_events_measure_time():
    begin = torch.cuda.Event(enable_timing=True)
    end = torch.cuda.Event(enable_timing=True)
    with pytest.raises(RuntimeError, match="must be recorded before calcula"):
        begin.elapsed_time(end)
    begin.record()
    torch.ones(1000, device="cuda").sum()
    end.record()
    assert 0 <= begin.elapsed_time(end) < 10_000  # it waits
    assert end.query()
    untimed = torch.cuda.Event()
    untimed.record()
    with pytest.raises(RuntimeError, match="'enable_timing=True'"):
        begin.elapsed_time(untimed)


def test_events_stay_on_their_device_but_any_stream_waits(two_devices):
    event = torch.cuda.Event()
    event.record()
    far = torch.cuda.Stream(1)
    with pytest.raises(
        RuntimeError, match="Event device 0 does not match recording stream's device 1"
    ):
        event.record(far)
    event.wait(far)
    far.wait_stream(torch.cuda.current_stream())
    far.synchronize()


def test_external_streams():
    stream = torch.cuda.Stream()
    same = torch.cuda.ExternalStream(stream.cuda_stream)
    assert isinstance(same, torch.cuda.Stream)
    assert same.cuda_stream == stream.cuda_stream
    with torch.cuda.stream(same):
        x = torch.ones(10, device="cuda") + 1
    same.synchronize()
    assert x.sum().item() == 20
    again = torch.cuda.get_stream_from_external(stream.cuda_stream, "cuda:0")
    assert again.cuda_stream == stream.cuda_stream
    assert torch.cuda.get_stream_from_external(0) == torch.cuda.default_stream()


def test_misuse():
    with pytest.raises(TypeError, match="expected a Stream or None"):
        torch.cuda.stream("cuda")
    with pytest.raises(ValueError, match="Expected a stream of a cuda device"):
        torch.cuda.set_stream(torch.cpu.Stream())
    with pytest.raises(TypeError, match="expected a Stream or None"):
        torch.cuda.Event().record(0)
    with pytest.raises(ValueError, match="Expected a stream of a cuda device"):
        torch.cuda.Event().record(torch.cpu.current_stream())
    with pytest.raises(RuntimeError, match="invalid device ordinal"):
        torch.cuda.Stream(device=99)
    with pytest.raises(ValueError, match="Expected a cuda device"):
        torch.cuda.Stream(device="cpu")
    with pytest.raises(ValueError, match="Expected a cuda device"):
        torch.cuda.current_stream("cpu")
    with pytest.raises(NotImplementedError, match="between processes"):
        torch.cuda.Event(interprocess=True)
    with pytest.raises(NotImplementedError, match="between processes"):
        torch.cuda.Event().ipc_handle()
    with pytest.raises(NotImplementedError, match="graphs record no events"):
        torch.cuda.Event(external=True)


def test_tensors_need_no_record_stream():
    x = torch.ones(10, device="cuda")
    assert x.record_stream(torch.cuda.Stream()) is None
    with pytest.raises(TypeError, match="expected a Stream, but got int"):
        x.record_stream(0)


MANY_THREADS = """
import threading
import hotaru as torch

def work(number):
    try:
        use_a_stream(number)
    except Exception as error:
        print(error)

def use_a_stream(number):
    stream = torch.cuda.Stream()
    for _ in range(20):
        with torch.cuda.stream(stream):
            x = torch.full((100,), float(number), device="cuda")
            event = stream.record_event()
        torch.cuda.current_stream().wait_event(event)
        if (x + 1).sum().item() != 100 * (number + 1):
            print("wrong", number)

threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("done")
"""


def test_many_threads_make_and_use_streams(run):
    assert run(MANY_THREADS) == "done\n"
