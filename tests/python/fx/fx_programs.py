"""Programs that the cases of torch.fx trace, for either library.

Their annotations are types and not text: they are part of what is traced.
"""

import operator
import typing

import outcomes


def importable(lib):
    """`fx` and its parts of a library, by short names."""
    import importlib
    import types

    def part(name):
        return importlib.import_module(f"{lib.__name__}.fx{name}")

    return types.SimpleNamespace(
        fx=part(""),
        node=part(".node"),
        trace=part("._symbolic_trace"),
        schemas=part(".operator_schemas"),
        shape_prop=part(".passes.shape_prop"),
        split=part(".passes.split_module"),
        fold=part(".experimental.const_fold"),
        rewriter=part(".experimental.rewriter"),
        patterns=part(".subgraph_rewriter"),
        collections=part(".immutable_collections"),
    )


def network(lib):
    """A module with children, parameters, a buffer and a plain tensor."""

    class Network(lib.nn.Module):
        def __init__(self):
            super().__init__()
            self.lin = lib.nn.Linear(3, 3)
            self.seq = lib.nn.Sequential(lib.nn.ReLU(), lib.nn.Linear(3, 3))
            self.w = lib.nn.Parameter(outcomes.tensor(lib, 3))
            self.register_buffer("b", outcomes.tensor(lib, 3, start=5))
            self.plain = outcomes.tensor(lib, 3, start=9)
            for i, p in enumerate(self.parameters()):
                p.data = outcomes.tensor(lib, *p.shape, start=i)

        def forward(self, X, scale=1.5, *, k: int = 2):
            t = lib.sigmoid(X) + self.lin(X * self.w)
            t = self.seq(t)[:, None, ..., 0:2] * scale
            t = t + self.b[:2] - self.plain[:2]
            u = lib.cat([t, t], dim=-1).clamp(min=0.0, max=float("inf"))
            return {"u": u, "v": (t, [k])}

    return Network()


def syntax(x, y):
    """Every operator."""
    a = (x + y) - (x * 2) / y // 3 % 2
    b = x**2 @ y << 1 >> 2
    c = (x & y) | (x ^ 1)
    d = (-x, +y, ~x, abs(y))
    e = (x == y, x != 1, x < y, x > 1, x <= y, y <= 2)
    f = 3 - x + 2 * y + 1 / x
    g = x[1], x[1:2], x[..., None], x[y]
    x += 1
    return a, b, c, d, e, f, g, x.shape[0], x.data.real, x.view(2, -1)


def typed(a: typing.List[int], b: typing.Optional[int], c: typing.Any):
    return a[0], b, c


def stars(x, *args, **kwargs):
    return x + args[0] + kwargs["k"]


def unpacked(x):
    a, b, (c, d) = x
    return a + b + c * d


def in_place(lib):
    graph = importable(lib).fx.Graph()
    a, b = graph.placeholder("a"), graph.placeholder("b")
    graph.call_function(operator.imul, (a, b))
    graph.call_function(operator.setitem, (a, 0, b))
    graph.output(a)
    return graph
