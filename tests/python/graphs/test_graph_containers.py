"""Lists, dictionaries and dataclasses among arguments and results of compiled
calls: the caller's own, with their classes, attributes and identity.
"""

import collections
import contextlib
import dataclasses
import enum
import random

import pytest

import hotaru as torch
from hotaru import nn

pytestmark = pytest.mark.filterwarnings("ignore:compile")


class Tagged(list):
    def __init__(self, items=(), tag="none"):
        super().__init__(items)
        self.tag = tag


class Named(dict):
    pass


class Fixed(collections.OrderedDict):
    def update(self, *args, **kwargs):
        raise RuntimeError("no update")

    def __getitem__(self, key):
        return super().__getitem__(key)


class Loud(tuple):
    __slots__ = ()

    def __len__(self):
        raise NotImplementedError

    def __iter__(self):
        raise NotImplementedError


@dataclasses.dataclass
class Box:
    x: torch.Tensor
    n: int = 0

    def __post_init__(self):
        self.kind = "plain"


@dataclasses.dataclass
class Slotted:
    __slots__ = ("x",)
    x: torch.Tensor


@dataclasses.dataclass(frozen=True)
class Frozen:
    x: torch.Tensor


def _pop(d):
    return d.pop("x") * 2


def _fill(d):
    d["y"] = d["x"] + 1
    return d["y"] * 2


def _grow(items):
    items.append(items[0] + 1)
    items[0] = items[0] * 5
    return items[0]


def _box(b):
    b.n += 1
    b.x = b.x * 3
    return b.x + b.n


def _new_attribute(b):
    b.other = b.x * 2
    return b.other


def _slotted(b):
    b.x = b.x * 2
    return b.x


def _tag(items):
    items.tag += "!"
    return items[0] + len(items.tag)


def _default(d):
    return d["x"] * 2 + len(d["none"])


WRITTEN = {
    "dict": (_fill, lambda: {"x": torch.ones(2)}),
    "popped": (_pop, lambda: {"x": torch.ones(2)}),
    "list": (_grow, lambda: [torch.ones(2)]),
    "subclass of list": (_grow, lambda: Tagged([torch.ones(2)])),
    "attribute of a list": (_tag, lambda: Tagged([torch.ones(2)])),
    "ordered": (_fill, lambda: collections.OrderedDict(x=torch.ones(2))),
    "no update": (_fill, lambda: Fixed(x=torch.ones(2))),
    "defaultdict": (_default, lambda: collections.defaultdict(list, x=torch.ones(2))),
    "dataclass": (_box, lambda: Box(torch.ones(2))),
    "attribute of a dataclass": (_new_attribute, lambda: Box(torch.ones(2))),
    "slots": (_slotted, lambda: Slotted(torch.ones(2))),
    "nested": (lambda d: _fill(d["in"][0]), lambda: {"in": ({"x": torch.ones(2)},)}),
}


def _held(value):
    """Values that a nest holds, for comparing."""
    if isinstance(value, torch.Tensor):
        return value.tolist()
    if isinstance(value, dict):
        return [(k, _held(v)) for k, v in value.items()] + _own(value)
    if isinstance(value, (list, tuple)):
        return [_held(v) for v in value] + _own(value)
    if dataclasses.is_dataclass(value):
        names = [f.name for f in dataclasses.fields(value)]
        return [(n, _held(getattr(value, n))) for n in names] + _own(value)
    return value


def _own(value):
    own = getattr(value, "__dict__", {})
    return [(k, _held(v)) for k, v in own.items()]


@pytest.mark.parametrize("name", WRITTEN)
def test_containers_among_arguments_are_written(name):
    function, make = WRITTEN[name]
    run = torch.compile(function)
    for _ in range(3):
        eager, given = make(), make()
        assert run(given).tolist() == function(eager).tolist()
        assert _held(given) == _held(eager)
        assert type(given) is type(eager)


KEPT = Box(torch.ones(2))
READ = {
    "attribute of a list": (lambda c: len(c.tag), lambda: Tagged([1], "abc")),
    "dataclass": (lambda c: 2 if c.kind == "plain" else 3, lambda: Box(None)),
    "identity": (lambda c: 2 if c is KEPT else 3, lambda: KEPT),
    "another": (lambda c: 2 if c is KEPT else 3, lambda: Box(None)),
    "class": (lambda c: 2 if type(c) is Fixed else 3, lambda: Fixed(a=2)),
    "no update": (lambda c: c["a"], lambda: Fixed(a=2)),
    "frozen": (lambda c: c.x[0], lambda: Frozen(torch.ones(2))),
    "tuple": (lambda c: c[0], lambda: Loud((3, 4))),
    "enumeration": (lambda c: c["k"].value, lambda: {"k": enum.Enum("E", {"A": 5}).A}),
    "cycle": (lambda c: len(c), lambda: _cycle()),
    "the same twice": (lambda c: 2 if c[0] is c[1] else 3, lambda: [[1]] * 2),
    "two alike": (lambda c: 2 if c[0] is c[1] else 3, lambda: [[1], [1]]),
}


def _cycle():
    items = [1, 2]
    items.append(items)
    return items


def test_containers_among_arguments_are_the_callers():
    for name, (question, make) in READ.items():
        run = torch.compile(lambda c, x, ask=question: x + ask(c))
        for _ in range(2):
            value = make()
            wanted = (torch.ones(2) + question(value)).tolist()
            assert run(value, torch.ones(2)).tolist() == wanted, name


class Output(collections.OrderedDict):
    """As results of transformers' models are."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        for key, value in self.items():
            object.__setattr__(self, key, value)

    def update(self, *args, **kwargs):
        raise RuntimeError("no update")


RESULTS = {
    "refuses update": lambda x: Output(a=x + 1, b=x * 2),
    "attributes": lambda x: Tagged([x + 1], tag="abc"),
    "defaultdict": lambda x: collections.defaultdict(list, a=x + 1),
    "dataclass": lambda x: Box(x + 1, 3),
    "frozen": lambda x: Frozen(x + 1),
    "slots": lambda x: Slotted(x + 1),
    "constants": lambda x: (x + 1, torch.float32, None, ..., 2.5, "text"),
    "empty": lambda x: ((), [], {}, x + 1),
}


@pytest.mark.parametrize("name", RESULTS)
def test_results_of_every_class(name):
    function = RESULTS[name]
    run = torch.compile(function, fullgraph=True)
    for k in (1.0, 2.0):
        x = torch.full((2,), k)
        found, wanted = run(x), function(x)
        assert type(found) is type(wanted)
        assert _held(found) == _held(wanted)
        if isinstance(found, Output):
            assert found.a is found["a"]
    assert run.captures == 1


def test_results_that_are_the_callers_containers():
    def f(d, x):
        return d, [x * 2, d]

    run = torch.compile(f, fullgraph=True)
    for k in (1.0, 2.0):
        given = {"a": torch.full((2,), k)}
        found, (double, again) = run(given, given["a"])
        assert found is given
        assert again is given
        assert double.tolist() == [2 * k] * 2


class Chooses(collections.OrderedDict):
    """A dictionary whose items are made when they are asked for."""

    def __getitem__(self, key):
        return super().__getitem__(key)()


def test_a_capture_that_fails_leaves_dictionaries_alone():
    kinds = Chooses(a=nn.ReLU)

    def f(x):
        layer = kinds["a"]
        return layer(x) if x.sum() > 0 else x

    run = torch.compile(f)
    run(torch.ones(2))
    assert dict.items(kinds) == {"a": nn.ReLU}.items()


class Scales(nn.Module):
    """Whose result tells all that calls are told apart by."""

    def __init__(self):
        super().__init__()
        self.factor = 2
        self.w = nn.Parameter(torch.ones(2))
        self.known = [torch.ones(2)]

    def forward(self, batch, *, mask=None, scale=1.0):
        y = batch["x"] * self.factor * scale
        y = y * (3 if batch["x"] is mask else 5)
        y = y * (7 if batch["l"] is self.known else 11)
        y = y * (13 if torch.is_grad_enabled() else 17)
        y = y * (19 if torch.is_autocast_enabled("cpu") else 23)
        y = y + torch.zeros(()).to(torch.get_default_dtype())
        y = y.double() if torch.get_default_dtype() is torch.float64 else y
        if mask is not None:
            y = y + mask * self.w * batch["l"][0].sum()
            mask.add_(1)
        return {"y": y, "l": batch["l"], "mask": [mask]}


def _arguments(**changes):
    given = {
        "x": torch.full((2,), 2.0),
        "l": [torch.ones(2)],
        "mask": torch.ones(2),
        **changes,
    }
    for name, value in changes.items():
        given[name] = value(given) if callable(value) else value
    batch = {"x": given.pop("x"), "l": given.pop("l")}
    return (batch,), given


@contextlib.contextmanager
def _changed(net):
    net.factor = 29
    yield
    net.factor = 2


@contextlib.contextmanager
def _in_doubles(net):
    torch.set_default_dtype(torch.float64)
    yield
    torch.set_default_dtype(torch.float32)


# Circumstances of a call, and its arguments.
KINDS = {
    "plain": (None, lambda net: {}),
    "scale": (None, lambda net: {"scale": 3.0}),
    "no mask": (None, lambda net: {"mask": None}),
    "the mask is x": (None, lambda net: {"mask": lambda g: g["x"]}),
    "it is a view of x": (None, lambda net: {"mask": lambda g: g["x"][:]}),
    "the known list": (None, lambda net: {"l": net.known}),
    "a parameter": (None, lambda net: {"l": [net.w]}),
    "shape": (None, lambda net: {"x": torch.ones(1, 2)}),
    "dtype": (None, lambda net: {"x": torch.arange(2)}),
    "a gradient": (None, lambda net: {"x": torch.ones(2, requires_grad=True)}),
    "a longer list": (None, lambda net: {"l": [torch.ones(2), [1]]}),
    "a tuple": (None, lambda net: {"l": (torch.ones(2),)}),
    "a module that changed": (_changed, lambda net: {}),
    "no gradients": (lambda net: torch.no_grad(), lambda net: {}),
    "autocast": (lambda net: torch.autocast("cpu"), lambda net: {}),
    "default dtype": (_in_doubles, lambda net: {}),
}


def test_calls_with_containers_of_one_kind_after_another():
    order = random.Random(0).choices(list(KINDS), k=200)
    found = []
    for compiles in (False, True):
        net = Scales()
        run = torch.compile(net, options={"cache_size": 32}) if compiles else net
        for name in order:
            within, changes = KINDS[name]
            with within(net) if within else contextlib.nullcontext():
                args, kwargs = _arguments(**changes(net))
                out = run(*args, **kwargs)
            mask = kwargs["mask"]
            found.append(
                (
                    name,
                    (out["y"].tolist(), out["y"].dtype, out["y"].requires_grad),
                    (out["l"] is args[0]["l"], out["mask"][0] is mask),
                    mask if mask is None else (mask.tolist(), mask._version),
                )
            )
    assert found[:200] == found[200:]
    assert 10 < run.graphed.captures <= len(KINDS)


Pair = collections.namedtuple("Pair", "first second")

MADE_OF_TWO = {
    "list": lambda a, b: [a, b],
    "tuple": lambda a, b: (a, b),
    "named": Pair,
    "class of tuples": lambda a, b: type("Couple", (tuple,), {})((a, b)),
    "result": lambda a, b: torch.return_types.max((a, b)),
    "nested": lambda a, b: ([Pair(a, b)], b),
}


@pytest.mark.parametrize("kind", MADE_OF_TWO)
def test_arguments_that_come_back_are_themselves(kind):
    run = torch.compile(lambda c, d, x: (c, x + 1, [d], c is d))
    make = MADE_OF_TWO[kind]
    for twice in (True, False):
        for _ in range(3):
            first = make(torch.ones(2), torch.zeros(2))
            second = first if twice else make(torch.ones(2), torch.zeros(2))
            back, _, (other,), same = run(first, second, torch.ones(2))
            assert back is first
            assert other is second
            assert same == twice
