"""jit.trace: what a program does with examples, for other inputs, too."""

import copy
import io
import warnings

import hotaru.nn.functional as F
import pytest
from test_jit_script_layers import LAYERS, flat

import hotaru as torch
from hotaru import nn

X = torch.arange(6.0).reshape(2, 3)
LARGER = torch.arange(12.0).reshape(4, 3)

TRACED = sorted(
    name
    for name, (_, *inputs) in LAYERS.items()
    if not any(type(v) in (list, bool, type(None)) for v in inputs)
)


def program(x, y):
    a = x * 2 + y
    b = a.view(x.size(0), -1).relu()
    c = torch.cat([b, b], dim=1)
    values, indices = c.max(dim=1)
    z = torch.zeros(x.shape[0], 3) + x[:, 1:2] + torch.ones(3)
    c[0, 0] = 5
    z += 1
    parts = c.split(2, dim=1)
    for i in range(3):
        z = z + i
    half = c.shape[0] * 2 // 2
    return (
        [values, indices],
        z / 2,
        parts[0] - 1,
        (1 - c).sum(),
        x.reshape(half, 3),
        F.softmax(c, 1),
        -c,
        abs(c) // 2,
        c > 2,
        2**b,
        b @ b.T,
        x.float().mean(-1),
    )


def parts(value) -> list:
    if isinstance(value, (tuple, list)):
        return [t for item in value for t in parts(item)]
    return [value]


def test_function_for_other_sizes():
    traced = torch.jit.trace(program, (X, X + 1))
    assert isinstance(traced, torch.jit.ScriptFunction)
    for inputs in ((X, X + 1), (LARGER, LARGER * 2)):
        expected, got = parts(program(*inputs)), parts(traced(*inputs))
        assert len(expected) == len(got)
        assert all(map(torch.equal, expected, got))
    assert torch.equal(X, torch.arange(6.0).reshape(2, 3)), "an input changed"


@pytest.mark.parametrize("name", TRACED)
def test_traced_layer_gives_what_the_layer_gives(name):
    make, *inputs = LAYERS[name]
    torch.manual_seed(0)
    layer = make().eval()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", torch.jit.TracerWarning)
        traced = torch.jit.trace(layer, tuple(copy.deepcopy(inputs)))
    expected = flat(layer(*copy.deepcopy(inputs)))
    got = flat(traced(*copy.deepcopy(inputs)))
    assert len(expected) == len(got)
    assert all(map(torch.equal, expected, got))


class Recurrent(nn.Module):
    """Nested modules, a nested input, a size in the program."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(3, 3), nn.Tanh()])
        self.cell = nn.GRUCell(3, 3)
        self.register_buffer("offset", torch.ones(3))
        self.plain = torch.full((3,), 2.0)

    def forward(self, x, state):
        hidden, names = state
        for layer in self.layers:
            x = layer(x)
        hidden = self.cell(x.view(x.size(0), -1), hidden) + self.offset
        return {"hidden": hidden, "twice": names["k"] * self.plain}


def test_module_shares_its_parameters():
    module = Recurrent()
    state = (torch.zeros(2, 3), {"k": X})
    with pytest.raises(RuntimeError, match="Encountering a dict"):
        torch.jit.trace(module, (X, state))
    traced = torch.jit.trace(module, (X, state), strict=False)
    assert isinstance(traced, torch.jit.ScriptModule)
    larger = (torch.ones(4, 3), {"k": LARGER})
    expected, got = module(LARGER, larger), traced(LARGER, larger)
    assert set(expected) == set(got)
    assert all(torch.equal(expected[key], got[key]) for key in got)
    mine = dict(module.named_parameters())
    assert all(mine[n] is p for n, p in traced.named_parameters())
    traced(X, state)["hidden"].sum().backward()
    assert module.cell.weight_ih.grad is not None
    assert set(traced.state_dict()) == set(module.state_dict())


def test_traced_modules_can_be_saved():
    module = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2))
    traced = torch.jit.trace(module, X)
    buffer = io.BytesIO()
    torch.jit.save(traced, buffer)
    buffer.seek(0)
    loaded = torch.jit.load(buffer)
    assert torch.equal(loaded(LARGER), module(LARGER))


def test_values_become_constants_with_a_warning():
    def f(x):
        if x.sum() > 3:
            return x * x[0, 1].item()
        return x

    with pytest.warns(torch.jit.TracerWarning, match="Python (boolean|number)"):
        traced = torch.jit.trace(f, X)
    assert torch.equal(traced(X * 0), X * 0)
    assert torch.equal(traced(LARGER), LARGER)


def test_what_cannot_be_traced():
    with pytest.raises(RuntimeError, match=r"Type 'Tuple\[Tensor, int\]' cannot"):
        torch.jit.trace(lambda x, n: x * n, (X, 2))
    weight = torch.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="requires grad as a constant"):
        torch.jit.trace(lambda x: x * weight, X)
    with pytest.raises(TypeError, match="relu"):
        torch.relu("no tensor")


def test_several_methods():
    class Two(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(3, 3)

        def forward(self, x):
            return self.linear(x)

        def doubled(self, x):
            return self.linear(x) * 2

    module = Two()
    traced = torch.jit.trace_module(module, {"forward": X, "doubled": X})
    assert torch.equal(traced(LARGER), module(LARGER))
    assert torch.equal(traced.doubled(LARGER), module.doubled(LARGER))


def test_parameters_alone_and_buffers_in_training():
    class Normed(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.tensor([1.0, 2.0, 2.0]))
            self.norm = nn.BatchNorm1d(3)

        def forward(self, x):
            return self.norm(x) * F.normalize(self.weight, dim=0) ** 2

    module = Normed()
    traced = torch.jit.trace(module, X)
    assert module.norm.num_batches_tracked == 0, "the trace changed the module"
    reference = copy.deepcopy(module)
    assert torch.equal(traced(LARGER), reference(LARGER))
    assert torch.equal(module.norm.running_mean, reference.norm.running_mean)
    assert module.norm.num_batches_tracked == 1
    with torch.no_grad():
        module.weight.fill_(3.0)
        reference.weight.fill_(3.0)
    assert torch.equal(traced(X), reference(X))


class Gate(nn.Module):
    """A condition that a trace would freeze."""

    def forward(self, x):
        if x.sum() > 0:
            return x
        else:
            return -x


class Cell(nn.Module):
    """Calls the gate, compiled or not."""

    def __init__(self, gate):
        super().__init__()
        self.gate = gate
        self.linear = nn.Linear(4, 4)

    def forward(self, x, h):
        h = torch.tanh(self.gate(self.linear(x)) + h)
        return h, h


class Loop(nn.Module):
    """Calls a traced module in a loop."""

    def __init__(self, cell):
        super().__init__()
        self.cell = cell

    def forward(self, xs):
        h, y = torch.zeros(3, 4), torch.zeros(3, 4)
        for i in range(xs.size(0)):
            y, h = self.cell(xs[i], h)
        return y, h


def test_scripts_in_traces_in_scripts():
    torch.manual_seed(0)
    x, h, xs = torch.rand(3, 4), torch.rand(3, 4), torch.rand(5, 3, 4)
    cell = Cell(torch.jit.script(Gate()))
    traced = torch.jit.trace(cell, (x, h))
    for sign in (1, -1):
        assert torch.equal(traced(x * sign, h)[0], cell(x * sign, h)[0])
    loop = torch.jit.script(Loop(traced))
    assert torch.equal(loop(xs)[0], Loop(cell)(xs)[0])
    whole = torch.jit.trace(nn.Sequential(loop), xs)
    assert torch.equal(whole(-xs)[1], Loop(cell)(-xs)[1])
    buffer = io.BytesIO()
    torch.jit.save(whole, buffer)
    buffer.seek(0)
    assert torch.equal(torch.jit.load(buffer)(xs)[0], loop(xs)[0])


def test_compiled_functions_in_traces():
    @torch.jit.script
    def positive(x, k: int):
        if bool(x.sum() > 0):
            return x * k
        return -x

    traced = torch.jit.trace(lambda x: positive(x, 3) + 1, X)
    assert torch.equal(traced(X), X * 3 + 1)
    assert torch.equal(traced(-X), X + 1)
    other = torch.jit.script(Gate())
    with pytest.raises(RuntimeError, match="no submodule"):
        torch.jit.trace(lambda x: other(x), X)


def test_lambdas():
    traced = torch.jit.trace(lambda x: x * 2 + x.size(0), X)
    assert torch.equal(traced(LARGER), LARGER * 2 + 4)


def test_keyword_inputs():
    def f(x, scale):
        return x * scale

    inputs = {"scale": torch.tensor(2.0), "x": X}
    traced = torch.jit.trace(f, example_kwarg_inputs=inputs)
    assert torch.equal(traced(x=X, scale=torch.tensor(3.0)), X * 3)


def test_modules_like_traced_ones_are_compiled_with_their_methods():
    class Alone(torch.nn.Module):
        def forward(self, x):
            return x * 2

    x = torch.ones(1)
    torch.jit.trace(torch.nn.Sequential(Alone()), x)
    assert torch.jit.script(Alone())(x) == 2
    assert torch.jit.trace(torch.nn.Sequential(Alone()), x)(x) == 2


class Exported(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = 3
        self.sub = Doubled()

    def forward(self, x):
        return self.sub(x) + self.scale

    @torch.jit.export
    def positive(self, x):
        if x.sum() > 0:
            return self.sub.times(x, self.scale)
        return x


class Doubled(torch.nn.Module):
    def forward(self, x):
        return x * 2

    @torch.jit.export
    def times(self, x, n: int):
        return x * n


def test_exported_methods_of_traced_modules_are_compiled():
    traced = torch.jit.trace(Exported(), torch.ones(2))
    assert traced._c._method_names() == ["forward", "positive"]
    for mod in (traced, exported_and_loaded(traced)):
        assert mod.positive(torch.ones(2)).tolist() == [3, 3]
        assert mod.positive(-torch.ones(2)).tolist() == [-1, -1]  # no trace
        assert mod.sub.times(torch.ones(1), 5).item() == 5


def exported_and_loaded(mod):
    file = io.BytesIO()
    torch.jit.save(mod._c, file)  # the native module does, too
    file.seek(0)
    return torch.jit.load(file)


def test_an_exported_method_that_does_not_compile_is_told_when_tracing():
    class Broken(torch.nn.Module):
        def forward(self, x):
            return x

        @torch.jit.export
        def other(self, x):
            return undefined_name(x)  # noqa: F821

    with pytest.raises(RuntimeError, match="undefined value undefined_name"):
        torch.jit.trace(Broken(), torch.ones(1))


def test_results_that_are_left_out_keep_the_others_in_the_program():
    layer = nn.MultiheadAttention(8, 2, batch_first=True).eval()

    class Attended(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = layer

        def forward(self, x):
            return self.layer(x, x, x, need_weights=False)[0]

    with torch.no_grad():
        traced = torch.jit.trace(Attended(), (torch.randn(2, 3, 8),))
        x = torch.randn(2, 5, 8)
        assert torch.equal(traced(x), Attended()(x))


# "..." before tensors, with everything else that an index may hold.
PLACES = torch.tensor([1, 0, 1])
MASK = torch.tensor([[True, False, True, True]] * 3)
ELLIPSES = {
    "last": lambda x: x[..., PLACES],
    "new": lambda x: x[..., None, PLACES],
    "number": lambda x: x[0, ..., PLACES],
    "slice": lambda x: x[..., PLACES, :2],
    "mask": lambda x: x[..., MASK],
    "both": lambda x: x[PLACES, ..., PLACES],
    "true": lambda x: x[..., True, PLACES],
    "list": lambda x: x[..., [0, 2]],
    "list of truths": lambda x: x[..., [True, False, True, True]],
    "mixed": lambda x: x[..., 1, PLACES],
}


@pytest.mark.parametrize("name", ELLIPSES)
def test_tensors_behind_an_ellipsis(name):
    function = ELLIPSES[name]
    x = torch.arange(24.0).reshape(2, 3, 4)
    traced = torch.jit.trace(function, (x,))
    assert torch.equal(traced(x * x - 9), function(x * x - 9))


def test_writes_behind_an_ellipsis():
    def write(x):
        y = x.clone()
        y[..., PLACES] = -2
        y[..., MASK] += 1
        return y

    x = torch.arange(24.0).reshape(2, 3, 4)
    assert torch.equal(torch.jit.trace(write, (x,))(x * 3), write(x * 3))


class Twice(nn.Module):
    """One module at two places, and a parameter in two modules."""

    def __init__(self):
        super().__init__()
        self.first = nn.BatchNorm1d(3)
        self.again = self.first
        self.one, self.two = nn.Linear(3, 3), nn.Linear(3, 3)
        self.two.weight = self.one.weight
        self.register_buffer("shift", torch.ones(3))

    def forward(self, x):
        return self.two(self.again(self.one(self.first(x)))) + self.shift


def test_one_module_at_two_places():
    model = Twice().eval()
    with torch.no_grad():
        model.first.running_mean += 0.5
        model.first.weight.mul_(2)
    before = dict(model.state_dict())
    traced = torch.jit.trace(model, (X,))
    assert torch.equal(traced(LARGER), model(LARGER))
    assert "BatchNorm1d" in traced.first.original_name
    assert all(model.state_dict()[k] is not None for k in before)
    assert type(model.first.weight) is nn.Parameter
    with torch.no_grad():  # the parameter is the module's own
        model.first.weight.mul_(3)
    assert torch.equal(traced(LARGER), model(LARGER))


@pytest.mark.parametrize("compile", ["script", "trace", "load"])
def test_states_go_module_by_module(compile):
    model = Twice().eval()
    if compile == "trace":
        compiled = torch.jit.trace(model, (X,))
    else:
        compiled = torch.jit.script(model)
    if compile == "load":
        file = io.BytesIO()
        torch.jit.save(compiled, file)
        file.seek(0)
        compiled = torch.jit.load(file)
    assert list(compiled.state_dict()) == list(model.state_dict())
    assert next(iter(compiled.state_dict())) == "shift"
    assert list(compiled.state_dict(prefix="a."))[1] == "a.first.weight"
    for tensor, own in zip(compiled.state_dict().values(), model.state_dict().values()):
        assert torch.equal(tensor, own)


def test_options_that_programs_cannot_hold():
    loss = nn.LinearCrossEntropyLoss(3, 5)
    inputs = X, torch.tensor([1, 4])
    traced = torch.jit.trace(loss, inputs)
    assert torch.equal(traced(X * 2, inputs[1]), loss(X * 2, inputs[1]))


@pytest.mark.parametrize(
    "compiled", [lambda m, x: torch.jit.trace(m, (x,)), torch.jit.script]
)
@pytest.mark.parametrize("layer", [nn.Embedding, nn.EmbeddingBag])
def test_rows_are_scaled_beside_the_gradient(layer, compiled):
    """PyTorch runs no program that writes into a parameter itself."""
    weight = torch.arange(12.0).view(4, 3)
    module = layer(4, 3, max_norm=1.0, _weight=weight)
    x = torch.tensor([[0, 1, 1]])
    arguments = (module, x) if compiled is not torch.jit.script else (module,)
    program = compiled(*arguments)
    graph = str(getattr(program, "inlined_graph", program.graph))
    before = graph[: graph.index("aten::embedding_renorm_")]
    assert "aten::detach" in before
    program(x).sum().backward()
    assert module.weight.grad.sum() == (9 if layer is nn.Embedding else 3)
    assert weight[1].norm() == pytest.approx(1)
