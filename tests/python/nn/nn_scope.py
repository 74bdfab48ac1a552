"""Helpers that the cases of modules share: their registry, and a network."""

from __future__ import annotations

from collections import OrderedDict

from outcomes import tensor


class Cases:
    """Cases by name, gathered by a decorator and from texts."""

    def __init__(self) -> None:
        self.found = {}

    def case(self, function):
        """Registers a case under its name."""
        self.found[function.__name__] = function
        return function

    def each(self, name: str, *texts: str) -> None:
        """Registers a case for each text, an expression of `m` and others."""
        for text in texts:
            label = f"{name}: {text}"
            self.found[label] = lambda lib, text=text: _evaluate(lib, text)


def _evaluate(lib, text: str):
    nn = lib.nn
    scope = {"lib": lib, "nn": nn, "OrderedDict": OrderedDict, "m": net(lib)}
    scope["p"] = nn.Parameter(tensor(lib, 2))
    scope["t"] = tensor(lib, 2)
    scope["seq"] = nn.Sequential(nn.ReLU(), nn.Tanh(), nn.GELU())
    scope["ml"] = nn.ModuleList([nn.ReLU(), nn.ReLU(), nn.Tanh()])
    scope["md"] = nn.ModuleDict({"a": nn.ReLU(), "b": nn.Tanh()})
    scope["pl"] = nn.ParameterList([tensor(lib, 2, 3), scope["p"], 3])
    scope["pd"] = nn.ParameterDict({"a": tensor(lib, 2, 3), "b": scope["p"], "c": 3})
    scope["do"] = _do
    return eval(text, scope)


def _do(target, *names_and_args):
    """Calls methods one after the other, then shows the target."""
    results = [getattr(target, name)(*args) for name, *args in names_and_args]
    return [repr(r) for r in results], repr(target), list(target.state_dict())


def net(lib):
    """A module with one of everything: shared, absent, not persistent."""
    nn = lib.nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(2, 3)
            self.blocks = nn.Sequential(nn.Linear(3, 3), nn.ReLU(), nn.BatchNorm1d(3))
            self.shared = self.fc
            self.scale = nn.Parameter(lib.ones(3))
            self.nothing = None
            self.register_parameter("absent", None)
            self.register_buffer("count", lib.zeros(2))
            self.register_buffer("scratch", lib.ones(2), persistent=False)
            self.register_buffer("missing", None)
            self.register_module("hole", None)

        def forward(self, x):
            return self.blocks(self.fc(x)) * self.scale

    return Net()
