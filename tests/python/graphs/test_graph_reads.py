"""Values that a compiled function reads count in each call, however far they
lie, whatever wraps the code, and by whichever name it finds them.
"""

from __future__ import annotations

import functools
import importlib
import operator
import types

import pytest

import hotaru as torch

X = torch.ones(2)


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
    return (lambda x: x * items[-1][0], functools.partial(items[-1].__setitem__, 0))


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
    return (lambda x: made[0] * x, lambda value: setattr(whole, "factor", value))


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
VALUE_OF, SCALED = (operator.attrgetter("inner.v"), operator.methodcaller("scaled", X))
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
