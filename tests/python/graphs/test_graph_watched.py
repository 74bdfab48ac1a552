"""Compiled calls follow what their code asks: settings, things that change
between calls, generators, and questions to the arguments.
"""

import array
import collections
import itertools
import random
import subprocess
import sys
import types

import numpy as np
import pytest

import hotaru as torch
from hotaru import nn

pytestmark = [
    pytest.mark.cpu_graphs("they compare with eager calls of the CPU"),
    pytest.mark.filterwarnings("ignore:compile"),
    pytest.mark.filterwarnings("ignore:The CUDA Graph is empty"),
]


class Set:
    """A setting that has a function, as a context."""

    def __init__(self, setter, off=False):
        self.setter, self.off = setter, off

    def __call__(self, on):
        self.on = on
        return self

    def __enter__(self):
        self.setter(self.on)

    def __exit__(self, *exception):
        self.setter(self.off)


def _flag(library, name, on):
    return Set(lambda value: setattr(library, name, value), off=not on)


SETTINGS = {
    "inference mode": (torch.is_inference_mode_enabled, torch.inference_mode),
    "anomaly detection": (torch.is_anomaly_enabled, torch.autograd.set_detect_anomaly),
    "determinism": (
        torch.are_deterministic_algorithms_enabled,
        Set(torch.use_deterministic_algorithms),
    ),
    "threads": (
        lambda: torch.get_num_threads() > 1,
        Set(lambda on: torch.set_num_threads(2 if on else 1)),
    ),
    "warnings": (torch.is_warn_always_enabled, Set(torch.set_warn_always)),
    "default device": (
        lambda: torch.get_default_device().type == "meta",
        lambda on: torch.device("meta" if on else "cpu"),
    ),
    "default dtype": (
        lambda: torch.get_default_dtype() is torch.float64,
        Set(lambda on: torch.set_default_dtype(torch.float64 if on else torch.float32)),
    ),
    "oneDNN": (
        lambda: torch.backends.mkldnn.enabled,
        lambda on: torch.backends.mkldnn.flags(enabled=on),
    ),
    "cuDNN": (
        lambda: torch.backends.cudnn.benchmark,
        lambda on: torch.backends.cudnn.flags(benchmark=on),
    ),
    "autocast": (
        lambda: torch.is_autocast_enabled("cpu"),
        lambda on: torch.autocast("cpu", enabled=on),
    ),
    "gradients": (torch.is_grad_enabled, torch.set_grad_enabled),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_settings_that_code_asks_for(name):
    question, setting = SETTINGS[name]
    run = torch.compile(lambda x: x * (2 if question() else 3))
    x, found = torch.ones(1), []
    threads = torch.get_num_threads()
    try:
        for on in (False, True, False, True):
            with setting(on):
                found.append(run(x).item())
    finally:
        torch.set_num_threads(threads)
    assert found == [3, 2, 3, 2]


# -- surroundings ------------------------------------------------------------


class Slots:
    __slots__ = ("k",)


class Derived(Slots):
    __slots__ = ("other",)


def _helpers():
    helpers = types.ModuleType("helpers")
    helpers.k = 1.0
    helpers.f = lambda x: x * helpers.k
    return helpers


def _changed_things():
    """A name, a function, and what changes what it reads."""
    slots = Derived()
    slots.k = 1.0

    def set_slot(k):
        slots.k = k

    yield "a slot", lambda x: x * slots.k, set_slot

    def scaled(x):
        return x * scaled.scale

    scaled.scale = 1.0
    yield ("an attribute of a function", scaled, lambda k: setattr(scaled, "scale", k))
    helpers = _helpers()
    yield (
        "a function of a module",
        lambda x: helpers.f(x),
        lambda k: setattr(helpers, "f", lambda x: x * k),
    )
    numbers = _helpers()
    yield (
        "a number of a module",
        lambda x: x * numbers.k,
        lambda k: setattr(numbers, "k", k),
    )
    outer = _helpers()
    outer.inner = _helpers()
    yield (
        "a number of a module's module",
        lambda x: x * outer.inner.k,
        lambda k: setattr(outer.inner, "k", k),
    )
    queue = collections.deque([1.0])
    yield "a deque", lambda x: x * queue[0], lambda k: queue.__setitem__(0, k)
    members = {1.0}

    def only(k):
        members.clear()
        members.add(k)

    yield "a set", lambda x: x * next(iter(members)), only
    values = np.ones(2)
    yield (
        "an array of numpy's",
        lambda x: x * float(values[1]),
        lambda k: values.__setitem__(1, k),
    )
    numbers_in = array.array("d", [1.0])
    yield (
        "an array of Python's",
        lambda x: x * numbers_in[0],
        lambda k: numbers_in.__setitem__(0, k),
    )
    octets = bytearray([1])
    yield (
        "a bytearray",
        lambda x: x * octets[0],
        lambda k: octets.__setitem__(0, int(k)),
    )


@pytest.mark.parametrize("name", [name for name, _, _ in _changed_things()])
def test_things_that_change_between_calls(name):
    found = {n: (f, change) for n, f, change in _changed_things()}
    function, change = found[name]
    run = torch.compile(function)
    for k in (1.0, 2.0, 5.0, 2.0):
        change(k)
        assert run(torch.ones(1)).item() == k


def test_functions_of_libraries_that_are_replaced(monkeypatch):
    import math

    run = torch.compile(lambda x: torch.relu(x) + math.floor(1.5))
    assert run(torch.ones(1)).item() == 2
    monkeypatch.setattr(torch, "relu", lambda x: x * 5)
    assert run(torch.ones(1)).item() == 6
    monkeypatch.setattr(math, "floor", lambda x: 10)
    assert run(torch.ones(1)).item() == 15


def _generators():
    def drop(x):
        for k in (2.0, 3.0, 5.0):
            if random.random() > 0.5:
                x = x * k
        return x

    yield "random", lambda: lambda x: x * random.random()
    yield "dropped layers", lambda: drop
    yield "numpy", lambda: lambda x: x * float(np.random.rand())

    def own_python():
        own = random.Random(7)
        return lambda x: x * own.random()

    def own_numpy():
        own = np.random.default_rng(7)
        return lambda x: x * float(own.random())

    def old_numpy():
        own = np.random.RandomState(7)
        return lambda x: x * float(own.rand())

    def counted():
        numbers = itertools.count()
        return lambda x: x * next(numbers)

    def generated():
        numbers = (float(i) for i in range(9))
        return lambda x: x * next(numbers)

    def listed():
        numbers = iter([1.0, 2.0, 3.0])
        return lambda x: x * next(numbers)

    def shuffled():
        order = [1.0, 2.0, 3.0]

        def run(x):
            random.shuffle(order)
            return x * order[0]

        return run

    class Numbers:
        def __init__(self):
            self.n = 0

        def __next__(self):
            self.n += 1
            return self.n

    def of_ones_own():
        numbers = Numbers()
        return lambda x: x * next(numbers)

    for name in (
        own_python,
        own_numpy,
        old_numpy,
        counted,
        generated,
        listed,
        shuffled,
        of_ones_own,
    ):
        yield name.__name__, name


@pytest.mark.parametrize("name", [name for name, _ in _generators()])
def test_what_python_draws(name):
    make = dict(_generators())[name]
    found = []
    for compiles in (False, True):
        random.seed(5)
        np.random.seed(5)
        function = make()
        run = torch.compile(function) if compiles else function
        found.append([run(torch.ones(1)).item() for _ in range(3)])
    assert found[0] == found[1]


# -- what tensors are asked for ------------------------------------------------

QUESTIONS = {
    "storage_offset": lambda x: x.storage_offset(),
    "of a view": lambda x: x[1:].storage_offset(),
    "_version": lambda x: x._version,
    "is_contiguous": lambda x: 2 if x.is_contiguous() else 3,
    "stride": lambda x: x.stride(0),
    "is_leaf": lambda x: 2 if x.is_leaf else 3,
    "grad_fn": lambda x: 2 if x.grad_fn is None else 3,
    "grad": lambda x: 2 if x.grad is None else 3,
    "storage": lambda x: len(x.untyped_storage()),
    "_base": lambda x: 2 if x._base is None else 3,
    "requires_grad": lambda x: 2 if x.requires_grad else 3,
    "class": lambda x: 2 if isinstance(x, nn.Parameter) else 3,
    "attribute": lambda x: getattr(x, "tag", 3),
    "as_strided": lambda x: x.as_strided((1,), (1,), 0)[0],
}


def _asked():
    base = torch.arange(24.0)
    yield base[:4]
    yield base[4:8]
    yield base[::2][:4]
    written = torch.ones(4)
    yield written.add_(1)
    yield torch.ones(4, requires_grad=True)
    yield torch.ones(4, requires_grad=True) * 2
    with_grad = torch.ones(4, requires_grad=True)
    with_grad.grad = torch.ones(4)
    yield with_grad
    yield nn.Parameter(torch.ones(4))
    tagged = torch.ones(4)
    tagged.tag = 7
    yield tagged
    yield torch.ones(1).expand(4)
    yield torch.ones(4)


@pytest.mark.parametrize("name", QUESTIONS)
def test_questions_to_arguments(name):
    question = QUESTIONS[name]
    run = torch.compile(lambda x: x * 0 + question(x))
    for eager, x in zip(_asked(), _asked()):
        assert run(x).tolist() == (eager * 0 + question(eager)).tolist()


def test_gradients_of_parameters_that_are_read():
    net = nn.Linear(1, 1)

    @torch.compile
    def read():
        grad = net.weight.grad
        return torch.zeros(1) if grad is None else grad * 2

    found = []
    for k in (None, 1.0, 3.0, None, 2.0):
        net.weight.grad = None if k is None else torch.full((1, 1), k)
        found.append(read().item())
    assert found == [0, 2, 6, 0, 4]


def test_which_argument_is_which():
    kept = torch.ones(1)
    run = torch.compile(lambda a, b: a * (2 if a is b else 3))
    x, y = torch.ones(1), torch.ones(1)
    assert [run(x, y).item(), run(x, x).item(), run(y, x).item()] == [3, 2, 3]
    known = torch.compile(lambda a: a * (2 if a is kept else 3))
    assert [known(x).item(), known(kept).item(), known(x).item()] == [3, 2, 3]
    assert [known(kept).item(), known(x).item()] == [2, 3]
    many = torch.compile(lambda *t: t[0] * (2 if t[0] is t[-1] else 3))
    tensors = [torch.ones(1) for _ in range(20)]
    assert many(*tensors).item() == 3
    assert many(*tensors[:-1], tensors[0]).item() == 2
    assert many(*tensors).item() == 3


_IMPORTS = """
import sys
import hotaru as torch

def f(x):
    import random
    return x * random.random()

assert "random" not in sys.modules
run = torch.compile(f)
print(len({run(torch.ones(1)).item() for _ in range(4)}))
"""


def test_generators_that_the_function_imports():
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _IMPORTS],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "4\n"
