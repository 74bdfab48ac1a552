"""Graphs notice what changes around them: modules, hooks, closures, globals,
classes, memory that arguments share, and weights written before the backward.
"""

from __future__ import annotations

import copy
import functools
import types

import pytest

import hotaru as torch
from hotaru import nn

X = torch.arange(12.0).view(3, 4) / 7


# Products into which something is merged may have another kernel of NVIDIA's
# libraries, which rounds otherwise.
BITWISE = torch.cuda.is_available() and not torch._C._cuda_in_software()


def graphed(function):
    return torch.cuda.make_graphed_callables(function, bitwise=BITWISE)


def compiled(function):
    return torch.compile(function, options={"bitwise": BITWISE})


WAYS = {"compile": compiled, "graphed": graphed}


@pytest.fixture(params=WAYS, name="way")
def _way(request):
    return WAYS[request.param]


def net():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 4))


def same_after(way, module, change, calls=2):
    """The module and its twin run before and after a change of both."""
    twin = copy.deepcopy(module)
    run = way(module)
    for _ in range(calls):
        assert torch.equal(run(X), twin(X))
    change(module)
    change(twin)
    for _ in range(calls):
        assert torch.equal(run(X), twin(X))


def _set_item(members, name, value):
    members[name] = value


def _pop_last(module):
    module.pop(len(module) - 1)


CHANGES = {
    "append": lambda m: m.append(nn.ReLU()),
    "extend": lambda m: m.extend([nn.ReLU(), nn.Sigmoid()]),
    "insert": lambda m: m.insert(1, nn.Sigmoid()),
    "pop": _pop_last,
    "del": lambda m: m.__delitem__(1),
    "setitem": lambda m: m.__setitem__(1, nn.ReLU()),
    "add_module": lambda m: m.add_module("more", nn.ReLU()),
    "_modules": lambda m: _set_item(m._modules, "1", nn.ReLU()),
    "_modules.pop": lambda m: m._modules.pop("1"),
    "dict.__setitem__": lambda m: dict.__setitem__(m._modules, "1", nn.ReLU()),
    "new _modules": lambda m: m.__dict__.__setitem__(
        "_modules", {"0": m[0], "1": nn.ReLU()}
    ),
    "register_parameter": lambda m: m[0].register_parameter("bias", None),
    "_parameters": lambda m: _set_item(
        m[0]._parameters, "bias", nn.Parameter(torch.ones(4))
    ),
    "data": lambda m: setattr(m[0].weight, "data", m[0].weight.data * 2),
    "data.t": lambda m: setattr(m[0].weight, "data", m[0].weight.data.t()),
    "data flip": lambda m: setattr(m[0].weight, "data", m[0].weight.data[[1, 0, 3, 2]]),
    "same storage": lambda m: setattr(
        m[0].bias, "data", m[2].weight.data.view(-1)[4:8]
    ),
    "in place": lambda m: m[0].weight.data.mul_(3),
    "t_": lambda m: m[0].weight.data.t_(),
    "hook of a child": lambda m: m[1].register_forward_hook(
        lambda module, args, out: out * 2
    ),
    "pre-hook of a child": lambda m: m[1].register_forward_pre_hook(
        lambda module, args: (args[0] + 1,)
    ),
    "forward of a child": lambda m: setattr(m[1], "forward", torch.relu),
    "eval": lambda m: m.eval(),
    "requires_grad_": lambda m: m.requires_grad_(False),
    "double and back": lambda m: m.double().float(),
    "load_state_dict": lambda m: m.load_state_dict(
        {k: v + 1 for k, v in m.state_dict().items()}
    ),
    "assign": lambda m: m.load_state_dict(
        {k: v + 1 for k, v in m.state_dict().items()}, assign=True
    ),
    "apply": lambda m: m.apply(
        lambda c: c.weight.data.zero_() if hasattr(c, "weight") else None
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_changes_of_a_module(way, name):
    """Whoever changes a module, and however."""
    same_after(way, net(), CHANGES[name])


def test_a_removed_hook(way):
    """Hooks that remove() takes away are gone from the graph, too."""
    module = net()
    run = way(module)
    handle = module[1].register_forward_hook(lambda m, a, out: out * 2)
    with_hook = run(X).clone()
    handle.remove()
    plain = run(X).clone()
    assert not torch.equal(with_hook, plain)
    assert torch.equal(plain, net()(X))


class Listed(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(1)
        self.parts = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 4)])
        self.named = nn.ModuleDict({"a": nn.Tanh()})
        self.scales = [1.0, 2.0]
        self.table = {"by": 2.0, "deep": {"more": 1.0}}
        self.record = types.SimpleNamespace(offset=1.0)
        self.register_buffer("shift", torch.zeros(4))

    def forward(self, x):
        for part, scale in zip(self.parts, self.scales):
            x = part(x) * scale
        for part in self.named.values():
            x = part(x)
        x = x * self.table["by"] + self.table["deep"]["more"]
        return x + self.record.offset + self.shift


LISTED = {
    "ModuleList.append": lambda m: (
        m.parts.append(nn.Linear(4, 4, bias=False)),
        m.parts[2].weight.data.fill_(1),
        m.scales.append(3.0),
    ),
    "ModuleDict": lambda m: _set_item(m.named, "b", nn.ReLU()),
    "ModuleDict.pop": lambda m: m.named.pop("a"),
    "list item": lambda m: _set_item(m.scales, 0, 5.0),
    "dict item": lambda m: _set_item(m.table, "by", 5.0),
    "deep dict": lambda m: _set_item(m.table["deep"], "more", 5.0),
    "object": lambda m: setattr(m.record, "offset", 5.0),
    "_buffers": lambda m: _set_item(m._buffers, "shift", torch.ones(4)),
    "__dict__": lambda m: _set_item(m.__dict__, "scales", [3.0, 3.0]),
}


@pytest.mark.parametrize("name", LISTED)
def test_changes_within_attributes(way, name):
    """Lists, dicts and objects in attributes count, in place as well."""
    same_after(way, Listed(), LISTED[name])


class Replaced(nn.Module):
    def forward(self, x):
        return x + 1


def test_forward_of_the_class_is_replaced(way, monkeypatch):
    """A class's forward and a method that it calls."""
    run = way(nn.Sequential(Replaced(), nn.Tanh()))
    assert torch.equal(run(X), (X + 1).tanh())
    monkeypatch.setattr(Replaced, "forward", lambda self, x: x * 2)
    assert torch.equal(run(X), (X * 2).tanh())


_factor = 2.0
_weight = torch.ones(4)


def _helper(x):
    return x * _factor


def test_globals(way, monkeypatch):
    """A global that is bound anew, also one of a function called."""
    run = way(lambda x: _helper(x) + _weight)
    assert torch.equal(run(X), X * 2 + 1)
    monkeypatch.setitem(globals(), "_factor", 5.0)
    assert torch.equal(run(X), X * 5 + 1)
    monkeypatch.setitem(globals(), "_weight", torch.zeros(4))
    assert torch.equal(run(X), X * 5)
    monkeypatch.setitem(globals(), "_helper", lambda x: -x)
    assert torch.equal(run(X), -X)


def test_closures_and_defaults(way):
    """Cells, lists, dicts and objects in them, modules within, defaults."""
    number = 1.0
    items = [torch.ones(4), 2.0]
    modules = {"net": net()}

    def function(x, by=3.0, *, plus=0.0):
        return modules["net"](x) * number * items[1] + items[0] * by + plus

    run = way(function)

    def check():
        assert torch.equal(run(X), function(X))

    check()
    number = 4.0
    check()
    items[1] = 7.0
    check()
    items[0] = torch.zeros(4)
    check()
    modules["net"].append(nn.Tanh())
    check()
    modules["net"] = nn.Tanh()
    check()
    function.__kwdefaults__["plus"] = 2.0
    check()
    function.__defaults__ = (9.0,)
    check()


def test_partial(way):
    """Arguments bound ahead."""
    given = {"by": 2.0}
    run = way(functools.partial(lambda x, box: x * box["by"], box=given))
    assert torch.equal(run(X), X * 2)
    given["by"] = 3.0
    assert torch.equal(run(X), X * 3)


def test_default_dtype(way):
    """Results of factories depend on it."""
    run = way(lambda x: x.double() + torch.ones(4))
    assert run(X).dtype == torch.float64
    values = way(lambda x: torch.ones(4) * x.sum().item.__self__.numel())
    assert values(X).dtype == torch.float32
    torch.set_default_dtype(torch.float64)
    try:
        assert values(X).dtype == torch.float64
    finally:
        torch.set_default_dtype(torch.float32)


# --- memory that is shared ---------------------------------------------------


def test_the_same_argument_twice(way):
    """f(a, a) is another kind of call than f(a, b)."""

    def function(x, y):
        x.add_(1)
        return x + y

    run = way(function)
    a, b = torch.ones(3), torch.ones(3)
    assert run(a, b).tolist() == [3, 3, 3]
    a = torch.ones(3)
    assert run(a, a).tolist() == [4, 4, 4]
    assert a.tolist() == [2, 2, 2]
    assert run(a, b).tolist() == [4, 4, 4]


def test_overlapping_views(way):
    """Views of one tensor that overlap, by as much as they do."""

    def function(x, y):
        x.mul_(2)
        return y + 0

    for begin in (0, 1, 2, 4):
        run, memory = way(function), torch.arange(8.0)
        other = memory.clone()
        got = run(memory[:4], memory[begin : begin + 4]).clone()
        want = function(other[:4], other[begin : begin + 4])
        assert torch.equal(got, want)
        assert torch.equal(memory, other)
    run = way(function)
    for begin in (0, 1, 2, 4, 1, 0):
        memory = torch.arange(8.0)
        other = memory.clone()
        got = run(memory[:4], memory[begin : begin + 4]).clone()
        assert torch.equal(got, function(other[:4], other[begin : begin + 4]))


def test_three_that_overlap_in_a_row(way):
    """The third reaches into two that do not touch each other."""

    def function(x, y, z):
        x.add_(1)
        y.add_(10)
        return z * 1

    run = way(function)
    for shift in (0, 1, 2):
        memory = torch.arange(8.0)
        other = memory.clone()
        parts = [memory[:2], memory[3:5], memory[shift : shift + 4]]
        twins = [other[:2], other[3:5], other[shift : shift + 4]]
        assert torch.equal(run(*parts), function(*twins))
        assert torch.equal(memory, other)


def test_an_argument_in_the_memory_of_a_parameter(way):
    """Writes to one are seen in the other."""
    module = net().requires_grad_(False)

    def function(x, w):
        w.mul_(2)
        return module(x)

    twin = copy.deepcopy(module)

    def expected(x, w):
        w.mul_(2)
        return twin(x)

    run = way(function)
    for _ in range(3):
        got = run(X, module[0].weight.data[1]).clone()
        assert torch.equal(got, expected(X, twin[0].weight.data[1]))
    assert torch.equal(module[0].weight, twin[0].weight)


def test_results_that_are_arguments(way):
    """The very tensor where PyTorch gives that, else a view of it."""
    run = way(lambda x: (x, x.t(), x[1:], x * 2))
    for _ in range(2):
        x = torch.arange(6.0).view(2, 3)
        same, turned, part, other = run(x)
        assert same is x
        x[1, 0] = 9
        assert turned[0, 1] == part[0, 0] == 9
        assert other[1, 0] == 6
        assert (turned.shape, part.stride()) == ((3, 2), (3, 1))


def test_results_that_are_parameters():
    """They stay what they are, with their history."""
    module = net()
    run = torch.compile(lambda: (module[0].weight, module[0].weight.t()))
    for _ in range(2):
        weight, turned = run()
        assert weight is module[0].weight
        turned.sum().backward()
    assert module[0].weight.grad[0, 0] == 2


def test_swapped_statics():
    """Arguments that are each other's memory arrive unmixed."""
    a, b = torch.zeros(3), torch.ones(3)
    run = torch.cuda.make_graphed_callables(lambda x, y: x - y, (a, b))
    assert run(b, a).tolist() == [1, 1, 1]


# --- backward ----------------------------------------------------------------


def test_a_weight_changes_before_the_backward():
    """As in PyTorch where the gradient needs its value; else it may."""
    module = nn.Linear(4, 4)
    run = torch.compile(module)
    x = X.clone().requires_grad_()
    for _ in range(2):
        out = run(x).sum()
        with torch.no_grad():
            module.weight.mul_(2)
        with pytest.raises(RuntimeError, match="modified by an inplace"):
            out.backward()
        out = run(x).sum()
        with torch.no_grad():
            module.bias.mul_(2)
        out.backward()


@pytest.mark.parametrize("written", ["x", "view", "w", "unread"])
def test_an_argument_changes_before_the_backward(written):
    """As in PyTorch where the gradient needs its value; else it may."""
    run = torch.compile(lambda x, w, u: (x * w).sin() + u)
    for _ in range(3):
        x, u = torch.ones(2, 2), torch.zeros(2, 2)
        w = torch.full((2, 2), 2.0, requires_grad=True)
        out = run(x, w, u).sum()
        changed = {"x": x, "view": x[0], "w": w, "unread": u}[written]
        with torch.no_grad():
            changed.add_(1)
        if written in ("x", "view"):
            with pytest.raises(RuntimeError, match="modified by an inplace"):
                out.backward()
        else:
            out.backward()
            torch.testing.assert_close(w.grad, torch.full((2, 2), 2.0).cos())


# --- calls that change what they depend on ----------------------------------

_count = 0


def test_a_call_that_counts():
    """Such calls run as they are, once each."""
    seen = []

    def function(x):
        global _count
        _count += 1
        seen.append(_count)
        return x + _count

    run = torch.compile(function)
    for i in range(1, 13):
        assert torch.equal(run(X), X + i)
    assert seen == list(range(1, 13))


class Trainer:
    """Keeps books that its step knows nothing of."""

    def __init__(self):
        self.net = nn.Linear(3, 2)
        self.factor = 2.0
        self.losses = []
        self.calls = 0
        self.step = torch.compile(self.step, fullgraph=True)

    def step(self, x):
        return self.scaled(x).sum()

    def scaled(self, x):
        return self.net(x) * self.factor

    def train(self, times):
        for _ in range(times):
            self.losses.append(self.step(torch.ones(2, 3)).item())
            self.calls += 1
            self.latest = self.losses[-1]


def test_attributes_that_no_code_names_are_not_looked_at():
    trainer = Trainer()
    trainer.train(5)
    assert trainer.step.captures == 1
    trainer.factor = 3.0
    trainer.train(2)
    assert trainer.step.captures == 2
    assert trainer.losses[-1] == pytest.approx(1.5 * trainer.losses[0])


class Chooser:
    """Finds an attribute by a text that it puts together."""

    def __init__(self):
        self.which = "first"
        self.the_first, self.the_second = 1.0, 10.0

    def call(self, x):
        return x * getattr(self, f"the_{self.which}")

    def by_text(self, x):
        return x * 2 if hasattr(self, "extra") else x


def test_attributes_that_code_finds_otherwise_are():
    chooser = Chooser()
    call = torch.compile(chooser.call, fullgraph=True)
    x = torch.ones(2)
    assert call(x).tolist() == [1.0, 1.0]
    chooser.the_first = 5.0
    assert call(x).tolist() == [5.0, 5.0]
    chooser.which = "second"
    assert call(x).tolist() == [10.0, 10.0]
    by_text = torch.compile(chooser.by_text, fullgraph=True)
    assert by_text(x).tolist() == [1.0, 1.0]
    chooser.extra = None
    assert by_text(x).tolist() == [2.0, 2.0]


class Made:
    """Made anew in each call, with what its class says."""

    scale = 1.0

    def __init__(self, x):
        self.x = x * factor_of_made

    def value(self):
        return self.x * self.scale


factor_of_made = 2.0


def test_classes_of_objects_that_code_makes_are_looked_at(monkeypatch):
    @torch.compile(fullgraph=True)
    def call(x):
        return Made(x).value()

    x = torch.ones(2)
    assert call(x).tolist() == [2.0, 2.0]
    monkeypatch.setattr(Made, "scale", 3.0)
    assert call(x).tolist() == [6.0, 6.0]
    monkeypatch.setitem(globals(), "factor_of_made", 5.0)
    assert call(x).tolist() == [15.0, 15.0]
