"""torch.monitor; values recorded from PyTorch 2.13 unless said otherwise."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from hotaru.monitor import Aggregation, Event, Stat

from hotaru import monitor

# Windows do not end within a test, except where the clock is ours.
LONG = timedelta(days=100_000)


@pytest.fixture
def events():
    found = []
    handle = monitor.register_event_handler(found.append)
    yield found
    monitor.unregister_event_handler(handle)


def test_handlers(events):
    event = Event("name", datetime.now(), {"a": 1, "b": 2.5, "c": "x"})
    monitor.log_event(event)
    also = []
    handle = monitor.register_event_handler(also.append)
    monitor.log_event(event)
    monitor.unregister_event_handler(handle)
    monitor.unregister_event_handler(handle)
    monitor.log_event(event)
    assert events == [event] * 3
    assert also == [event]

    def refuse(event):
        raise ValueError("no")

    handle = monitor.register_event_handler(refuse)
    try:
        with pytest.raises(ValueError, match="no"):
            monitor.log_event(event)
    finally:
        monitor.unregister_event_handler(handle)


@pytest.mark.parametrize(
    "arguments",
    [
        (3, datetime.now(), {}),
        ("x", 3, {}),
        ("x", datetime.now(), {"a": [1]}),
        ("x", datetime.now(), {"a": None}),
        ("x", datetime.now(), {1: 1}),
    ],
)
def test_what_is_no_event(arguments):
    with pytest.raises(TypeError, match="incompatible constructor arguments"):
        Event(*arguments)
    with pytest.raises(TypeError, match="incompatible function arguments"):
        monitor.log_event(arguments)


def test_a_full_window(events):
    stat = Stat("v", tuple(Aggregation), LONG, 3)
    assert stat.get() == dict.fromkeys(Aggregation, 0.0)
    for count, value in ((1, 5), (2, 2.5), (0, 3)):
        stat.add(value)
        assert stat.count == count
    stat.add(100)  # in the same window
    assert stat.count == 0
    assert stat.get() == {
        Aggregation.VALUE: 3.0,  # PyTorch's documentation; it gives none
        Aggregation.MEAN: 3.5,
        Aggregation.COUNT: 3.0,
        Aggregation.SUM: 10.5,
        Aggregation.MAX: 5.0,
        Aggregation.MIN: 2.5,
    }
    (event,) = events
    assert event.name == monitor.STAT_EVENT == "torch.monitor.Stat"
    assert event.data["v.sum"] == 10.5
    assert event.data["v.count"] == 3.0


def test_windows_of_time(events, monkeypatch):
    now = [1000.5]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    stat = Stat("c", (Aggregation.SUM,), timedelta(seconds=10))
    stat.add(1)
    now[0] = 1009.9
    stat.add(2)
    assert stat.count == 2
    now[0] = 1010.0
    assert stat.get() == {Aggregation.SUM: 0.0}
    stat.add(4)
    assert stat.count == 1
    assert stat.get() == {Aggregation.SUM: 3.0}
    assert [e.data for e in events] == [{"c.sum": 3.0}]
    with pytest.raises(TypeError, match="incompatible function arguments"):
        stat.add("1")
    del stat  # says what there is
    assert [e.data for e in events] == [{"c.sum": 3.0}, {"c.sum": 4.0}]


def test_tensorboard():
    written = []

    class Writer:
        def add_scalar(self, name, value, walltime):
            written.append((name, value, walltime))

    when = datetime(2024, 5, 17, 12)
    handler = monitor.TensorboardEventHandler(Writer())
    handler(Event(monitor.STAT_EVENT, when, {"a.sum": 2.0}))
    handler(Event("other", when, {"b": 1}))
    assert written == [("a.sum", 2.0, when.timestamp())]


def test_wait_counter():
    with monitor._WaitCounter("name").guard():
        pass
