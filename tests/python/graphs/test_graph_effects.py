"""Effects of a compiled function besides its result happen once in each call,
whether or not a capture was tried; what it reads counts however far it lies.
"""

from __future__ import annotations

import array
import collections
import ctypes
import dataclasses
import functools
import importlib
import io
import operator
import os
import queue
import threading
import types

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


def _chain(length):
    last = first = types.SimpleNamespace(v=1.0)
    for _ in range(length):
        first = types.SimpleNamespace(next=first)

    def function(x):
        link = first
        while hasattr(link, "next"):
            link = link.next
        return x * link.v

    return function, functools.partial(setattr, last, "v")


def _calls(length):
    scope = {"v": 1.0}
    texts = ["def f0(x): return x * v"]
    texts += [f"def f{i + 1}(x): return f{i}(x)" for i in range(length)]
    exec("\n".join(texts), scope)
    return scope[f"f{length}"], functools.partial(scope.__setitem__, "v")


def _nests(length):
    last = nest = [1.0]
    for _ in range(length):
        nest = [nest]

    def function(x):
        inner = nest
        while isinstance(inner[0], list):
            inner = inner[0]
        return x * inner[0]

    return function, functools.partial(last.__setitem__, 0)


def _many(length):
    items = [[1.0] for _ in range(length)]
    return (
        lambda x: x * items[-1][0],
        functools.partial(items[-1].__setitem__, 0),
    )


@pytest.mark.parametrize(
    ("make", "length"),
    [
        *((make, n) for make in (_chain, _calls, _nests) for n in (7, 40, 150)),
        (_many, 30_000),
    ],
)
def test_what_is_far_away_counts(make, length):
    function, put = make(length)
    run = torch.compile(function)
    for value in (1.0, 2.0, 5.0):
        put(value)
        assert run(X).tolist() == [value, value]


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
    "dtype": (
        torch.set_default_dtype,
        torch.get_default_dtype,
        torch.float64,
    ),
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
    "anomalies": (
        torch.autograd.set_detect_anomaly,
        torch.is_anomaly_enabled,
        True,
    ),
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


FACTOR = 1.0


def _scaled(x):
    return x * FACTOR


class Decorated(torch.nn.Module):
    @torch.no_grad()
    def forward(self, x):
        return x * FACTOR


class Bound:
    @torch.no_grad()
    def method(self, x):
        return x * FACTOR

    @functools.singledispatchmethod
    def by_type(self, x):
        return x * FACTOR

    def _with(self, a, x):
        return x * a * FACTOR

    partial = functools.partialmethod(_with, 1)


@torch.library.custom_op("effects::scaled", mutates_args=())
def scaled_op(x: torch.Tensor) -> torch.Tensor:
    return x * FACTOR


WITHIN = {
    "no_grad": torch.no_grad()(_scaled),
    "enable_grad": torch.enable_grad()(_scaled),
    "set_grad_enabled": torch.set_grad_enabled(False)(_scaled),
    "inference_mode": torch.inference_mode()(_scaled),
    "autocast": torch.autocast("cpu")(_scaled),
    "record_function": torch.profiler.record_function("a")(_scaled),
    "twice": torch.no_grad()(torch.autocast("cpu")(_scaled)),
    "grad": torch.func.grad(lambda x: _scaled(x).sum()),
    "vmap": torch.func.vmap(_scaled),
    "checkpoint": functools.partial(
        torch.utils.checkpoint.checkpoint, _scaled, use_reentrant=False
    ),
    "module": Decorated(),
    "parallel": torch.nn.DataParallel(Decorated()),
    "method": Bound().method,
    "by type": Bound().by_type,
    "partial method": Bound().partial,
    "operator": scaled_op,
}


@pytest.mark.parametrize("inner", [False, True])
@pytest.mark.parametrize("name", WITHIN)
def test_code_within_decorators_of_this_package(name, inner, monkeypatch):
    function = WITHIN[name]
    run = torch.compile((lambda x: function(x)) if inner else function)
    for value in (1.0, 2.0, 5.0):
        monkeypatch.setitem(globals(), "FACTOR", value)
        assert run(X).tolist() == [value, value]


def test_writes_of_decorated_functions_count():
    weight = torch.nn.Parameter(torch.zeros(2))

    @torch.no_grad()
    def update():
        weight.mul_(0.5).add_(1)

    run = torch.compile(update)
    for calls in (1, 2, 3):
        run()
        assert weight._version == 2 * calls


def _normal():
    made = torch.distributions.Normal(0.0, 1.0)
    return (
        lambda x: x * made.mean,
        lambda value: setattr(made, "loc", torch.tensor(value)),
    )


def _transform():
    made = torch.distributions.transforms.AffineTransform(0.0, 1.0)
    return made, lambda value: setattr(made, "scale", value)


def _tensors():
    made = torch.utils.data.TensorDataset(torch.ones(3, 2))
    return (
        lambda x: made[0][0] * x,
        lambda value: setattr(made, "tensors", (torch.ones(3, 2) * value,)),
    )


class Scales(torch.utils.data.Dataset):
    factor = 1.0

    def __getitem__(self, index):
        return self.factor * (index + 1)


def _subset():
    whole = Scales()
    made = torch.utils.data.Subset(whole, [0])
    return (
        lambda x: made[0] * x,
        lambda value: setattr(whole, "factor", value),
    )


def _patched():
    def put(value):
        torch.nn.functional.scaled = lambda x: x * value

    return lambda x: torch.nn.functional.scaled(x), put


HELD = {
    "distribution": _normal,
    "transform": _transform,
    "data set": _tensors,
    "part of a data set": _subset,
    "function put into a module": _patched,
}


@pytest.mark.parametrize("name", HELD)
def test_what_objects_of_this_package_hold_counts(name):
    function, put = HELD[name]()
    put(1.0)
    run = torch.compile(function, fullgraph=True)
    for value in (1.0, 2.0, 5.0):
        put(value)
        assert run(X).tolist() == [value, value]
    vars(torch.nn.functional).pop("scaled", None)


HOME = types.ModuleType("effects_home")


def _first_of_home(x):
    return x * HOME.a


def _second_of_home(x):
    return x * HOME.b


def _both(x):
    return _first_of_home(x) + _second_of_home(x)


class Held:
    def __init__(self):
        self.inner = types.SimpleNamespace(v=1.0)

    def scaled(self, x):
        return x * self.inner.v


HELD_ONE = Held()
VALUE_OF, SCALED = (
    operator.attrgetter("inner.v"),
    operator.methodcaller("scaled", X),
)
TEXT = "x * FACTOR"


def _run(x):
    scope = {"x": x}
    exec("found = x * FACTOR", globals(), scope)
    return scope["found"]


def _put_factor(value):
    globals()["FACTOR"] = value


def _put_held(value):
    HELD_ONE.inner.v = value


BY_NAME = {
    "first of a module": (_both, lambda v: vars(HOME).update(a=v, b=0.0)),
    "second of a module": (_both, lambda v: vars(HOME).update(a=0.0, b=v)),
    "globals": (lambda x: x * globals()["FACTOR"], _put_factor),
    "eval": (lambda x: eval(TEXT, globals(), {"x": x}), _put_factor),
    "exec": (_run, _put_factor),
    "import_module": (
        lambda x: x * importlib.import_module(__name__).FACTOR,
        _put_factor,
    ),
    "getattr of a module": (
        lambda x: x * getattr(HOME, "text", 0.0),
        lambda v: setattr(HOME, "text", v),
    ),
    "hasattr of a module": (
        lambda x: x * 2 if hasattr(HOME, "late") else x,
        lambda v: setattr(HOME, "late", v) if v == 2.0 else None,
    ),
    "attrgetter": (lambda x: x * VALUE_OF(HELD_ONE), _put_held),
    "methodcaller": (lambda x: SCALED(HELD_ONE), _put_held),
}


@pytest.mark.parametrize("name", BY_NAME)
def test_what_code_finds_by_name(name):
    function, put = BY_NAME[name]
    HOME.a = HOME.b = 1.0
    put(1.0)
    run = torch.compile(function)
    run(X)
    for value in (1.0, 2.0):
        put(value)
        assert run(X).tolist() == [value, value]


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
