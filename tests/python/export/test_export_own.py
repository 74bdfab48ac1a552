"""Programs that are exported here: graphs, sizes, files, errors."""

import copy
import dataclasses
import io
import json
import sys
import zipfile
from pathlib import Path

import pytest
from hotaru.export import DataDependentError, Dim, UserError, export, load, save
from hotaru.export._expressions import Expression, Symbol
from hotaru.nn import functional as F

import hotaru as torch
from hotaru import nn

TESTS = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TESTS / "conformance" / "export"))


def saved(program):
    file = io.BytesIO()
    save(program, file)
    file.seek(0)
    return file


def model_json(program):
    with zipfile.ZipFile(saved(program)) as archive:
        name = next(n for n in archive.namelist() if n.endswith("model.json"))
        return json.loads(archive.read(name))


def both(model, args, kwargs=None, **options):
    """The program, and modules of it: as exported, and loaded again."""
    program = export(model, args, kwargs, **options)
    return program, [program.module(), load(saved(program)).module()]


def assert_same(model, modules, *calls):
    for args in calls:
        wanted = copy.deepcopy(model)(*args)
        for module in modules:
            torch.testing.assert_close(module(*args), wanted)


def ops(program):
    return [str(n.target) for n in program.graph.nodes if n.op == "call_function"]


class Conv(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 3, 3, stride=2)
        self.bn = nn.BatchNorm2d(3)
        self.fc = nn.Linear(3, 2)

    def forward(self, x):
        y = F.relu(self.bn(self.conv(x)))
        return self.fc(y.mean((2, 3)))


class Add(nn.Module):
    def forward(self, x, y):
        return x + y


class Linear(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        return self.fc(x)


# --- graphs ---


def test_operators_are_whole_and_named_as_pytorchs():
    program = export(Conv(), (torch.ones(2, 1, 9, 9),))
    assert ops(program) == [
        "aten.conv2d.default",
        "aten.add_.Tensor",
        "aten.batch_norm.default",
        "aten.relu.default",
        "aten.mean.dim",
        "aten.linear.default",
    ]
    signature = program.graph_signature
    assert signature.user_inputs == ("x",)
    assert signature.parameters[0] == "conv.weight"
    assert signature.inputs_to_buffers["b_bn_running_mean"] == ("bn.running_mean")
    text = str(program)
    assert 'x: "f32[2, 1, 9, 9]"' in text
    assert "b_bn_num_batches_tracked: BUFFER target='bn.num_batches" in text
    assert text.endswith("Range constraints: {}\n")


def test_training_and_gradients():
    torch.manual_seed(0)
    model = Conv()
    x = torch.randn(3, 1, 9, 9)
    before = copy.deepcopy(model.state_dict())
    program, modules = both(model, (x,), dynamic_shapes=({0: Dim("b")},))
    for name, tensor in before.items():  # tracing runs nothing
        torch.testing.assert_close(model.state_dict()[name], tensor)
    y = torch.randn(5, 1, 9, 9)
    assert_same(model, [copy.deepcopy(program).module()], (y,))
    eager = copy.deepcopy(model)
    eager(y).square().sum().backward()
    for module in (copy.deepcopy(program).module(), modules[1]):
        module(y).square().sum().backward()
        found = dict(module.named_parameters())
        for name, parameter in eager.named_parameters():
            torch.testing.assert_close(found[name].grad, parameter.grad)
        torch.testing.assert_close(
            module.state_dict()["bn.running_mean"], eager.bn.running_mean
        )


def test_module_has_the_models_parameters():
    model = Linear()
    module = export(model, (torch.ones(2, 4),)).module()
    assert module.fc.weight is model.fc.weight
    for name in ("train", "eval"):
        with pytest.raises(
            NotImplementedError, match=rf"Calling {name}\(\) is not supported yet"
        ):
            getattr(module, name)()


def test_no_grad_and_constants():
    class Parts(Linear):
        def __init__(self):
            super().__init__()
            self.table = torch.arange(4.0)

        def forward(self, x):
            with torch.no_grad():
                y = self.fc(x)
            return y * self.table + self.fc(x) + torch.tensor([1.0, 2, 3, 4])

    model = Parts()
    x = torch.randn(2, 4)
    program, modules = both(model, (x,))
    assert ops(program)[0] == "wrap_with_set_grad_enabled"
    assert set(program.constants) == {"table", "lifted_tensor_0"}
    assert_same(model, modules, (x,))
    model(x).sum().backward()
    for module in (copy.deepcopy(program).module(), modules[1]):
        module.zero_grad()
        module(x).sum().backward()
        found = dict(module.named_parameters())["fc.weight"].grad
        torch.testing.assert_close(found, model.fc.weight.grad)


def test_buffers_that_are_assigned_are_written():
    class Counts(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("total", torch.ones(2))
            self.steps = 0

        def forward(self, x):
            self.total = self.total * 2
            self.steps += 1
            return x + self.total

    model = Counts()
    _, modules = both(model, (torch.zeros(2),))
    assert model.total.tolist() == [1, 1]
    assert model.steps == 0
    for module in modules:
        assert module(torch.zeros(2)).tolist() == [2, 2]
        assert module(torch.zeros(2)).tolist() == [4, 4]


def test_parts_that_only_change_tensors():
    class Average(Linear):
        def __init__(self):
            super().__init__()
            self.register_buffer("mean", torch.zeros(4))

        def forward(self, x):
            y = self.fc(x)
            with torch.no_grad():
                self.mean.mul_(0.5).add_(y.mean(0))
                self.mean[1:3] = x[0, :2]
            return y * self.mean

    model = Average()
    program, modules = both(model, (torch.ones(2, 4),))
    graph = model_json(program)["graph_module"]["graph"]
    (part,) = [n for n in graph["nodes"] if "higher_order" in n["target"]]
    assert len(part["outputs"]) == 1  # PyTorch reads no part without any
    wanted = copy.deepcopy(model)(torch.ones(2, 4))
    torch.testing.assert_close(modules[1](torch.ones(2, 4)), wanted)
    torch.testing.assert_close(modules[0](torch.ones(2, 4)), wanted)


def test_cond_has_both_branches():
    class Branch(Linear):
        def forward(self, x):
            return torch.cond(
                x.sum() > 0, lambda x: self.fc(x) * x.shape[0], lambda x: x - 1, (x,)
            )

    model = Branch()
    x = torch.ones(2, 4)
    program, modules = both(model, (x,), dynamic_shapes=({0: Dim("b")},))
    assert "cond" in ops(program)
    assert_same(model, modules, (x,), (-x,), (torch.ones(5, 4),))


def test_random_numbers_and_dropout_are_drawn_in_each_call():
    class Noise(nn.Module):
        def forward(self, x):
            return F.dropout(x + torch.randn(64), 0.5, self.training)

    torch.manual_seed(3)
    _, modules = both(Noise(), (torch.ones(64),))
    state = torch.get_rng_state()
    torch.manual_seed(3)
    assert torch.equal(state, torch.get_rng_state())
    for module in modules:
        first, second = (module(torch.ones(64)) for _ in range(2))
        assert not torch.equal(first, second)
        assert 5 < (first == 0).sum() < 60


def test_containers_keywords_and_numbers():
    class Trees(nn.Module):
        def forward(self, pair, *, scale, flag=None):
            a, b = pair["a"], pair["b"][0]
            return {"sum": a + b * scale, "n": (a.shape[0], "text")}

    x, y = torch.ones(3), torch.ones(3)
    size = Dim("size")
    program = export(
        Trees(),
        ({"a": x, "b": [y]},),
        {"scale": 2.5, "flag": None},
        dynamic_shapes={
            "pair": {"a": {0: size}, "b": [{0: size}]},
            "scale": None,
            "flag": None,
        },
    )
    module = program.module()
    pair = {"b": [torch.ones(5)], "a": torch.ones(5)}
    found = module(pair, flag=None, scale=2.5)
    assert found["sum"].tolist() == [3.5] * 5
    assert found["n"] == (5, "text")
    assert program.graph_signature.user_inputs == ("pair_a", "pair_b_0", 2.5, None)
    with pytest.raises(AssertionError, match=r"Guard failed: scale == 2\.5"):
        module(pair, scale=3.0, flag=None)
    with pytest.raises(ValueError, match="kwarg keyword mismatch"):
        module(pair, scale=2.5)
    with pytest.raises(ValueError, match="Trying to flatten user inputs"):
        module([torch.ones(5)], scale=2.5, flag=None)


# --- sizes ---


@pytest.mark.parametrize(
    ("build", "text"),
    [
        (lambda s, t: s * 2 + 1, "2*s1 + 1"),
        (lambda s, t: (s - 3) // 2 + 1, "(((s1 - 3)//2)) + 1"),
        (lambda s, t: s * t - t * s, "0"),
        (lambda s, t: (s * 6 + t) // 3, "2*s1 + ((s2//3))"),
        (lambda s, t: (s * t + t) // (s + 1), "s2"),
        (lambda s, t: s * 4 % 2, "0"),
        (lambda s, t: s * s * t + s - 7, "s1**2*s2 + s1 - 7"),
    ],
)
def test_expressions_are_simple(build, text):
    s, t = Expression.of(Symbol("s1")), Expression.of(Symbol("s2"))
    made = build(s, t)
    assert str(made) == text
    for sizes in ({"s1": 7, "s2": 12}, {"s1": 20, "s2": 3}):
        assert made.value(sizes) == build(sizes["s1"], sizes["s2"])


def test_sizes_of_results_follow_from_those_of_inputs():
    class Shapes(nn.Module):
        def forward(self, x):
            b, t, c = x.shape
            pooled = F.avg_pool1d(x.transpose(1, 2), 3, 2)
            joined = torch.cat([x, x[:, 1:]], 1).flatten(1)
            grid = x[:, :, None] * x[:, None]
            return (pooled, joined, x.view(b * t, c), grid.sum(), F.pad(x, (1, 1)))

    model = Shapes()
    x = torch.randn(3, 8, 2)
    shapes = ({0: Dim("b"), 1: Dim("t", min=4)},)
    program, modules = both(model, (x,), dynamic_shapes=shapes)
    node = list(program.graph.nodes)[-1]
    shown = [str(n.meta["facts"].shape) for n in node.args[0]]
    assert shown[1] == "(s77, 4*s27 - 2)"
    assert shown[2] == "(s27*s77, 2)"
    assert_same(model, modules, (x,), (torch.randn(5, 11, 2),))


def test_roundings_of_large_strides_are_exact():
    class Patches(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(1, 2, 16, 16)
            self.wide = nn.Conv2d(1, 2, 7, 12, padding=3)

        def forward(self, x):
            y, z = self.conv(x), self.wide(x)
            up = F.max_pool2d(z, 2, 2, ceil_mode=True)
            return [
                torch.arange(t.shape[2] * 100 + t.shape[3]).sum() for t in (y, z, up)
            ]

    model = Patches()
    sizes = ({2: Dim("h", min=32), 3: Dim("w", min=32)},)
    _, modules = both(model, (torch.zeros(1, 1, 48, 52),), dynamic_shapes=sizes)
    calls = [(torch.zeros(1, 1, h, 131 - h),) for h in range(33, 99, 5)]
    assert_same(model, modules, *calls, *((c[0].mT,) for c in calls))


def test_ranges_and_guards():
    size = Dim("size", min=3, max=10)
    program = export(
        Add(),
        (torch.ones(4, 2), torch.ones(4, 2)),
        dynamic_shapes=({0: size}, {0: size}),
    )
    ((name, bounds),) = program.range_constraints.items()
    assert (name, bounds) == ("s17", (3, 10))
    module = program.module()

    def fails(a, b, text):
        with pytest.raises(AssertionError) as caught:
            module(torch.ones(a, 2), torch.ones(b, 2))
        assert str(caught.value) == f"Guard failed: {text}"

    assert module(torch.ones(7, 2), torch.ones(7, 2)).shape == (7, 2)
    fails(11, 11, "x.size()[0] <= 10")
    fails(2, 2, "x.size()[0] >= 3")
    fails(5, 4, "y.size()[0] == x.size()[0]")
    with pytest.raises(AssertionError, match=r"x\.size\(\)\[1\] == 2"):
        module(torch.ones(5, 3), torch.ones(5, 3))


def test_auto_varies_as_far_as_the_program_allows():
    class Some(Linear):
        def forward(self, x, y):
            if x.shape[0] > 5:
                return self.fc(x)
            return self.fc(x)[:, :2] + y.sum()

    auto = (Dim.AUTO, Dim.AUTO)
    program = export(
        Some(), (torch.ones(3, 4), torch.ones(1, 3)), dynamic_shapes=(auto, auto)
    )
    text = str(program)
    # A bound that a branch needs, a layer's size, a size of 1.
    assert 'x: "f32[s77, 4]"' in text
    assert 'y: "f32[1, s94]"' in text or 'y: "f32[1, s' in text
    assert program.range_constraints["s77"] == (2, 5)


def test_equal_sizes_are_found():
    auto = ({0: Dim.AUTO}, {0: Dim.AUTO})
    program, modules = both(Add(), (torch.ones(3), torch.ones(3)), dynamic_shapes=auto)
    assert len(program.range_constraints) == 1
    assert_same(Add(), modules, (torch.ones(6), torch.ones(6)))


def test_derived_dimensions():
    class Pairs(nn.Module):
        def forward(self, x, y):
            return x + y.view(x.shape[0], 2).sum(1)

    size = Dim("size", max=8)
    _, modules = both(
        Pairs(),
        (torch.ones(3), torch.ones(6)),
        dynamic_shapes=({0: size}, {0: 2 * size}),
    )
    assert_same(Pairs(), modules, (torch.ones(5), torch.ones(10)))
    with pytest.raises(AssertionError, match=r"Guard failed: y\.size"):
        modules[0](torch.ones(5), torch.ones(9))


C, D = Dim("c"), Dim("d")


@pytest.mark.parametrize(
    ("model", "args", "shapes", "text"),
    [
        (
            Linear,
            (torch.ones(3, 4),),
            ({1: C},),
            "You marked c as dynamic but your code specialized it to be a constant (4)",
        ),
        (
            Linear,
            (torch.ones(3, 4),),
            ({1: Dim.DYNAMIC},),
            "Constraints violated (L['x'].size()[1])!",
        ),
        (Linear, (torch.ones(1, 4),), ({0: C},), "a constant (1)"),
        (
            Add,
            (torch.ones(3), torch.ones(3)),
            ({0: C}, {0: D}),
            "The values of d = L['y'].size()[0] and c = L['x'].size()[0] must "
            "always be equal.",
        ),
        (
            Add,
            (torch.ones(3), torch.ones(3)),
            ({0: C}, None),
            "Suggested fixes:\n  c = 3",
        ),
        (
            Add,
            (torch.ones(3), torch.ones(3)),
            ({0: C},),
            "`inputs` has 2 elements, but `dynamic_shapes` has 1 elements",
        ),
        (
            Add,
            (torch.ones(3), torch.ones(3)),
            {"x": {0: C}},
            "its top-level keys must be the arg names ['x', 'y']",
        ),
        (
            Add,
            (torch.ones(3), torch.ones(3)),
            (5, None),
            "Unexpected input tensor shape 5 specified at `dynamic_shapes['x']`",
        ),
        (Add, (torch.ones(3), torch.ones(3)), ({7: C}, None), "Unexpected dimension 7"),
    ],
)
def test_dimensions_that_cannot_vary(model, args, shapes, text):
    with pytest.raises(UserError) as caught:
        export(model(), args, dynamic_shapes=shapes)
    assert text in str(caught.value)


def test_a_bound_of_a_named_dimension_is_suggested():
    class Bound(nn.Module):
        def forward(self, x):
            return x + 1 if x.shape[0] > 5 else x - 1

    with pytest.raises(UserError) as caught:
        export(Bound(), (torch.ones(3),), dynamic_shapes=({0: C},))
    text = str(caught.value)
    assert "2 <= L['x'].size()[0] and L['x'].size()[0] <= 5" in text
    assert "c = Dim('c', max=5)" in text
    assert "return x + 1 if x.shape[0] > 5" in text  # the line


# --- errors ---


def test_values_that_decide_are_errors_that_name_the_line():
    class Decides(nn.Module):
        def forward(self, x):
            if x.sum() > 0:  # here
                return x
            return -x

    with pytest.raises(DataDependentError, match=r"torch\.cond") as caught:
        export(Decides(), (torch.ones(3),))
    assert "if x.sum() > 0:  # here" in str(caught.value)


def test_shapes_that_depend_on_values_are_errors():
    class Picks(nn.Module):
        def forward(self, x):
            return x[x > 0]

    with pytest.raises(DataDependentError, match="depends on the elements"):
        export(Picks(), (torch.ones(3),))


def test_a_failed_export_leaves_the_module_as_it_was():
    class Fails(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("seen", torch.zeros(2))
            self.calls = []

        def forward(self, x):
            self.seen = self.seen + 1
            self.other = x
            return x if x.sum() > 0 else -x

    model = Fails()
    seen = model.seen
    with pytest.raises(DataDependentError):
        export(model, (torch.ones(2),))
    assert model.seen is seen
    assert "other" not in vars(model)
    assert model(torch.ones(2)).tolist() == [1, 1]
    assert not torch.compiler.is_exporting()


def test_wrong_calls_of_export():
    with pytest.raises(ValueError, match="Expected `mod` to be an instance"):
        export(lambda x: x, (torch.ones(2),))
    with pytest.raises(UserError, match="Expecting `args` to be a tuple"):
        export(Add(), torch.ones(2))
    program = export(Linear(), (torch.ones(2, 4),))
    with pytest.raises(RuntimeError, match="Unable to call ExportedProgram"):
        program(torch.ones(2, 4))
    with pytest.raises(NotImplementedError, match="run_decompositions"):
        program.run_decompositions()
    with pytest.raises(TypeError, match="must be an instance"):
        save(Linear(), io.BytesIO())


# --- files ---


def test_file_has_pytorchs_layout(tmp_path):
    program = export(Conv(), (torch.ones(2, 1, 9, 9),))
    path = tmp_path / "conv.pt2"
    save(program, path, extra_files={"note.txt": "hello"})
    assert [p.name for p in tmp_path.iterdir()] == ["conv.pt2"]
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        assert {
            "conv/archive_format",
            "conv/archive_version",
            "conv/byteorder",
            "conv/.data/version",
            "conv/models/model.json",
            "conv/data/weights/model_weights_config.json",
            "conv/data/constants/model_constants_config.json",
            "conv/data/sample_inputs/model.pt",
            "conv/extra/note.txt",
        } <= set(names)
        for info in archive.infolist():
            assert info.compress_type == zipfile.ZIP_STORED
        assert archive.read("conv/archive_format") == b"pt2"
    first = path.read_bytes()
    save(program, path)
    save(program, tmp_path / "conv2.pt2")
    assert path.read_bytes() != first  # without the note
    args, kwargs = load(path).example_inputs
    assert args[0].shape == (2, 1, 9, 9)
    assert kwargs == {}


def test_tied_weights_are_written_once():
    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Linear(4, 4), nn.Linear(4, 4)
            self.b.weight = self.a.weight

        def forward(self, x):
            return self.b(self.a(x))

    program = export(Tied(), (torch.ones(2, 4),))
    with zipfile.ZipFile(saved(program)) as archive:
        names = [n for n in archive.namelist() if "weights/weight_" in n]
    assert len(names) == 3
    module = load(saved(program)).module()
    assert len(list(module.parameters())) == 3


def test_numbers_in_files_are_json():
    class Infinite(nn.Module):
        def forward(self, x):
            y = x.masked_fill(x > 1, float("-inf"))
            return y.nan_to_num(posinf=float("inf"), neginf=-2.0), y

    program, modules = both(Infinite(), (torch.tensor([0.5, 2.0]),))
    text = json.dumps(model_json(program), allow_nan=False)
    assert '"-Infinity"' in text
    assert_same(Infinite(), modules, (torch.tensor([3.0, 0.0]),))


def test_sizes_in_files_are_spelled_as_sympy_does():
    program = export(
        Conv(), (torch.ones(2, 1, 9, 9),), dynamic_shapes=({0: Dim("b"), 2: Dim.AUTO},)
    )
    written = model_json(program)
    values = written["graph_module"]["graph"]["tensor_values"]
    expression = values["conv2d"]["sizes"][2]["as_expr"]
    assert expression["hint"] == {"as_int": 4}
    assert expression["expr_str"].startswith("Add(FloorDiv(Add(Symbol('s53'")
    assert written["range_constraints"]["s77"] == {"min_val": 0, "max_val": None}
    assert written["schema_version"]["major"] == 8


def test_arguments_named_as_python_names_something_keep_their_names():
    layer = nn.Sequential(nn.Linear(2, 3))  # its argument is `input`
    program = torch.export.export(layer, (torch.ones(4, 2),))
    assert program.graph_signature.user_inputs == ("input",)
    x = torch.randn(4, 2)
    assert torch.equal(program.module()(x), layer(x))


@pytest.mark.parametrize("by_path", [True, False])
def test_extra_files_come_back(tmp_path, by_path):
    program = torch.export.export(torch.nn.ReLU(), (torch.ones(2),))
    path = tmp_path / "m.pt2"
    torch.export.save(program, path, extra_files={"a.txt": "é", "d/b": "two"})
    extra = {"a.txt": "", "absent": "as it was"}
    if by_path:
        torch.export.load(path, extra_files=extra)
    else:
        with open(path, "rb") as file:
            torch.export.load(file, extra_files=extra)
    assert extra == {"a.txt": "é", "absent": "as it was"}


@dataclasses.dataclass
class Point:
    """A container with fields."""

    place: torch.Tensor
    weight: torch.Tensor | None = None


class Moves(nn.Module):
    """Takes and gives objects."""

    def forward(self, point, more):
        moved = Point(point.place * 2, more["p"].place)
        return moved, {"rest": Point(point.place - 1)}


def test_dataclasses():
    torch.export.register_dataclass(Point, serialized_type_name="tests.Point")
    given = Point(torch.ones(2), torch.zeros(2)), {"p": Point(torch.ones(3))}
    program = export(Moves(), given)
    torch.export.register_dataclass(Point, serialized_type_name="tests.Point")
    for made in (program, load(saved(program))):
        moved, rest = made.module()(*given)
        assert type(moved) is Point
        assert type(rest["rest"]) is Point
        assert moved.place.tolist() == [2, 2]
        assert moved.weight.tolist() == [1, 1, 1]
        assert rest["rest"].place.tolist() == [0, 0]
        assert rest["rest"].weight is None
    names = json.loads(
        model_json(program)["graph_module"]["module_call_graph"][0]["signature"][
            "out_spec"
        ]
    )
    assert "tests.Point" in json.dumps(names)
    other = Point(torch.ones(2)), given[1]
    with pytest.raises(ValueError, match="tree spec"):
        program.module()(*other)
    with pytest.raises(ValueError, match="Only dataclasses are supported"):
        torch.export.register_dataclass(int)
