"""register_custom_op_symbolic: export(dynamo=False) writes what programs say."""

from __future__ import annotations

import io

import pytest
from hotaru.onnx import symbolic_helper, symbolic_opset9
from hotaru.onnx.symbolic_helper import parse_args

import hotaru as torch

onnx = pytest.importorskip("onnx")
reference = pytest.importorskip("onnx.reference")


@pytest.fixture
def register():
    """register_custom_op_symbolic() for a test."""
    made = []

    def add(name, function, since=9):
        torch.onnx.register_custom_op_symbolic(name, function, since)
        made.append((name, since))

    yield add
    for name, since in made:
        torch.onnx.unregister_custom_op_symbolic(name, since)


def exported(program, *args, **kwargs):
    file = io.BytesIO()
    torch.onnx.export(program, args, file, dynamo=False, **kwargs)
    return onnx.load_from_string(file.getvalue())


def operators(model):
    nodes = [node for node in model.graph.node if node.op_type != "Identity"]
    return [node.op_type for node in nodes if node.op_type != "Constant"]


def results(model, *args):
    session = reference.ReferenceEvaluator(model)
    feed = dict(zip(session.input_names, (x.numpy() for x in args)))
    return [torch.from_numpy(x) for x in session.run(None, feed)]


@pytest.mark.parametrize("inplace", [False, True])
def test_an_operator_of_pytorchs(register, inplace):
    register("aten::relu", lambda g, x: g.op("Neg", x))
    x = torch.tensor([1.0, -2.0])
    model = exported(torch.nn.ReLU(inplace=inplace), x.clone())
    assert operators(model) == ["Neg"]
    assert torch.equal(results(model, x)[0], -x)
    # The newer exporter has another way to be told.
    torch.onnx.unregister_custom_op_symbolic("aten::relu", 9)
    assert operators(exported(torch.nn.ReLU(), x)) == ["Relu"]


def test_dynamo_calls_none(register):
    register("aten::relu", lambda g, x: g.op("Neg", x))
    program = torch.onnx.export(torch.nn.ReLU(), (torch.ones(2),))
    assert program.operators().get("Relu") == 1


def test_the_last_version_that_fits(register):
    register("aten::relu", lambda g, x: g.op("Neg", x), 14)
    register("aten::relu", lambda g, x: g.op("Abs", x), 16)
    found = {
        opset: operators(exported(torch.nn.ReLU(), torch.ones(2), opset_version=opset))
        for opset in (13, 14, 15, 16, 17)
    }
    assert found == {13: ["Relu"], 14: ["Neg"], 15: ["Neg"], 16: ["Abs"], 17: ["Abs"]}


def test_arguments_and_what_is_known_of_them(register):
    seen = []

    def symbolic(g, x, dim, keepdim, dtype=None):
        seen.append((x.type().sizes(), x.type().scalarType(), dim, keepdim, dtype))
        assert x.type().dtype() is torch.float32
        assert (x.type().dim(), x.isCompleteTensor()) == (2, False)
        assert symbolic_helper._get_tensor_dim_size(x, 1) == 3
        return g.op("ReduceMax", x, axes_i=dim, keepdims_i=keepdim)

    register("aten::sum", symbolic)
    x = torch.tensor([[1.0, 5.0, 2.0], [7.0, 3.0, 4.0]])
    model = exported(
        Program(lambda x: x.sum(1)),
        x,
        input_names=["x"],
        dynamic_axes={"x": {0: "rows"}},
        opset_version=17,
    )
    assert seen[0] == ([None, 3], "Float", [1], False, None)
    assert results(model, torch.cat([x, x]))[0].tolist() == [5, 7, 5, 7]


class Program(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *args):
        return self.function(*args)


def test_constants_lists_and_several_results(register):
    def cat(g, parts, dim):
        shifted = g.op("Add", parts[0], 2.0)
        table = g.op("Constant", value_t=torch.tensor([[10.0, 20.0]]))
        return g.op("Concat", shifted, table, *parts[1:], axis_i=dim)

    def split(g, x, size, dim):
        sizes = g.op("Constant", value_t=torch.tensor([size, size]))
        one, other = g.op("Split", x, sizes, outputs=2, axis_i=dim)
        return other, one

    register("aten::cat", cat)
    x, y = torch.ones(1, 2), torch.zeros(1, 2)
    model = exported(Program(lambda x, y: torch.cat([x, y])), x, y)
    assert results(model, x, y)[0].tolist() == [[3, 3], [10, 20], [0, 0]]
    register("aten::max", lambda g, x, dim, keepdim: split(g, x, 1, dim))
    model = exported(Program(lambda x: x.max(1)), x)
    assert operators(model) == ["Split"]


def test_parsed_arguments(register):
    @parse_args("v", "f", "i")
    def scaled(g, x, negative_slope, more=0):
        assert (type(negative_slope), type(more)) == (float, int)
        return g.op("LeakyRelu", x, alpha_f=negative_slope * 2)

    register("aten::leaky_relu", scaled)
    x = torch.tensor([-1.0, 1.0])
    model = exported(torch.nn.LeakyReLU(0.25), x)
    assert results(model, x)[0].tolist() == [-0.5, 1]

    @parse_args("f")
    def wants(g, x):
        return x

    register("aten::exp", wants)
    with pytest.raises(RuntimeError, match="wants a constant"):
        exported(Program(torch.exp), x)
    assert symbolic_helper._parse_arg([1.5, 2], "is") == [1, 2]
    assert symbolic_helper._parse_arg(None, "i") is None
    for kind, value in (("s", "text"), ("b", True), ("t", x)):
        assert symbolic_helper._parse_arg(value, kind) is value
    assert symbolic_helper._maybe_get_const(3, "f") == 3.0


def test_functions_of_pytorchs_modules(register):
    register("aten::gelu", lambda g, x, approximate: symbolic_opset9.tanh(g, x))
    model = exported(torch.nn.GELU(), torch.ones(2))
    assert operators(model) == ["Tanh"]


@pytest.mark.parametrize(("given", "version"), [(None, 1), ({"mine": 3}, 3)])
def test_operators_of_other_domains(register, given, version):
    def symbolic(g, x):
        return g.op("mine::Twice", x, "onnx" and 2, names_s=["a", "b"], scale_f=[0.5])

    register("aten::relu", symbolic)
    x = torch.ones(2)
    model = exported(torch.nn.ReLU(), x, custom_opsets=given)
    (node,) = (n for n in model.graph.node if n.domain)
    assert (node.op_type, node.domain) == ("Twice", "mine")
    values = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
    assert values == {"names": [b"a", b"b"], "scale": [0.5]}
    assert {o.domain: o.version for o in model.opset_import}["mine"] == version
    plain = exported(torch.nn.GELU(), x, custom_opsets=given)
    assert [o.domain for o in plain.opset_import] == [""]


def test_operators_of_libraries(register):
    library = torch.library.Library("symbolic_test", "DEF")
    library.define("halve(Tensor x, float by) -> Tensor")
    for key in ("CPU", "Meta"):
        library.impl("halve", lambda x, by: x * by, key)
    register(
        "symbolic_test::halve", lambda g, x, by: g.op("Mul", x, g.op("Neg", by)), 13
    )
    x = torch.tensor([2.0])
    program = Program(lambda x: torch.ops.symbolic_test.halve(x, 0.5))
    assert results(exported(program, x), x)[0].tolist() == [-1]


@pytest.mark.parametrize(
    ("symbolic", "error", "text"),
    [
        (lambda g, x: g.op("Neg", x, axis=1), ValueError, "suffixed with type"),
        (lambda g, x: g.op("Neg", object()), TypeError, "no value of the graph"),
        (lambda g, x: 1 // 0, ZeroDivisionError, "division"),
        (lambda g, x: (x, x), torch.onnx.OnnxExporterError, "gave 2 values"),
    ],
)
def test_errors_of_functions(register, symbolic, error, text):
    register("aten::relu", symbolic)
    with pytest.raises((error, RuntimeError), match=text):
        exported(torch.nn.ReLU(), torch.ones(2))


def test_a_graph_that_is_written(register):
    kept = []

    def symbolic(g, x):
        kept.append(g)
        return x

    register("aten::relu", symbolic)
    exported(torch.nn.ReLU(), torch.ones(2))
    with pytest.raises(RuntimeError, match="written already"):
        kept[0].op("Neg", 1)
