"""`hotaru compare` and `hotaru convert --precision`: bfloat16 and int8."""

import json
import subprocess
import sys
import xml.etree.ElementTree as ET
import zipfile
from pathlib import Path

import numpy as np
import pytest

import hotaru as torch
from hotaru import nn

COMMAND = Path(sys.executable).with_name("hotaru")


def hotaru(*words) -> subprocess.CompletedProcess:
    return subprocess.run(
        [str(COMMAND), *map(str, words)], capture_output=True, text=True, timeout=60
    )


def output(*words) -> str:
    done = hotaru(*words)
    assert done.returncode == 0, done.stderr
    return done.stdout


def perceptron(width=64):
    torch.manual_seed(0)
    layers = [nn.Linear(width, 2 * width), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(2 * width, 40, bias=False)).eval()


def saved(module, folder, name="model.pt"):
    path = folder / name
    torch.jit.script(module).save(str(path))
    return path


def bits(tensor):
    return tensor.contiguous().view(torch.int32).tolist()


def test_int8_has_the_bits_of_quantize_dynamic(tmp_path):
    model = perceptron()
    target = tmp_path / "int8.pt"
    text = output("convert", saved(model, tmp_path), target, "--precision=int8")
    assert text == "2 linear maps in int8\n"
    wanted = torch.ao.quantization.quantize_dynamic(model)
    made = torch.jit.load(str(target))
    for shape in ((1, 64), (5, 64), (2, 3, 64), (64,), (0, 64)):
        x = torch.randn(shape)
        with torch.no_grad():
            assert bits(made(x)) == bits(wanted(x))


class Forms(nn.Module):
    """The same weight in every form that a product takes it."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.square = nn.Parameter(torch.randn(8, 8))
        self.bias = nn.Parameter(torch.randn(8))

    def forward(self, x):
        return [
            nn.functional.linear(x, self.square, self.bias),
            nn.functional.linear(x, self.square.t()),
            torch.mm(x, self.square),
            torch.matmul(x, self.square.transpose(0, 1)),
            torch.matmul(x, self.square.permute(1, 0)),
            torch.addmm(self.bias, x, self.square),
            torch.addmm(self.bias, x, self.square.t()),
            torch.addmm(self.bias, x, self.square, beta=2),
            x @ x.t() @ x,
        ]


@pytest.mark.parametrize("precision", ["int8", "bfloat16"])
def test_every_form_of_a_constant_weight(tmp_path, precision):
    source, target = saved(Forms().eval(), tmp_path), tmp_path / "low.pt"
    text = output("convert", source, target, f"--precision={precision}")
    assert text == f"7 linear maps in {precision}; in float32: addmm, matmul 2\n"
    x = torch.randn(4, 8)
    with torch.no_grad():
        wanted = torch.jit.load(str(source))(x)
        made = torch.jit.load(str(target))(x)
    # Factors of 7 and 8 bits, eight of them, none above 5.
    bound = 8 * 25 * 2**-7
    for i, (a, b) in enumerate(zip(made, wanted)):
        apart = (a - b).abs().max().item()
        assert apart < bound, i
        assert (apart > 0) == (i < 7), i


class Odd(nn.Module):
    """Products that can't be of integers."""

    def __init__(self):
        super().__init__()
        self.wide = nn.Parameter(torch.randn(4, 4, dtype=torch.float64))
        broken = torch.randn(4, 4)
        broken[1, 2] = float("nan")
        self.broken = nn.Parameter(broken)
        self.moving = nn.Parameter(torch.randn(4, 4))
        self.fine = nn.Parameter(torch.randn(4, 4))

    def forward(self, x):
        self.moving.add_(1)
        y = nn.functional.linear(x.double(), self.wide).float()
        y = y + nn.functional.linear(x, self.moving)
        return nn.functional.linear(x, self.fine) + y.sum() * 0, (
            nn.functional.linear(x, self.broken)
        )


def test_what_stays_is_told_of_and_computes_as_before(tmp_path):
    with torch.no_grad():
        source = saved(Odd().eval(), tmp_path)
        target = tmp_path / "int8.pt"
        text = output("convert", source, target, "--precision", "int8")
        assert text == "1 linear map in int8; in float32: linear 3\n"
        x = torch.randn(2, 4)
        one, other = torch.jit.load(str(source)), torch.jit.load(str(target))
        assert str(one(x)[1]) == str(other(x)[1])
        assert (one(x)[0] - other(x)[0]).abs().max() < 0.2


def test_a_function_of_several_returns_is_counted(tmp_path):
    """It stays a call, and its product with it."""

    @torch.jit.script
    def early(x: torch.Tensor, flag: bool) -> torch.Tensor:
        if flag:
            return torch.mm(x, x)
        return x

    class Calls(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Linear(4, 4)

        def forward(self, x, flag: bool):
            return early(self.inner(x), flag)

    source, target = saved(Calls().eval(), tmp_path), tmp_path / "int8.pt"
    text = output("convert", source, target, "--precision=int8")
    assert text == "1 linear map in int8; in float32: mm\n"
    words = (source, "--shape=4,4", "--input=true", "--precision=int8")
    (low,) = report(*words)["precisions"]
    assert low["linear"] == {"int8": 1, "embeddings": 0, "recurrent": 0, "kept": ["mm"]}
    assert [one["name"] for one in low["layers"]] == ["inner"]
    assert low["not_looked_at"] == 1


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("bias", [True, False])
def test_gemm_of_onnx_is_one_linear_map(tmp_path, transposed, bias):
    onnx = pytest.importorskip("onnx")
    helper, numpy_helper = onnx.helper, onnx.numpy_helper
    draw = np.random.default_rng(0).standard_normal
    w = draw((6, 8) if transposed else (8, 6), dtype=np.float32)
    constants = [numpy_helper.from_array(w, "w")]
    if bias:
        constants.append(numpy_helper.from_array(w.ravel()[:6], "c"))
    names = ["x", "w", "c"] if bias else ["x", "w"]
    node = helper.make_node("Gemm", names, ["y"], transB=int(transposed))
    ports = [
        helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, shape)
        for name, shape in (("x", (3, 8)), ("y", (3, 6)))
    ]
    graph = helper.make_graph([node], "g", ports[:1], ports[1:], constants)
    model = helper.make_model(graph, ir_version=8)
    onnx.save(model, tmp_path / "gemm.onnx")
    target = tmp_path / "int8.pt"
    words = (tmp_path / "gemm.onnx", target, "--precision=int8")
    assert output("convert", *words) == "1 linear map in int8\n"
    x = torch.randn(3, 8)
    wanted = x @ torch.from_numpy(w.T if transposed else w).contiguous()
    if bias:
        wanted = wanted + torch.from_numpy(w.ravel()[:6])
    assert (torch.jit.load(str(target))(x) - wanted).abs().max() < 0.3


def test_archives_are_a_quarter_and_a_half_as_large(tmp_path):
    source = saved(perceptron(256), tmp_path)
    sizes = [source.stat().st_size]
    for precision in ("bfloat16", "int8"):
        target = tmp_path / f"{precision}.pt"
        output("convert", source, target, f"--precision={precision}")
        sizes.append(target.stat().st_size)
    assert 0.48 < sizes[1] / sizes[0] < 0.52
    assert 0.24 < sizes[2] / sizes[0] < 0.28


@pytest.fixture
def permission():
    torch.set_float32_matmul_precision("medium")
    yield
    torch.set_float32_matmul_precision("highest")


def graphed(module, x):
    graph = torch.cpu.Graph()
    with torch.no_grad(), torch.cpu.graph(graph):
        y = module(x)
    graph.replay()
    return y.clone()


def test_bfloat16_weights_are_rounded_and_nothing_else(tmp_path):
    model = perceptron()
    target = tmp_path / "bf16.pt"
    output("convert", saved(model, tmp_path), target, "--precision=bfloat16")
    made = torch.jit.load(str(target))
    for part in model:
        if isinstance(part, nn.Linear):
            part.weight.data = part.weight.bfloat16().float()
    x = torch.randn(3, 64)
    with torch.no_grad():
        for _ in range(2):
            assert bits(made(x)) == bits(model(x))


def test_bfloat16_weights_change_nothing_under_the_permission(tmp_path, permission):
    source, target = saved(perceptron(), tmp_path), tmp_path / "bf16.pt"
    output("convert", source, target, "--precision=bfloat16")
    x = torch.randn(3, 64)
    one, other = torch.jit.load(str(source)), torch.jit.load(str(target))
    assert bits(graphed(one, x)) == bits(graphed(other, x))


class Written(nn.Module):
    """A conversion of a constant whose result is written to."""

    def __init__(self):
        super().__init__()
        weight = torch.arange(4.0).reshape(2, 2)
        self.weight = nn.Parameter(weight.bfloat16(), requires_grad=False)

    def forward(self, x):
        weight = self.weight.to(torch.float32)
        y = nn.functional.linear(x, weight)
        weight.add_(1)
        return y


def test_a_converted_constant_that_is_written_is_made_in_each_call():
    model = torch.jit.freeze(torch.jit.script(Written().eval()))
    x = torch.ones(1, 2)
    assert [model(x).tolist() for _ in range(3)] == [[[1.0, 5.0]]] * 3


def test_dimensions_of_a_constant_that_changes_are_asked_in_each_call():
    class Grows(nn.Module):
        def __init__(self):
            super().__init__()
            self.fixed = nn.Parameter(torch.ones(2, 3))

        def forward(self, x):
            table = torch.tensor([1.0, 2.0])
            before = table.dim() + self.fixed.dim()
            table.unsqueeze_(0)
            whole = self.fixed.dtype == torch.float32
            floats = self.fixed.is_floating_point() and whole
            return before, table.dim(), floats

    model = torch.jit.freeze(torch.jit.script(Grows().eval()))
    assert [model(torch.ones(1)) for _ in range(2)] == [(3, 2, True)] * 2
    assert "torch.dim(CONSTANTS" not in model.code
    assert "prim.dtype" not in model.code


def test_other_methods_are_kept(tmp_path):
    class Two(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Linear(4, 4)

        def forward(self, x):
            return self.inner(x)

        @torch.jit.export
        def twice(self, x):
            return self.inner(self.inner(x))

    target = tmp_path / "int8.pt"
    source = saved(Two().eval(), tmp_path)
    text = output("convert", source, target, "--precision=int8")
    assert text == "3 linear maps in int8\n"
    made, x = torch.jit.load(str(target)), torch.randn(2, 4)
    with torch.no_grad():
        assert bits(made.twice(x)) == bits(made(made(x)))
    # One weight, however many methods use it.
    files = zipfile.ZipFile(target).namelist()
    assert sum("constants/" in name for name in files) == 3, files


def report(*words):
    return json.loads(output("compare", *words, "--seconds=0", "--json"))


def given(folder, *shape):
    x = np.random.default_rng(0).standard_normal(shape, dtype=np.float32)
    np.save(folder / "x.npy", x)
    return torch.from_numpy(x), folder / "x.npy"


def test_compare_tells_how_far_the_archives_are_apart(tmp_path):
    """Promises of compare for int8 are what the converted archive does."""
    source, target = saved(perceptron(), tmp_path), tmp_path / "int8.pt"
    output("convert", source, target, "--precision=int8")
    x, path = given(tmp_path, 3, 64)
    with torch.no_grad():
        wanted = torch.jit.load(str(source))(x).double()
        apart = (torch.jit.load(str(target))(x).double() - wanted).abs()
    (low,) = report(source, "--input", path, "--precision=int8")["precisions"]
    (result,) = low["outputs"]
    # The graph adds up in another order than eager code.
    close = pytest.approx(apart.max().item(), abs=1e-6)
    assert result["largest"] == close
    assert result["mean"] == pytest.approx(apart.mean().item(), abs=1e-6)
    assert result["magnitude"] == pytest.approx(wanted.abs().max().item())
    assert result["relative"] == result["largest"] / result["magnitude"]
    assert (result["shape"], result["elements"]) == ("[3, 40]", 120)
    assert low["linear"] == {"int8": 2, "embeddings": 0, "recurrent": 0, "kept": []}


def test_compare_says_what_the_permission_does(tmp_path, permission):
    source = saved(perceptron(), tmp_path)
    x, path = given(tmp_path, 3, 64)
    low = graphed(torch.jit.load(str(source)), x)
    torch.set_float32_matmul_precision("highest")
    high = graphed(torch.jit.load(str(source)), x)
    (made,) = report(source, "--input", path, "--precision=bfloat16")["precisions"]
    apart = (low.double() - high.double()).abs().max().item()
    assert made["outputs"][0]["largest"] == pytest.approx(apart, rel=1e-6)
    assert 0 < made["outputs"][0]["relative"] < 2**-6
    assert made["seconds"] > 0


class Mixed(nn.Module):
    """A layer with one large number, a convolution, and a loop."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.first = nn.Conv1d(1, 4, 3, padding=1)
        self.fine = nn.Linear(16, 16)
        self.rough = nn.Linear(16, 16)
        self.rough.weight.data[0, 0] = 100.0
        self.fine.bias.data.zero_()
        self.rough.bias.data.zero_()

    def forward(self, x, times: int):
        x = self.first(x)
        for _ in range(times):
            x = torch.tanh(self.fine(x))
        return {"a": self.rough(x), "b": (x @ x.transpose(1, 2)).argmax()}


def test_layers_that_cost_most(tmp_path):
    source, picture = saved(Mixed().eval(), tmp_path), tmp_path / "layers.svg"
    words = (source, "--shape=2,1,16", "--input", 3, "--picture", picture)
    low = report(*words)["precisions"]
    assert [one["precision"] for one in low] == ["bfloat16", "int8"]
    layers = {one["name"]: one for one in low[1]["layers"]}
    assert set(layers) == {"first", "fine", "rough", "matmul 1"}
    assert layers["fine"]["calls"] == 3
    assert layers["first"]["float32"]
    assert layers["matmul 1"]["float32"]
    assert layers["first"]["error"]["largest"] == 0
    # One scale for all rows: small numbers beside 100 have few bits.
    fine, rough = (layers[n]["error"] for n in ("fine", "rough"))
    assert 0 < fine["relative"] < 0.05
    assert rough["largest"] > 5 * fine["largest"]
    assert layers["rough"]["result"] == "[2, 4, 16]"
    assert not any(one["float32"] for one in low[0]["layers"])
    assert [len(one["outputs"]) for one in low] == [2, 2]
    words = {element.text or "" for element in ET.parse(picture).iter()}
    assert any(text.startswith("rough") for text in words)
    assert "float32" in words


class Counter(nn.Module):
    """Its results depend on how often it was called."""

    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(64, 64)
        self.register_buffer("total", torch.zeros(64, 64))

    def forward(self, x):
        self.total = self.total + self.inner(x)
        return self.total, torch.ones_like(x)


@pytest.mark.parametrize("branch", [False, True])
def test_a_models_state_is_the_same_for_all(tmp_path, branch):
    class Branch(Counter):
        def forward(self, x):
            if bool(self.total.sum() > 1e9):  # no graph takes such a branch
                return x, x
            self.total = self.total + self.inner(x)
            return self.total, torch.ones_like(x)

    made = Branch() if branch else Counter()
    words = (saved(made.eval(), tmp_path), "--shape=64,64")
    for one in report(*words)["precisions"]:
        assert one["graph"] is not branch
        relative = one["outputs"][0]["relative"]
        assert relative < 0.05
        rounds = not branch or one["precision"] == "int8" or eager_rounds()
        assert (relative > 0) == rounds
        assert one["outputs"][1]["largest"] == 0


def test_convolutions_that_stay_have_no_error(tmp_path):
    """Sums in another order are no lower precision."""
    torch.manual_seed(0)
    layers = [nn.Conv1d(8, 64, 3), nn.ReLU(), nn.Conv1d(64, 8, 5)]
    source = saved(nn.Sequential(*layers).eval(), tmp_path)
    (low,) = report(source, "--shape=1,8,100", "--precision=bfloat16")["precisions"]
    for layer in low["layers"]:
        error = layer["error"]["relative"]
        assert error == 0 or error > 2**-12


def test_compare_prints_tables(tmp_path):
    source = saved(perceptron(), tmp_path)
    text = output("compare", source, "--shape=2,64", "--seconds=0", "--layers=1")
    assert text.count("times as fast") == 2
    assert "2 linear maps in int8\n" in text
    lines = text.splitlines()
    (first, second) = (
        lines[i + 1] for i, line in enumerate(lines) if "differences:" in line
    )
    assert "linear" in first
    assert "linear" in second
    assert lines[-1] == second  # one layer, as asked


def test_numbers_that_are_none_are_told_of(tmp_path):
    class Low(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Linear(4, 4)

        def forward(self, x):
            return (self.inner(x) * 0 - 1).sqrt(), x[:0]

    words = (saved(Low().eval(), tmp_path), "--shape=2,4")
    for one in report(*words)["precisions"]:
        nan, empty = one["outputs"]
        assert nan["differing"] == 0  # both are NaN
        assert (empty["elements"], empty["mean"]) == (0, 0)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("compare", "MODEL", "--precision=int2"), "int8 and int4"),
        (("compare", "MODEL"), "forward(input: Tensor)"),
        (("convert", "MODEL", "OUT.onnx", "--precision=int8"), "archive"),
        (("convert", "MODEL", "OUT.pt", "--precision=int8,bfloat16"), "has one"),
        (("convert", "NONE", "OUT.pt", "--precision=int8"), "no linear map"),
    ],
)
def test_errors_say_what_would_be_right(tmp_path, words, expected):
    places = {
        "MODEL": saved(perceptron(), tmp_path),
        "NONE": saved(nn.ReLU().eval(), tmp_path, "none.pt"),
        "OUT.pt": tmp_path / "out.pt",
        "OUT.onnx": tmp_path / "out.onnx",
    }
    done = hotaru(*(places.get(word, word) for word in words))
    assert done.returncode == 1
    assert expected in done.stderr
    assert not (tmp_path / "out.pt").exists()


def test_a_program_that_is_no_graph_is_compared_all_the_same(tmp_path):
    class Branch(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Linear(64, 64)

        def forward(self, x):
            if bool(x.sum() > 1e9):  # no graph takes a branch by values
                return x
            return self.inner(x)

    words = (saved(Branch().eval(), tmp_path), "--shape=64,64")
    made = report(*words, "--precision=bfloat16")
    assert made["graph"] is False
    (low,) = made["precisions"]
    assert low["graph"] is False
    assert low["outputs"][0]["relative"] < 2**-6
    assert (low["outputs"][0]["relative"] > 0) == eager_rounds()


def eager_rounds():
    """True if the processor multiplies bfloat16: else eager products don't."""
    x = torch.full((64, 64), 1 + 2.0**-12)
    torch.set_float32_matmul_precision("medium")
    try:
        return (x @ x)[0, 0].item() == 64
    finally:
        torch.set_float32_matmul_precision("highest")
