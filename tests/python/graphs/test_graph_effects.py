"""Effects of a compiled function besides its result happen once in each call,
whether or not a capture was tried.
"""

from __future__ import annotations

import array
import collections
import ctypes
import dataclasses
import functools
import io
import os
import queue
import threading

import numpy
import pytest

import hotaru as torch

X = torch.ones(2)


def _counted(add, count):
    """A function that does something, and how often it has done so."""

    def function(x):
        add()
        return x * 2

    return function, count


def _queue(kind):
    made = kind()
    return _counted(lambda: made.put(1), made.qsize)


def _file(kind, text):
    made = kind()
    return _counted(lambda: made.write(text), lambda: len(made.getvalue()))


def _semaphore():
    made = threading.Semaphore(9)
    return _counted(made.acquire, lambda: 9 - made._value)


def _event():
    made, found = threading.Event(), []

    def count():
        found.append(made.is_set())
        made.clear()
        return sum(found)

    return _counted(made.set, count)


def _thread():
    found = []

    def start():
        thread = threading.Thread(target=found.append, args=(1,))
        thread.start()
        thread.join()

    return _counted(start, lambda: len(found))


def _folder():
    found, name = [], f"/tmp/hotaru_effects_{os.getpid()}"

    def count():
        found.append(os.path.isdir(name))
        os.rmdir(name)
        return sum(found)

    return _counted(lambda: os.makedirs(name), count)


def _first(made):
    def add():
        made[0] += 1

    return _counted(add, lambda: int(made[0]))


def _longer(made, item):
    return _counted(lambda: made.extend(item), lambda: len(made))


def _cell():
    made = ctypes.c_int(0)

    def add():
        made.value += 1

    return _counted(add, lambda: made.value)


def _set():
    made = set()
    return _counted(lambda: made.add(len(made)), lambda: len(made))


def _class():
    class Counter:
        n = 0

        @classmethod
        def add(cls):
            cls.n += 1

    return _counted(Counter.add, lambda: Counter.n)


def _new_attribute():
    class Counter:
        pass

    def add():
        Counter.n = getattr(Counter, "n", 0) + 1

    return _counted(add, lambda: Counter.n)


def _function():
    def add():
        add.n = getattr(add, "n", 0) + 1

    return _counted(add, lambda: add.n)


def _wrapped_function():
    def counts(function):
        @functools.wraps(function)
        def run():
            run.n += 1
            function()

        run.n = 0
        return run

    add = counts(lambda: None)
    return _counted(add, lambda: add.n)


class Slotted:
    __slots__ = ("n",)

    def __init__(self):
        self.n = 0

    def add(self):
        self.n += 1


@dataclasses.dataclass(frozen=True)
class Frozen:
    n: int = 0

    def add(self):
        object.__setattr__(self, "n", self.n + 1)


def _object(made):
    return _counted(made.add, lambda: made.n)


def _keywords():
    made = functools.partial(dict)

    def add():
        made.keywords["n"] = made.keywords.get("n", 0) + 1

    return _counted(add, lambda: made.keywords["n"])


EFFECTS = {
    "queue": lambda: _queue(queue.Queue),
    "last in first out": lambda: _queue(queue.LifoQueue),
    "simple queue": lambda: _queue(queue.SimpleQueue),
    "text": lambda: _file(io.StringIO, "a"),
    "bytes": lambda: _file(io.BytesIO, b"a"),
    "semaphore": _semaphore,
    "event": _event,
    "thread": _thread,
    "folder": _folder,
    "bytearray": lambda: _first(bytearray(3)),
    "longer bytearray": lambda: _longer(bytearray(), b"a"),
    "array": lambda: _first(array.array("i", [0, 0])),
    "longer array": lambda: _longer(array.array("i"), [1]),
    "numpy": lambda: _first(numpy.zeros(3)),
    "strided numpy": lambda: _first(numpy.zeros((3, 2))[:, 1]),
    "memory": lambda: _first(memoryview(bytearray(3))),
    "ctypes array": lambda: _first((ctypes.c_int * 3)()),
    "ctypes cell": _cell,
    "set": _set,
    "deque": lambda: _longer(collections.deque(), [1]),
    "class": _class,
    "new attribute of a class": _new_attribute,
    "function": _function,
    "wrapped function": _wrapped_function,
    "keywords": _keywords,
    "slots": lambda: _object(Slotted()),
    "frozen": lambda: _object(Frozen()),
}


@pytest.mark.parametrize("name", EFFECTS)
def test_once_a_call(name):
    function, count = EFFECTS[name]()
    run = torch.compile(function)
    for calls in (1, 2, 3):
        assert run(X).tolist() == [2.0, 2.0]
        assert count() == calls


def test_kept_results_are_the_users():
    """No tensor of a capture, whose values are the graph's, is kept so."""

    @functools.lru_cache
    def ramp(n):
        return torch.arange(n).float()

    def function(x):
        return (x * 3).exp() + ramp(x.shape[0]) - (x * 3).exp()

    run = torch.compile(function)
    for n in (2, 3, 2, 3):
        assert run(torch.zeros(n)).tolist() == list(map(float, range(n)))
    assert run.captures == 2
    for n in (2, 3):
        assert ramp(n).tolist() == list(map(float, range(n)))
        ramp(n).add_(1)
        wanted = [i + 1.0 for i in range(n)]
        assert run(torch.zeros(n)).tolist() == wanted


SETTINGS = {
    "gradients": (torch.set_grad_enabled, torch.is_grad_enabled, False),
    "dtype": (torch.set_default_dtype, torch.get_default_dtype, torch.float64),
    "device": (torch.set_default_device, torch.get_default_device, "meta"),
    "threads": (torch.set_num_threads, torch.get_num_threads, 3),
    "autocast": (
        functools.partial(torch.set_autocast_enabled, "cpu"),
        functools.partial(torch.is_autocast_enabled, "cpu"),
        True,
    ),
    "determinism": (
        torch.use_deterministic_algorithms,
        torch.are_deterministic_algorithms_enabled,
        True,
    ),
    "anomalies": (torch.autograd.set_detect_anomaly, torch.is_anomaly_enabled, True),
    "warnings": (torch.set_warn_always, torch.is_warn_always_enabled, True),
}


@pytest.mark.parametrize("fails", [False, True])
@pytest.mark.parametrize("name", SETTINGS)
def test_settings_are_set_in_each_call(name, fails):
    put, get, value = SETTINGS[name]
    before = get()
    wanted = torch.device(value) if name == "device" else value

    def function(x):
        if get() != before:
            raise AssertionError
        put(value)
        if fails:
            raise ValueError("the function's own")
        return x * 2

    run = torch.compile(function)
    try:
        for _ in range(3):
            if fails:
                with pytest.raises(ValueError, match="own"):
                    run(X)
            else:
                run(X)
            assert get() == wanted
            put(before)
    finally:
        put(before)


@pytest.mark.parametrize("around", [False, True])
@pytest.mark.parametrize("within", [False, True])
def test_results_of_another_inference_mode(around, within):
    def function(x):
        with torch.inference_mode(within):
            return x.clone() * 2

    run = torch.compile(function)
    with torch.inference_mode(around):
        for _ in range(3):
            assert run(X).is_inference() == within


@pytest.mark.parametrize("frozen", [False, True])
@pytest.mark.parametrize("slots", [False, True])
def test_states_of_records(frozen, slots):
    @dataclasses.dataclass(frozen=frozen, slots=slots)
    class State:
        h: object

    state = State(torch.zeros(2))

    def function(x):
        object.__setattr__(state, "h", state.h * 2 + x)
        return state.h - 1

    run = torch.compile(function, fullgraph=True)
    for wanted in (1.0, 3.0, 7.0, 15.0):
        assert run(X).tolist() == [wanted - 1] * 2
        assert state.h.tolist() == [wanted] * 2
    object.__setattr__(state, "h", torch.zeros(2))
    assert run(X).tolist() == [0.0, 0.0]


@pytest.mark.filterwarnings("ignore:An output with one or more elements")
def test_a_view_that_out_makes_larger():
    """It is written beside its own elements, in the caller's memory."""

    def f(x):
        v = x.movedim(0, -1)
        out = x[None].expand(2, *x.shape)
        torch.add(v, v, out=out)
        return out * 1

    run = torch.compile(f)
    for _ in range(2):
        bases = [torch.arange(24.0).reshape(4, 6) for _ in range(2)]
        results = [g(b[:, ::2]) for g, b in zip((f, run), bases)]
        assert torch.equal(*results)
        assert torch.equal(*bases)


ARGUMENTS = {
    "whole": lambda make: make(3),
    "view": lambda make: make(4)[1:],
    "alias": lambda make: make(3).view(3),
    "detached": lambda make: make(4)[1:].detach(),
}
DETACHING = {
    "method": lambda x: x.detach_(),
    "function": lambda x: torch.detach_(x),
    "of a view": lambda x: x.view(3).detach_(),
    "of what is made": lambda x: (x * 2).detach_(),
}


@pytest.mark.filterwarnings("ignore:compile: ")
@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.bool])
@pytest.mark.parametrize("way", DETACHING)
@pytest.mark.parametrize("first", ARGUMENTS)
def test_only_what_is_no_view_detaches_itself(first, way, dtype):
    def f(x):
        DETACHING[way](x)
        return x * 1

    def make(n):
        return torch.ones(n, dtype=dtype)

    run = torch.compile(f)
    for name in (first, *ARGUMENTS, first):
        outcomes = []
        for g in (f, run):
            try:
                outcomes.append(g(ARGUMENTS[name](make)).tolist())
            except RuntimeError as error:
                outcomes.append(str(error))
        assert outcomes[0] == outcomes[1], name


def test_a_capture_that_fails_counts_no_writes():
    kept, view = torch.zeros(3), torch.zeros(4)[1:]

    def function(x):
        kept.add_(1)
        view.mul_(2)
        return x.sum().item()

    compiled = torch.compile(function)
    for count in range(1, 4):
        assert compiled(torch.ones(2)) == 2.0
        assert (kept._version, view._version) == (count, count)
        assert kept.tolist() == [count] * 3


@pytest.mark.parametrize("result", ["argument", "own", "view"])
def test_bytes_of_bools_are_kept(result):
    def function(b):
        if result == "own":
            b = torch.zeros(3, dtype=torch.bool) | b
        if result == "view":
            b = torch.ones(2, 3, dtype=torch.bool)[0]
        b.view(torch.uint8).add_(2)
        return b

    compiled = torch.compile(function)
    for _ in range(3):
        b = torch.tensor([True, True, True])
        made = compiled(b)
        assert made.view(torch.uint8).tolist() == [3, 3, 3]
        again = torch.tensor([7, 0, 2], dtype=torch.uint8).view(torch.bool)
        if result == "argument":
            assert b.view(torch.uint8).tolist() == [3, 3, 3]
            assert compiled(again).view(torch.uint8).tolist() == [9, 2, 4]
            assert again.view(torch.uint8).tolist() == [9, 2, 4]


@pytest.mark.cpu_graphs("elsewhere the host's numbers come by a copy")
def test_tensors_of_no_elements_are_made_amid_a_capture():
    graph = torch.cpu.Graph()
    x = torch.ones(2)
    with torch.cpu.graph(graph):
        none = torch.tensor([])
        y = torch.cat([x, none]) * 2
        assert none.tolist() == []
    x.fill_(3)
    graph.replay()
    assert y.tolist() == [6, 6]
