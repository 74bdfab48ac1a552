"""ONNX models: what they become, and what is refused."""

import io
import random
import subprocess
import sys
from pathlib import Path

import hotaru.onnx
import onnx_bytes as ob
import pytest

import hotaru

X = hotaru.tensor([[1.0, -2.0, 3.0], [0.5, 0.25, -1.0]])


def load(data: bytes):
    return hotaru.onnx.load(io.BytesIO(data))


def perceptron() -> bytes:
    weights = [0.1 * i - 0.4 for i in range(12)]
    return ob.model(
        ob.graph(
            [
                ob.node(
                    "Gemm", ["x", "layer.0.weight", "layer.0.bias"], ["h"], transB=1
                ),
                ob.node("Relu", ["h"], ["y"]),
            ],
            [ob.value_info("x", dims=["batch", 3])],
            ["y"],
            [
                ob.tensor("layer.0.weight", ob.FLOAT, [4, 3], weights),
                ob.tensor("layer.0.bias", ob.FLOAT, [4], [0.0, 1.0, 2.0, 3.0]),
            ],
        )
    )


def test_initializers_are_parameters_under_their_names():
    model = load(perceptron())
    names = [name for name, _ in model.named_parameters()]
    assert names == ["layer.0.weight", "layer.0.bias"]
    weight, bias = model.parameters()
    expected = hotaru.relu(hotaru.nn.functional.linear(X, weight, bias))
    assert hotaru.equal(model(X), expected)
    assert hotaru.equal(model(x=X[:1]), expected[:1])


def test_gradients_and_training():
    model = load(perceptron())
    optimizer = hotaru.optim.SGD(model.parameters(), lr=0.05)
    losses = []
    for _ in range(20):
        optimizer.zero_grad()
        loss = (model(X) - 1.0).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 4


def test_saved_as_an_archive(tmp_path):
    model = load(perceptron())
    model.save(str(tmp_path / "model.pt"))
    again = hotaru.jit.load(str(tmp_path / "model.pt"))
    assert hotaru.equal(again(X), model(X))
    assert list(again.state_dict()) == list(model.state_dict())
    frozen = hotaru.jit.freeze(model.eval())
    assert hotaru.equal(frozen(X), model(X))


def test_weights_lie_in_the_mapped_file(tmp_path):
    big = ob.tensor("w", ob.FLOAT, [256], [float(i) for i in range(256)])
    # Raw data aligned to its elements is not copied.
    for padding in range(4):
        data = ob.model(
            ob.graph([ob.node("Add", ["x", "w"], ["y"])], ["x"], ["y"], [big])
        ) + ob.field(6, "p" * padding)
        path = tmp_path / f"m{padding}.onnx"
        path.write_bytes(data)
        model = hotaru.onnx.load(path)
        assert hotaru.equal(next(model.parameters()), hotaru.arange(256.0))


SHAPES = [
    ob.node("Shape", ["x"], ["shape"]),
    ob.node("Gather", ["shape", "zero"], ["batch"], axis=0),
    ob.node("Unsqueeze", ["batch", "axis"], ["batch_list"]),
    ob.node("Concat", ["batch_list", "rest"], ["target"], axis=0),
    ob.node("Reshape", ["x", "target"], ["y"]),
]
SHAPE_CONSTANTS = [
    ob.tensor("zero", ob.INT64, [], [0]),
    ob.tensor("axis", ob.INT64, [1], [0]),
    ob.tensor("rest", ob.INT64, [1], [-1]),
]


def test_shapes_stay_on_the_host():
    model = load(ob.model(ob.graph(SHAPES, ["x"], ["y"], SHAPE_CONSTANTS)))
    x = hotaru.randn(5, 2, 3)
    assert hotaru.equal(model(x), x.reshape(5, 6))
    # A graph can be captured: nothing waits for a tensor's values.
    run = hotaru.compile(model, fullgraph=True)
    assert hotaru.equal(run(x), x.reshape(5, 6))
    assert "tolist" not in str(model.inlined_graph)


@pytest.mark.parametrize("value", [True, False])
def test_if(value):
    branches = {
        name: ("graph", ob.graph([ob.node(op, ["x"], [out])], [], [out]))
        for name, op, out in [("then_branch", "Neg", "a"), ("else_branch", "Abs", "b")]
    }
    graph = ob.graph(
        [ob.node("If", ["c"], ["y"], **branches)],
        [ob.value_info("c", ob.BOOL, []), "x"],
        ["y"],
    )
    model = load(ob.model(graph))
    assert hotaru.equal(model(hotaru.tensor(value), X), -X if value else X.abs())


def test_loop_with_what_becomes_a_tensor():
    # `total` starts as a number of the host and ends as a tensor.
    body = ob.graph(
        [
            ob.node("Add", ["total", "x"], ["sum"]),
            ob.node("Identity", ["on"], ["again"]),
            ob.node("Identity", ["sum"], ["each"]),
        ],
        [
            ob.value_info("i", ob.INT64, []),
            ob.value_info("on", ob.BOOL, []),
            ob.value_info("total", ob.INT64, []),
        ],
        [ob.value_info("again", ob.BOOL), "sum", "each"],
    )
    graph = ob.graph(
        [ob.node("Loop", ["n", "", "start"], ["y", "all"], body=("graph", body))],
        [ob.value_info("n", ob.INT64, []), ob.value_info("x", ob.INT64, [2])],
        ["y", "all"],
        [ob.tensor("start", ob.INT64, [], [10])],
    )
    model = load(ob.model(graph))
    last, every = model(hotaru.tensor(3), hotaru.tensor([1, 2]))
    assert last.tolist() == [13, 16]
    assert every.tolist() == [[11, 12], [12, 14], [13, 16]]


def test_functions_of_the_model():
    double = ob.function(
        "Double", "mine", ["a"], ["b"], [ob.node("Add", ["a", "a"], ["b"])]
    )
    graph = ob.graph(
        [
            ob.node("Double", ["x"], ["h"], "mine"),
            ob.node("Double", ["h"], ["y"], "mine"),
        ],
        ["x"],
        ["y"],
    )
    assert hotaru.equal(load(ob.model(graph, functions=[double], mine=1))(X), X * 4)


def test_a_function_that_calls_itself():
    me = ob.function("F", "mine", ["a"], ["b"], [ob.node("F", ["a"], ["b"], "mine")])
    graph = ob.graph([ob.node("F", ["x"], ["y"], "mine")], ["x"], ["y"])
    with pytest.raises(RuntimeError, match="more than 50 levels deep"):
        load(ob.model(graph, functions=[me], mine=1))


def test_functions_that_multiply_each_other():
    # 2 ** 30 nodes out of 30 functions.
    functions = [
        ob.function(
            f"F{i}",
            "mine",
            ["a"],
            ["b"],
            [
                ob.node(f"F{i + 1}", ["a"], ["h"], "mine"),
                ob.node(f"F{i + 1}", ["h"], ["b"], "mine"),
            ],
        )
        for i in range(30)
    ]
    last = ob.function("F30", "mine", ["a"], ["b"], [ob.node("Neg", ["a"], ["b"])])
    graph = ob.graph([ob.node("F0", ["x"], ["y"], "mine")], ["x"], ["y"])
    with pytest.raises(RuntimeError, match="nodes, those of functions counted"):
        load(ob.model(graph, functions=[*functions, last], mine=1))


def test_missing_operators_are_all_named():
    graph = ob.graph(
        [
            ob.node("Nonsense", ["x"], ["a"]),
            ob.node("Rubbish", ["a"], ["b"], "far.away"),
            ob.node("Nonsense", ["x"], ["c"]),
        ],
        ["x"],
        ["c"],
    )
    with pytest.raises(NotImplementedError) as error:
        load(ob.model(graph))
    assert "Nonsense (2)" in str(error.value)
    assert "far.away.Rubbish (1)" in str(error.value)


@pytest.mark.parametrize(
    ("nodes", "text"),
    [
        ([ob.node("Relu", ["nothing"], ["y"])], "there is no value 'nothing'"),
        ([ob.node("Relu", ["x"], ["y"], colour=3)], "attribute 'colour'"),
        ([ob.node("Relu", ["x", "x"], ["y"])], "it has 2 inputs"),
        ([ob.node("Relu", ["x"], ["z"])], "no node gives output 'y'"),
        ([ob.node("Concat", ["x", "x"], ["y"])], "attribute 'axis' is missing"),
        ([ob.node("Concat", ["x"], ["y"], axis=1.5)], "is no int"),
        ([ob.node("Cast", ["x"], ["y"], to=ob.STRING)], "STRING"),
    ],
)
def test_errors_name_the_node(nodes, text):
    with pytest.raises((RuntimeError, NotImplementedError)) as error:
        load(ob.model(ob.graph(nodes, ["x"], ["y"])))
    assert text in str(error.value)


def doubled(kind: int, dims) -> bytes:
    return ob.model(
        ob.graph(
            [ob.node("Add", ["ids", "ids"], ["y"])],
            [ob.value_info("ids", kind, dims)],
            [ob.value_info("y", kind)],
        )
    )


@pytest.mark.parametrize(
    ("kind", "dims", "taken", "refused"),
    [
        (
            ob.INT32,
            ["n", 4],
            hotaru.ones(2, 4, dtype=hotaru.int32),
            {
                "type int32": [
                    hotaru.ones(2, 4),
                    hotaru.ones(2, 4).long(),
                    hotaru.ones(2, 4).bool(),
                ],
                r"sizes \[n, 4\], but has \[2, 5\]": [
                    hotaru.ones(2, 5, dtype=hotaru.int32)
                ],
                r"but has \[4\]": [hotaru.ones(4, dtype=hotaru.int32)],
                r"but has \[1, 2, 4\]": [hotaru.ones(1, 2, 4, dtype=hotaru.int32)],
            },
        ),
        (
            ob.FLOAT,
            [2],
            hotaru.ones(2),
            {
                "type float32": [
                    hotaru.ones(2).double(),
                    hotaru.ones(2).half(),
                    hotaru.ones(2, dtype=hotaru.int32),
                ],
                r"sizes \[2\], but has \[0\]": [hotaru.ones(0)],
            },
        ),
        (
            ob.BOOL,
            None,
            hotaru.ones(2, 3).bool(),
            {"type bool": [hotaru.ones(2).byte()]},
        ),
        # No sizes, and sizes of 0, say nothing.
        (ob.INT64, [], hotaru.ones(2, 3).long(), {}),
        (
            ob.INT64,
            [0, "{}"],
            hotaru.ones(2, 3).long(),
            {r"sizes \[\?, \{\}\], but has \[7\]": [hotaru.ones(7).long()]},
        ),
    ],
)
def test_what_is_declared_of_inputs_is_asked_for(kind, dims, taken, refused):
    module = load(doubled(kind, dims))
    if kind != ob.BOOL:
        assert hotaru.equal(module(taken), taken + taken)
    for text, values in refused.items():
        for value in values:
            with pytest.raises(RuntimeError, match=f"input 'ids' .*{text}"):
                module(value)


def test_a_converted_module_takes_inputs_of_its_type():
    module = load(perceptron())
    x = hotaru.randn(2, 3)
    expected = module(x)
    with pytest.raises(RuntimeError, match="type float32"):
        module(x.double())
    found = module.double()(x.double())
    assert found.dtype == hotaru.float64
    assert hotaru.allclose(found.float(), expected)


def with_external(**entries) -> bytes:
    weight = ob.external_tensor("w", ob.FLOAT, [3], **entries)
    return ob.model(
        ob.graph([ob.node("Add", ["x", "w"], ["y"])], ["x"], ["y"], [weight])
    )


def test_external_data(tmp_path):
    (tmp_path / "inner").mkdir()
    data = hotaru.arange(8.0)
    (tmp_path / "inner" / "w.bin").write_bytes(data.numpy().tobytes())
    path = tmp_path / "m.onnx"
    path.write_bytes(with_external(location="inner/w.bin", offset=8, length=12))
    model = hotaru.onnx.load(path)
    assert next(model.parameters()).tolist() == [2.0, 3.0, 4.0]
    path.write_bytes(with_external(location="inner/w.bin", offset=24, length=12))
    with pytest.raises(RuntimeError, match="does not fit 12 bytes at 24"):
        hotaru.onnx.load(path)


def test_external_data_lies_in_the_models_folder(tmp_path):
    folder = tmp_path / "model"
    folder.mkdir()
    (tmp_path / "secret.bin").write_bytes(b"\0" * 12)
    (folder / "link.bin").symlink_to(tmp_path / "secret.bin")
    path = folder / "m.onnx"
    for location in ["../secret.bin", str(tmp_path / "secret.bin"), "link.bin"]:
        path.write_bytes(with_external(location=location))
        with pytest.raises(RuntimeError, match="not within the model's folder"):
            hotaru.onnx.load(path)


def with_weight(dims, values) -> bytes:
    weight = ob.tensor("w", ob.FLOAT, dims, values)
    return ob.model(ob.graph([], ["x"], ["y"], [weight]))


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", "this is no ONNX model"),
        (b"not a model", "this is no ONNX model"),
        (perceptron()[:-20], "no ONNX model"),
        (with_weight([3], [1.0]), "has 4 bytes of data, not 12"),
        (with_weight([-1], []), r"has shape \[-1\]"),
        (with_weight([2**40, 2**40], []), "<bytes>"),
    ],
)
def test_damaged_models(data, text):
    with pytest.raises(RuntimeError, match=text):
        load(data)


def test_nested_graphs_have_a_limit():
    inner = ob.graph([ob.node("Relu", ["x"], ["y"])], [], ["y"])
    for _ in range(100):
        branches = {"then_branch": ("graph", inner)}
        inner = ob.graph([ob.node("If", ["c"], ["y"], **branches)], [], ["y"])
        if len(inner) > 10_000:
            break
    with pytest.raises(RuntimeError, match="levels deep"):
        load(ob.model(inner))


MUTANTS = """
import io, random, resource, sys
sys.path.insert(0, sys.argv[1])
import hotaru, hotaru.onnx
from hotaru import _C
import test_onnx_models as t

resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
resource.setrlimit(resource.RLIMIT_CPU, (300, 300))
loaded = 0
for data in t.mutants(int(sys.argv[2])):
    try:
        model = hotaru.onnx.load(io.BytesIO(data))
        model.graph  # compiles it
        loaded += 1
    except (RuntimeError, NotImplementedError, TypeError, ValueError):
        pass
print(loaded)
"""


def seeds() -> list[bytes]:
    body = ob.graph(
        [ob.node("Add", ["s", "x"], ["t"]), ob.node("Identity", ["c"], ["d"])],
        [ob.value_info("i", ob.INT64), ob.value_info("c", ob.BOOL), "s"],
        [ob.value_info("d", ob.BOOL), "t", "t"],
    )
    loop = ob.graph(
        [ob.node("Loop", ["n", "", "x"], ["y", "z"], body=("graph", body))],
        [ob.value_info("n", ob.INT64, []), "x"],
        ["y", "z"],
    )
    shapes = ob.graph(SHAPES, ["x"], ["y"], SHAPE_CONSTANTS)
    return [perceptron(), ob.model(loop), ob.model(shapes)]


def mutants(count: int):
    """Models with bytes changed, left out, repeated and moved."""
    draw = random.Random(0)
    models = seeds()
    for _ in range(count):
        data = bytearray(draw.choice(models))
        for _ in range(draw.randint(1, 4)):
            at = draw.randrange(len(data))
            kind = draw.randrange(4)
            if kind == 0:
                data[at] = draw.choice([0, 1, 127, 128, 255, draw.randrange(256)])
            elif kind == 1:
                del data[at : at + draw.randint(1, 8)]
            elif kind == 2:
                data[at:at] = data[at : at + draw.randint(1, 64)]
            else:
                other = draw.choice(models)
                start = draw.randrange(len(other))
                data[at : at + 16] = other[start : start + draw.randint(1, 32)]
        yield bytes(data)


def test_2000_mutants():
    here = str(Path(__file__).parent)
    run = subprocess.run(
        [sys.executable, "-c", MUTANTS, here, "2000"],
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert run.returncode == 0, run.stderr[-2000:]
    assert 0 < int(run.stdout) < 2000


def test_the_door_looks_at_bytes(tmp_path):
    path = tmp_path / "model.txt"
    path.write_bytes(perceptron())
    assert hotaru.load_program(path)(X).shape == (2, 4)
    hotaru.onnx.load(path).save(str(tmp_path / "archive.bin"))
    assert hotaru.load_program(tmp_path / "archive.bin")(X).shape == (2, 4)
    with pytest.raises(RuntimeError, match="this is no model"):
        hotaru.load_program(io.BytesIO(b"something else"))
    hotaru.save({"x": X}, tmp_path / "state.pt")
    with pytest.raises(RuntimeError, match="has tensors and no program"):
        hotaru.load_program(tmp_path / "state.pt")
