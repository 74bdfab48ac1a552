"""Values that Python reads from outside of a compiled function are what they
are in each call: the environment, contexts, threads, files, clocks and random
bytes.
"""

import collections
import configparser
import contextvars
import ctypes
import dataclasses
import datetime
import decimal
import functools
import gc
import logging
import multiprocessing
import os
import pathlib
import queue
import random
import secrets
import sys
import threading
import time
import types
import uuid
import weakref
from decimal import getcontext
from os import environ, getenv
from time import perf_counter

import pytest

import hotaru as torch
from hotaru import nn

pytestmark = pytest.mark.filterwarnings("ignore:compile")

X = torch.ones(2)
NAME = "HOTARU_TEST_OUTSIDE"


def _sets_environment(k):
    os.environ[NAME] = str(k)


def _toggles_environment(k):
    if k % 2:
        os.environ[NAME] = "1"
    else:
        os.environ.pop(NAME, None)


def _thread_local():
    local = threading.local()
    return lambda x: x * local.v, lambda k: setattr(local, "v", k)


def _thread_local_class():
    class Local(threading.local):
        def __init__(self):
            self.v = 3

        def get(self):
            return self.v

    local = Local()
    return lambda x: x * local.get(), lambda k: setattr(local, "v", k)


def _context_variable():
    variable = contextvars.ContextVar("v", default=1)
    return lambda x: x * variable.get(), variable.set


def _context_variable_with_default():
    variable = contextvars.ContextVar("v")
    return lambda x: x * variable.get(5), lambda k: k and variable.set(k)


def _context_variable_that_is_set():
    variable = contextvars.ContextVar("v", default=1)

    def function(x):
        variable.set(variable.get() + 1)
        return x * variable.get()

    return function, lambda k: None


class Holder:
    def __init__(self, v=1):
        self.v = v


def _weak(make, get):
    holder = Holder()
    reference = make(holder)
    return lambda x: x * get(reference).v, lambda k: setattr(holder, "v", k)


def _weak_tensor():
    held = torch.ones(2)
    reference = weakref.ref(held)
    return lambda x: x * reference(), lambda k: held.fill_(k)


def _weak_that_ends():
    holders = [Holder(3)]
    reference = weakref.ref(holders[0])

    def function(x):
        holder = reference()
        return x * (100 if holder is None else holder.v)

    return function, lambda k: holders.clear() if k == 2 else None


def _made_class(kind):
    made = kind()
    made.v = 0
    return lambda x: x * made.v, lambda k: setattr(made, "v", k)


def _queued(make):
    waiting = make()
    return lambda x: x * waiting.get(), waiting.put


def _event():
    event = threading.Event()
    return (
        lambda x: x * event.is_set(),
        lambda k: event.set() if k % 2 else event.clear(),
    )


def _thread_name():
    return (
        lambda x: x * len(threading.current_thread().name),
        lambda k: setattr(threading.current_thread(), "name", "a" * (k + 1)),
    )


def _sets_precision(k):
    decimal.getcontext().prec = k + 3


def _sets_arguments(k):
    sys.argv[1:] = [str(k)]


READS = {
    "environ": lambda: (lambda x: x * int(os.environ[NAME]), _sets_environment),
    "environ.get": lambda: (
        lambda x: x * int(os.environ.get(NAME, "7")),
        _toggles_environment,
    ),
    "in environ": lambda: (lambda x: x * (NAME in os.environ), _toggles_environment),
    "getenv": lambda: (lambda x: x * int(os.getenv(NAME)), _sets_environment),
    "imported environ": lambda: (lambda x: x * int(environ[NAME]), _sets_environment),
    "imported getenv": lambda: (lambda x: x * int(getenv(NAME)), _sets_environment),
    "environ as default": lambda: (
        lambda x, values=os.environ: x * int(values[NAME]),
        _sets_environment,
    ),
    "thread local": _thread_local,
    "class of thread local": _thread_local_class,
    "context variable": _context_variable,
    "context variable, default": _context_variable_with_default,
    "context variable, set": _context_variable_that_is_set,
    "weakref": lambda: _weak(weakref.ref, lambda reference: reference()),
    "weak proxy": lambda: _weak(weakref.proxy, lambda proxy: proxy),
    "weak values": lambda: _weak(
        lambda holder: weakref.WeakValueDictionary(a=holder), lambda values: values["a"]
    ),
    "weak set": lambda: _weak(
        lambda holder: weakref.WeakSet([holder]), lambda values: next(iter(values))
    ),
    "weak tensor": _weak_tensor,
    "weak that ends": _weak_that_ends,
    "make_dataclass": lambda: _made_class(
        dataclasses.make_dataclass("Made", [("v", int, 0)])
    ),
    "new_class": lambda: _made_class(types.new_class("Made")),
    "argv": lambda: (lambda x: x * int(sys.argv[1]), _sets_arguments),
    "decimal": lambda: (lambda x: x * decimal.getcontext().prec, _sets_precision),
    "imported getcontext": lambda: (lambda x: x * getcontext().prec, _sets_precision),
    "decimal division": lambda: (
        lambda x: x * float(decimal.Decimal(1) / 3),
        _sets_precision,
    ),
    "thread name": _thread_name,
    "queue": lambda: _queued(queue.Queue),
    "simple queue": lambda: _queued(queue.SimpleQueue),
    "event": _event,
}


def _of_dict(make, get):
    """Looks at a dictionary by something that is none."""
    values = {"v": 0}
    view = make(values)
    return lambda x: x * get(view), lambda k: values.__setitem__("v", k)


def _item(kind):
    values = kind({"v": 0})
    return lambda x: x * values["v"], lambda k: values.__setitem__("v", k)


def _user_list():
    values = collections.UserList([0])
    return lambda x: x * values[0], lambda k: values.__setitem__(0, k)


def _logger(ask):
    logger = logging.getLogger("hotaru.tests.outside.level")
    return (lambda x: x * ask(logger), lambda k: logger.setLevel(10 if k % 2 else 30))


def _logger_of_parent():
    parent = logging.getLogger("hotaru.tests.parent")
    logger = logging.getLogger("hotaru.tests.parent.child")
    return (
        lambda x: x * logger.isEnabledFor(20),
        lambda k: parent.setLevel(10 if k % 2 else 30),
    )


def _parser(get):
    parser = configparser.ConfigParser()
    parser["a"] = {"v": "0"}
    read = get(parser)
    return lambda x: x * int(read["v"]), lambda k: parser.set("a", "v", str(k))


def _cell(make):
    cell = make()
    return lambda x: x * cell.value, lambda k: setattr(cell, "value", k)


VALUES = {"v": 0}


def _cached():
    @functools.lru_cache
    def value():
        return VALUES["v"]

    def step(k):
        VALUES["v"] = k
        value.cache_clear()

    return lambda x: x * value(), step


def _metaclass():
    class Meta(type):
        @property
        def v(cls):
            return VALUES["v"]

    class Made(metaclass=Meta):
        pass

    return lambda x: x * Made.v, lambda k: VALUES.__setitem__("v", k)


def _any_attribute():
    class Any:
        def __getattr__(self, name):
            return VALUES[name]

    any_ = Any()
    return lambda x: x * any_.v, lambda k: VALUES.__setitem__("v", k)


def _lock():
    lock = threading.Lock()

    def step(k):
        if k % 2:
            lock.acquire(False)
        elif lock.locked():
            lock.release()

    return lambda x: x * lock.locked(), step


READS |= {
    "mapping proxy": lambda: _of_dict(types.MappingProxyType, lambda view: view["v"]),
    "chain": lambda: _of_dict(
        lambda values: collections.ChainMap({}, values), lambda view: view["v"]
    ),
    "values": lambda: _of_dict(dict.values, sum),
    "items": lambda: _of_dict(dict.items, lambda view: dict(view)["v"]),
    "method of a dictionary": lambda: _of_dict(
        lambda values: values.get, lambda get: get("v")
    ),
    "item of a dictionary": lambda: _of_dict(
        lambda values: values.__getitem__, lambda get: get("v")
    ),
    "user dictionary": lambda: _item(collections.UserDict),
    "ordered": lambda: _item(collections.OrderedDict),
    "user list": _user_list,
    "logger": lambda: _logger(lambda logger: logger.isEnabledFor(20)),
    "level": lambda: _logger(lambda logger: logger.level),
    "parent logger": _logger_of_parent,
    "parser": lambda: _parser(lambda parser: parser["a"]),
    "parser's dictionary": lambda: _parser(lambda p: p._sections["a"]),
    "ctypes": lambda: _cell(ctypes.c_int),
    "shared": lambda: _cell(lambda: multiprocessing.Value("i", 0)),
    "cached": _cached,
    "metaclass": _metaclass,
    "any attribute": _any_attribute,
    "lock": _lock,
}


@pytest.fixture(name="outside")
def _outside(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["test", "0"])
    monkeypatch.delenv(NAME, raising=False)
    name = threading.current_thread().name
    with decimal.localcontext():
        yield
    threading.current_thread().name = name
    os.environ.pop(NAME, None)


def results_of(way, make):
    def run():
        function, step = make()
        called, found = way(function), []
        for k in range(5):
            step(k)
            found.append(called(X).tolist())
        return found

    return contextvars.copy_context().run(run)


@pytest.mark.parametrize("name", READS)
def test_reads(outside, name):
    wanted = results_of(lambda function: function, READS[name])
    os.environ.pop(NAME, None)
    assert results_of(torch.compile, READS[name]) == wanted
    assert len(set(map(tuple, wanted))) > 1


def test_guards_keep_graphs(outside):
    """Comparable values do not keep calls from their graphs."""
    for name in ("environ", "thread local", "context variable", "argv"):
        function, step = READS[name]()
        run = torch.compile(function, fullgraph=True)
        for k in (0, 1, 1, 0):
            step(k)
            assert run(X).tolist() == [k, k]
        assert run.captures == 2, name


def test_other_threads():
    local = threading.local()
    local.v = 1
    run = torch.compile(lambda x: x * local.v)
    found = [run(X).tolist() for _ in range(2)]

    def elsewhere(k):
        local.v = k
        found.extend(run(X).tolist() for _ in range(2))

    for k in (2, 3):
        thread = threading.Thread(target=elsewhere, args=(k,))
        thread.start()
        thread.join()
    found.append(run(X).tolist())
    assert [value for value, _ in found] == [1, 1, 2, 2, 3, 3, 1]


def test_graphs_keep_no_weak_target():
    holder = Holder(2)
    reference = weakref.ref(holder)
    run = torch.compile(lambda x: x * reference().v)
    for _ in range(2):
        run(X)
    del holder
    gc.collect()
    assert reference() is None
    with pytest.raises(AttributeError, match="NoneType"):
        run(X)


class Child(nn.Module):
    """Knows its parent, and uses it or not."""

    def __init__(self, parent):
        super().__init__()
        self.parent = weakref.ref(parent)
        self.weight = nn.Parameter(torch.ones(2))


class Using(Child):
    def forward(self, x):
        return x * self.weight + self.parent().bias


class Alone(Child):
    def forward(self, x):
        return x * self.weight


def test_weak_parents():
    parent = nn.Linear(2, 2)
    child = Alone(parent)
    run = torch.cuda.make_graphed_callables(child)
    for _ in range(2):
        run(X).sum().backward()
    assert child.weight.grad.tolist() == [2, 2]
    used = torch.compile(Using(parent))
    for k in range(3):
        parent.bias.data.fill_(k)
        assert used(X).tolist() == [1 + k, 1 + k]
    parent.bias = nn.Parameter(torch.full((2,), 7.0))
    assert used(X).tolist() == [8, 8]


def test_parents_that_nobody_uses_can_go():
    parent = nn.Linear(2, 2)
    child = Alone(parent)
    run = torch.compile(child)
    for _ in range(2):
        run(X)
    del parent
    gc.collect()
    assert child.parent() is None


class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.factor = VALUES["v"]

    def forward(self, x):
        return x * self.factor


class ScaledMore(Scaled):
    pass


@pytest.mark.parametrize("made", [Scaled, ScaledMore])
def test_modules_that_calls_make(made):
    known = ScaledMore()
    run = torch.compile(lambda x: made()(x) + 0 * known(x))
    for k in (1, 2, 3):
        VALUES["v"] = k
        assert run(X).tolist() == [k, k]


def _read(path):
    with open(path) as file:
        return int(file.read())


FILES = {
    "open": _read,
    "pathlib": lambda path: int(path.read_text()),
    "iteration": lambda path: int(next(iter(open(path)))),  # noqa: SIM115
    "size": os.path.getsize,
    "listing": lambda path: len(os.listdir(path.parent)),
    "exists": lambda path: os.path.exists(f"{path}8"),
}


@pytest.mark.parametrize("name", FILES)
def test_files(tmp_path, name):
    path = tmp_path / "file"
    read = FILES[name]
    run = torch.compile(lambda x: x * read(path))
    for k in range(7, 13):
        path.write_text(str(k))
        pathlib.Path(f"{path}{k}").touch()
        assert run(X).tolist() == (X * read(path)).tolist()


def test_open_files(tmp_path):
    path = tmp_path / "file"
    path.write_text("1\n2\n3\n4\n")
    with open(path) as file:
        run = torch.compile(lambda x: x * int(file.readline()))
        assert [run(X)[0].item() for _ in range(4)] == [1, 2, 3, 4]


def test_loaded_tensors(tmp_path):
    path = tmp_path / "file"
    run = torch.compile(lambda x: x * torch.load(path))
    for k in range(4):
        torch.save(torch.tensor(float(k)), path)
        assert run(X).tolist() == [k, k]


CHANCE = {
    "time": time.time_ns,
    "perf_counter": lambda: perf_counter() * 1e9,
    "monotonic": time.monotonic_ns,
    "process_time": lambda: (sum(range(9999)), time.process_time_ns())[1],
    "clock_gettime": lambda: time.clock_gettime_ns(time.CLOCK_REALTIME),
    "datetime": lambda: datetime.datetime.now().timestamp() * 1e6,
    "utc": lambda: datetime.datetime.now(datetime.timezone.utc).timestamp(),
    "urandom": lambda: int.from_bytes(os.urandom(6), "big"),
    "uuid4": lambda: uuid.uuid4().int % 10**15,
    "uuid1": lambda: uuid.uuid1().time % 10**15,
    "secrets": lambda: secrets.randbelow(10**15),
    "SystemRandom": lambda: random.SystemRandom().random(),
}


@pytest.mark.parametrize("name", CHANCE)
def test_clocks_and_bytes(name):
    read = CHANCE[name]
    run = torch.compile(lambda x: x * read())
    x = torch.ones(1, dtype=torch.float64)
    assert len({run(x).item() for _ in range(4)}) == 4


def test_what_nobody_calls_keeps_no_graph_away():
    class Timed:
        def __init__(self):
            self.factor = 2

        def __call__(self, x):
            return x * self.factor

        def report(self):
            return time.time()

    run = torch.compile(Timed(), fullgraph=True)
    assert run(X).tolist() == [2.0, 2.0]
    assert run.captures == 1


@dataclasses.dataclass
class Written:
    n: int = 1


def test_what_is_said_keeps_no_graph_away(tmp_path):
    """Imports, records and texts are no values of the function."""
    import logging

    log = logging.getLogger("hotaru.tests.outside")
    log.addHandler(logging.FileHandler(tmp_path / "log"))
    written = Written()

    def function(x):
        import colorsys  # noqa: F401

        log.warning("a %s", written)
        return x * len(repr(written))

    run = torch.compile(function, fullgraph=True)
    assert run(X).tolist() == [12.0, 12.0]
    assert run.captures == 1


def test_profilers_go_on():
    seen = []

    def profile(frame, event, arg):
        seen.append(event)

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        torch.compile(lambda x: abs(x) * len("ab"))(X)
        kept = sys.getprofile()
    finally:
        sys.setprofile(before)
    assert kept is profile
    assert "c_call" in seen


@pytest.mark.parametrize(
    ("layer", "name"),
    [
        (nn.Linear(2, 2), "linear"),
        (nn.LayerNorm(2), "layer_norm"),
        (nn.Sequential(nn.Linear(2, 2), nn.GELU()), "gelu"),
    ],
)
def test_functions_that_layers_call_may_be_replaced(layer, name, monkeypatch):
    run = torch.compile(layer)
    x = torch.randn(2, 2)
    for _ in range(3):
        run(x)
    before = layer(x)
    monkeypatch.setattr(nn.functional, name, lambda x, *rest, **more: x * 2)
    expected = layer(x)
    assert not torch.equal(expected, before)
    for _ in range(3):
        assert torch.equal(run(x), expected)
    monkeypatch.undo()
    assert torch.equal(run(x), before)
