"""jit.script of modules: attributes, methods, containers, sharing, saving."""

# TorchScript knows the old spellings, and they are what is tested.
# ruff: noqa: UP006, UP035

import copy
import importlib.util
import io
import sys
from pathlib import Path
from typing import Final, List, Optional, Tuple

import hotaru.nn.functional as F
import pytest

import hotaru as torch
from hotaru import Tensor, nn

X = torch.arange(6.0).reshape(2, 3)


class Everything(nn.Module):
    """One of each kind of attribute."""

    __constants__ = ("weights",)
    scale: Final[float] = 2.0
    steps: Final[int] = 3
    state: Optional[Tensor]
    history: List[Tensor]

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 4)
        self.layers = nn.ModuleList([nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 2)])
        self.named = nn.ModuleDict({"a": nn.Linear(2, 2), "b": nn.Tanh()})
        self.register_buffer("offset", torch.ones(2))
        self.factor = nn.Parameter(torch.full((2,), 2.0))
        self.extra = nn.ParameterList([nn.Parameter(torch.ones(2))])
        self.absent = None
        self.weights = [1, 2]
        self.count = 0
        self.names = ["x", "y"]
        self.pair = (1, 2.5)
        self.activation = F.relu
        self.operator = torch.tanh
        self.flag = False
        self.state = None
        self.history = []

    @property
    def twice(self) -> float:
        return self.scale * 2

    @staticmethod
    def shifted(x: Tensor) -> Tensor:
        return x + 1

    def helper(self, x, k: int = 2):
        return x * k + self.steps

    @torch.jit.export
    def counted(self, n: int) -> int:
        self.count += n
        return self.count

    @torch.jit.unused
    def in_python_only(self, x):
        return {"x": x}

    @torch.jit.ignore
    def from_python(self, x: Tensor) -> Tensor:
        return torch.tensor(x.tolist()) * self.factor.detach()

    def forward(self, x, only: Optional[int] = None):
        x = self.activation(self.linear(x))
        for layer in self.layers:
            x = layer(x)
        for i, layer in enumerate(self.layers[1:2]):
            x = layer(x) + i
        for name, module in self.named.items():
            x = self.operator(module(x)) if name == "b" else module(x)
        for weight in self.weights:
            x = x + weight
        for parameter in self.extra:
            x = x * parameter
        if self.absent is not None:
            x = self.absent(x)
        if self.flag:
            x = self.in_python_only(x)
        if only is not None:
            x = x + only
        x = self.shifted(self.helper(x, k=3)) + self.twice + self.pair[0]
        self.history.append(x)
        return x * self.factor + self.offset * self.scale + len(self.layers)


@pytest.fixture
def module():
    torch.manual_seed(0)
    return Everything()


def test_forward_and_methods(module):
    compiled = torch.jit.script(module)
    assert torch.equal(compiled(X), module(X))
    assert torch.equal(compiled(X, only=3), module(X, only=3))
    assert torch.equal(compiled.forward(X), module(X))
    assert (compiled.counted(2), compiled.counted(3)) == (2, 5)
    assert (compiled.count, module.count) == (5, 0)
    with pytest.raises(AttributeError):
        compiled.helper_that_is_not_there(X)


def test_attributes(module):
    compiled = torch.jit.script(module)
    assert (compiled.steps, compiled.scale, compiled.pair) == (3, 2.0, (1, 2.5))
    assert compiled.names == ["x", "y"]
    assert compiled.state is None
    compiled.names = ["z"]
    compiled.state = X
    assert compiled.names == ["z"]
    assert torch.equal(compiled.state, X)
    with pytest.raises(RuntimeError, match="names"):
        compiled.names = 3
    assert isinstance(compiled, torch.jit.ScriptModule)
    assert isinstance(compiled, nn.Module)
    assert compiled.original_name == "Everything"


def test_parameters_are_those_of_the_module(module):
    compiled = torch.jit.script(module)
    mine = dict(module.named_parameters())
    theirs = dict(compiled.named_parameters())
    assert set(mine) == set(theirs)
    assert all(mine[name] is theirs[name] for name in mine)
    assert all(isinstance(p, nn.Parameter) for p in theirs.values())
    assert set(module.state_dict()) == set(compiled.state_dict())
    with torch.no_grad():
        module.factor.fill_(5.0)
    assert torch.equal(compiled(X), module(X))
    optimizer = torch.optim.SGD(compiled.parameters(), lr=0.1)
    compiled(X).sum().backward()
    assert module.factor.grad is not None
    optimizer.step()
    assert torch.equal(compiled(X), module(X))
    compiled.to(torch.float64)
    assert module.linear.weight.dtype == torch.float64
    assert compiled(X.double()).dtype == torch.float64


def test_attributes_with_declared_types():
    class Declared(nn.Module):
        limit: "torch.jit.Final[int]"
        table: "dict[str, list[int]]"

        def __init__(self):
            super().__init__()
            self.limit = 3
            self.table = {}
            self.empty = torch.jit.Attribute([], List[int])
            self.strange = object()

        def forward(self, x):
            self.empty.append(self.limit)
            self.table["seen"] = self.empty
            return x * len(self.empty)

    compiled = torch.jit.script(Declared())
    assert torch.equal(compiled(X), X)
    assert torch.equal(compiled(X), X * 2)
    assert compiled.table == {"seen": [3, 3]}
    assert compiled.empty == [3, 3]


def test_modes(module):
    class Noisy(nn.Module):
        def __init__(self):
            super().__init__()
            self.drop = nn.Dropout(0.5)

        def forward(self, x):
            return self.drop(x) + (1 if self.training else 0)

    noisy = Noisy()
    compiled = torch.jit.script(noisy)
    torch.manual_seed(0)
    trained = compiled(X)
    torch.manual_seed(0)
    assert torch.equal(trained, noisy(X))
    assert not torch.equal(trained, X + 1)
    assert torch.equal(compiled.eval()(X), X)
    assert (compiled.training, compiled.drop.training) == (False, False)
    assert (noisy.training, noisy.drop.training) == (True, True)


def test_functions_left_to_python(module):
    compiled = torch.jit.script(module)
    assert torch.equal(compiled.from_python(X[:, :2]), X[:, :2] * 2)
    compiled.flag = True
    with pytest.raises(torch.jit.Error, match="annotated to be ignored"):
        compiled(X)

    class Caller(nn.Module):
        def __init__(self):
            super().__init__()
            self.k = 3

        @torch.jit.ignore
        def outside(self, x: Tensor, names: List[str]) -> Tensor:
            return x + {"three": self.k}[names[0]]

        def forward(self, x):
            return self.outside(x, ["three"]) * 2

    assert torch.equal(torch.jit.script(Caller())(X), (X + 3) * 2)


class Scaled(nn.Module):
    """A linear map and a number, with an exported method."""

    def __init__(self, n: int):
        super().__init__()
        self.n = n
        self.linear = nn.Linear(3, 3)

    def forward(self, x, mask: Optional[Tensor] = None):
        if mask is not None:
            x = x * mask
        return self.linear(x) * self.n

    @torch.jit.export
    def minus(self, x):
        return x - self.n


class Nested(nn.Module):
    """Modules in modules, one of them twice."""

    def __init__(self):
        super().__init__()
        self.a = Scaled(2)
        self.b = Scaled(3)
        self.again = self.a
        self.stack = nn.Sequential(Scaled(1), nn.ReLU(), Scaled(4))

    def forward(self, x):
        y = self.b(self.a(x), mask=x) + self.again(x) + self.stack(x)
        return y + self.a.minus(x) + self.stack[0](x) + self.stack[-1].n


def test_nested_modules():
    nested = Nested()
    compiled = torch.jit.script(nested)
    assert torch.equal(compiled(X), nested(X))
    assert torch.equal(compiled.a.minus(X), X - 2)
    assert compiled.a == compiled.again
    assert len(list(compiled.parameters())) == 8
    assert len(compiled.stack) == 3
    assert torch.equal(compiled.stack[0](X), nested.stack[0](X))
    assert [name for name, _ in compiled.named_children()] == [
        "a",
        "b",
        "again",
        "stack",
    ]


def test_compiled_modules_in_modules():
    class Outer(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = torch.jit.script(Scaled(2))

        def forward(self, x):
            return self.inner(x) + self.inner.minus(x)

    outer = Outer()
    assert torch.equal(torch.jit.script(outer)(X), outer(X))


def test_inherited_and_overridden_methods():
    class Base(nn.Module):
        def __init__(self):
            super().__init__()
            self.k = 3

        def common(self, x):
            return x * self.k

        def forward(self, x):
            return self.common(x)

    class Derived(Base):
        def common(self, x):
            return x + self.k

    assert torch.equal(torch.jit.script(Base())(X), X * 3)
    assert torch.equal(torch.jit.script(Derived())(X), X + 3)


def test_state_between_calls():
    class Recurrent(nn.Module):
        state: Optional[Tensor]

        def __init__(self):
            super().__init__()
            self.cell = nn.GRUCell(3, 3)
            self.state = None

        def forward(self, x):
            state = self.state
            if state is None:
                state = torch.zeros_like(x)
            state = self.cell(x, state)
            self.state = state
            return state

        @torch.jit.export
        def reset(self) -> None:
            self.state = None

    module = Recurrent()
    compiled = torch.jit.script(module)
    first, second = compiled(X), compiled(X)
    assert torch.equal(first, module(X))
    assert torch.equal(second, module(X))
    compiled.reset()
    assert torch.equal(compiled(X), first)


def test_fork_of_modules_and_methods():
    class Parallel(nn.Module):
        def __init__(self):
            super().__init__()
            self.parts = nn.ModuleList([Scaled(i + 1) for i in range(3)])

        def checked(self, x, k: int) -> Tensor:
            assert k > 0, "k must be positive"
            return x * k

        def forward(self, x, k: int):
            futures: List[torch.jit.Future[Tensor]] = []
            for part in self.parts:
                futures.append(torch.jit.fork(part, x))
            futures.append(torch.jit.fork(self.checked, x, k))
            results: List[Tensor] = []
            for future in futures:
                results.append(torch.jit.wait(future))
            return torch.stack(results).sum(0)

    module = Parallel()
    compiled = torch.jit.script(module)
    assert torch.equal(compiled(X, 2), module(X, 2))
    with pytest.raises(torch.jit.Error, match="k must be positive"):
        compiled(X, 0)


def test_networks_of_the_examples(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setitem(sys.modules, "torch.nn", nn)
    source = Path(__file__).parents[3] / "examples/networks.py"
    spec = importlib.util.spec_from_file_location("networks", source)
    networks = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(networks)
    for name in networks.NETWORKS:
        network, x = networks.make(name)
        assert torch.equal(torch.jit.script(network)(x), network(x)), name


def test_saved_and_loaded():
    compiled = torch.jit.script(Nested())
    buffer = io.BytesIO()
    torch.jit.save(compiled, buffer)
    buffer.seek(0)
    loaded = torch.jit.load(buffer)
    assert torch.equal(loaded(X), compiled(X))
    assert torch.equal(loaded.a.minus(X), compiled.a.minus(X))


class Step(torch.jit.ScriptModule):
    """A class of the old interface, which compiles itself."""

    def __init__(self, size: int):
        super().__init__()
        self.weight = nn.Parameter(torch.eye(size) * 2)

    @torch.jit.script_method
    def forward(
        self, x: Tensor, state: Tuple[Tensor, Tensor]
    ) -> Tuple[Tensor, Tuple[Tensor, Tensor]]:
        h, c = state
        h = torch.tanh(x @ self.weight + h)
        return h, (h, c + h)


class Steps(torch.jit.ScriptModule):
    """Makes a module of the class it is given."""

    def __init__(self, step, *args):
        super().__init__()
        self.step = step(*args)

    @torch.jit.script_method
    def forward(self, xs, state: Tuple[Tensor, Tensor]):
        outputs = torch.jit.annotate(List[Tensor], [])
        for x in xs.unbind(0):
            y, state = self.step(x, state)
            outputs += [y]
        return torch.stack(outputs), state


def test_classes_that_compile_themselves():
    steps = Steps(Step, 3)
    assert isinstance(steps, torch.jit.ScriptModule)
    assert isinstance(steps.step, torch.jit.RecursiveScriptModule)
    state = (torch.zeros(2, 3), torch.zeros(2, 3))
    outputs, (h, c) = steps(torch.stack([X, -X]), state)
    first = torch.tanh(X * 2)
    assert torch.equal(outputs, torch.stack([first, torch.tanh(-X * 2 + first)]))
    assert torch.equal(h, outputs[1])
    assert torch.equal(c, outputs[0] + outputs[1])
    with pytest.raises(TypeError):
        torch.jit.RecursiveScriptModule()


def test_copies():
    nested = torch.jit.script(Nested())
    copied = copy.deepcopy(nested)
    assert torch.equal(copied(X), nested(X))
    assert copied.a == copied.again
    with torch.no_grad():
        copied.a.linear.weight.zero_()
    assert not torch.equal(copied(X), nested(X))
    assert copied.a.linear.weight.requires_grad
    assert copied.training


def test_results_with_several_parts():
    class Parts(nn.Module):
        def forward(self, x) -> Tuple[Tensor, List[int]]:
            return x * 2, x.shape

    doubled, shape = torch.jit.script(Parts())(X)
    assert torch.equal(doubled, X * 2)
    assert shape == [2, 3]


class ReluWhenCompiled(nn.SELU):
    def __prepare_scriptable__(self):
        return nn.ReLU()


def test_modules_say_what_is_compiled_in_their_place():
    x = torch.tensor([-1.0, 2.0])
    alone = ReluWhenCompiled()
    assert torch.jit.script(alone)(x).tolist() == [0, 2]
    inside = nn.Sequential(alone, nn.ModuleList([alone])[0], nn.Identity())
    assert torch.jit.script(inside)(x).tolist() == [0, 2]
    assert alone(x)[0] < 0
    assert torch.jit.trace(alone, x)(x)[0] < 0  # a trace is of what runs


@pytest.mark.parametrize("value", [int, (3, 4, {}), [nn.ReLU()], 1j])
def test_constants_are_of_certain_types(value):
    class Held(nn.Module):
        __constants__ = ("held",)

        def __init__(self):
            super().__init__()
            self.held = value

        def forward(self, x):
            return x

    with pytest.raises(TypeError, match=r"'Held.held' is not a valid constant"):
        torch.jit.script(Held())


def test_native_modules_name_their_class():
    text = str(torch.jit.script(nn.ReLU())._c)
    assert text.startswith("ScriptObject <__torch__.torch.nn.modules")
    assert text.endswith("ReLU>")


class _Masks(torch.nn.Module):
    """Asks a layer's static method."""

    def __init__(self):
        super().__init__()
        self.body = torch.nn.Transformer(4, 2, 1, 1, 8, batch_first=True)

    def forward(self, x):
        return self.body.generate_square_subsequent_mask(x.size(0))


def test_static_methods_of_layers():
    inf = float("inf")
    found = torch.jit.script(_Masks())(torch.eye(2))
    assert found.tolist() == [[0.0, -inf], [0.0, 0.0]]


class ByName(nn.Module):
    """Parameters by name."""

    def __init__(self):
        super().__init__()
        self.named = nn.ParameterDict([("b", X[0] + 1), ("a", X[1])])

    def forward(self, x):
        for name, value in self.named.items():
            x = x * value if name == "b" else x - value
        for value in self.named.values():
            x = x + value
        if "a" in self.named:
            x = x + self.named["a"] * len(self.named)
        return x


@pytest.mark.parametrize("compile", ["script", "trace", "load"])
def test_dicts_of_parameters(compile):
    model = ByName()
    if compile == "trace":
        compiled = torch.jit.trace(model, (X,))
    else:
        compiled = torch.jit.script(model)
    if compile == "load":
        file = io.BytesIO()
        torch.jit.save(compiled, file)
        file.seek(0)
        compiled = torch.jit.load(file)
    assert torch.equal(compiled(X * 2), model(X * 2))
    assert list(compiled.state_dict()) == ["named.b", "named.a"]
    assert [n for n, _ in compiled.named_parameters()] == ["named.b", "named.a"]
    if compile == "script":
        assert list(compiled.named) == ["b", "a"]
        assert torch.equal(compiled.named["b"], X[0] + 1)
        assert len(compiled.named) == 2
        assert "c" not in compiled.named


def test_containers_are_of_the_one_class_of_compiled_modules():
    class Whole(nn.Module):
        def __init__(self):
            super().__init__()
            self.listed = nn.ModuleList([nn.Linear(2, 2), nn.ReLU()])
            parts = {"a": nn.Linear(2, 2), "b": nn.ReLU()}
            self.named = nn.ModuleDict(parts)
            self.numbers = nn.ParameterList([nn.Parameter(X)])

        def forward(self, x):
            return x

    compiled = torch.jit.script(Whole())
    kinds = {type(module) for module in compiled.modules()}
    assert kinds == {torch.jit.RecursiveScriptModule}
    listed, named = compiled.listed, compiled.named
    assert [type(m).__name__ for m in listed] == ["RecursiveScriptModule"] * 2
    assert (len(listed), len(compiled.numbers)) == (2, 1)
    assert torch.equal(compiled.numbers[0], X)
    assert list(named) == ["a", "b"]
    assert [name for name, _ in named.items()] == ["a", "b"]
    assert named["b"] in named.values()
    assert "c" not in named
    assert named.keys() == ["a", "b"]
    with pytest.raises(TypeError):
        iter(named["a"])
    with pytest.raises(AttributeError):
        listed.items()
