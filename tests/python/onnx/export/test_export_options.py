"""torch.onnx.export's options, files and errors."""

import io
import os

import pytest
from hotaru.onnx import _program

import hotaru as torch
from hotaru import nn


@pytest.fixture
def net():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 512), nn.ReLU(), nn.Linear(512, 3))


@pytest.fixture
def x():
    return torch.randn(2, 4)


def test_writes_a_file_and_returns_a_program(net, x, tmp_path):
    path = tmp_path / "net.onnx"
    program = torch.onnx.export(net, (x,), path)
    assert isinstance(program, torch.onnx.ONNXProgram)
    assert path.read_bytes() == program.to_bytes()
    assert os.listdir(tmp_path) == ["net.onnx"]
    torch.testing.assert_close(torch.onnx.load(path)(x), net(x))
    torch.testing.assert_close(program(x)[0], net(x))


def test_dynamo_false_returns_nothing(net, x, tmp_path):
    out = torch.onnx.export(net, x, str(tmp_path / "a.onnx"), dynamo=False)
    assert out is None
    assert (tmp_path / "a.onnx").exists()


def test_the_same_program_gives_the_same_bytes(net, x):
    first = torch.onnx.export(net, (x,)).to_bytes()
    assert torch.onnx.export(net, (x,)).to_bytes() == first


def test_weights_beside_the_model(net, x, tmp_path):
    program = torch.onnx.export(net, (x,))
    path = tmp_path / "net.onnx"
    program.save(path, external_data=True)
    assert sorted(os.listdir(tmp_path)) == ["net.onnx", "net.onnx.data"]
    assert path.stat().st_size < 2000
    torch.testing.assert_close(torch.onnx.load(path)(x), net(x))
    with pytest.raises(TypeError, match="file path"):
        program.save(io.BytesIO(), external_data=True)


def test_weights_beyond_protobufs_limit_lie_beside_the_model(
    net, x, tmp_path, monkeypatch
):
    """Weights behave from 2 GiB on as here from a few bytes on."""
    onnx = pytest.importorskip("onnx", reason="onnx is not installed")
    monkeypatch.setattr(_program, "_LARGE", 16)
    path = tmp_path / "net.onnx"
    program = torch.onnx.export(net, (x,), path)
    assert sorted(os.listdir(tmp_path)) == ["net.onnx", "net.onnx.data"]
    assert path.stat().st_size < 2000
    onnx.checker.check_model(str(path), full_check=True)
    kept = onnx.load(str(path), load_external_data=False).graph.initializer
    # The smallest stay where readers look for shapes.
    large = [t for t in kept if len(t.dims) == 2]
    assert len(large) == 2
    assert all(t.data_location == t.EXTERNAL for t in large)
    torch.testing.assert_close(torch.onnx.load(path)(x), net(x))
    torch.testing.assert_close(program(x)[0], net(x))
    with pytest.raises(TypeError, match="file path"):
        program.save(io.BytesIO())


def test_export_over_the_file_that_is_loaded(net, x, tmp_path):
    path = tmp_path / "net.onnx"
    torch.onnx.export(net, (x,), path)
    back = torch.onnx.load(path)
    torch.onnx.export(back, (x,), path)
    torch.testing.assert_close(torch.onnx.load(path)(x), net(x))
    torch.testing.assert_close(back(x), net(x))


def test_names(net, x):
    program = torch.onnx.export(
        net, (x,), input_names=["image"], output_names=["scores"]
    )
    assert program.input_names == ["image"]
    assert program.output_names == ["scores"]
    with pytest.raises(ValueError, match="two values"):
        torch.onnx.export(net, (x,), input_names=["a"], output_names=["a"])


def test_names_come_from_the_parameters(x):
    class Named(nn.Module):
        def forward(self, picture, pair, *, scale=None):
            return picture * scale + pair[0] - pair[1]

    program = torch.onnx.export(Named(), (x, (x, x)), kwargs={"scale": torch.ones(1)})
    assert program.input_names == ["picture", "pair_0", "pair_1", "scale"]
    got = program(x, (x + 1, x), scale=torch.full((1,), 2.0))
    torch.testing.assert_close(got[0], x * 2 + 1)


def test_values_that_are_no_tensors_are_constants(x):
    def f(x, factor, mode="add"):
        return x + factor if mode == "add" else x * factor

    program = torch.onnx.export(f, (x, 3, "mul"))
    assert program.input_names == ["x"]
    torch.testing.assert_close(program(x)[0], x * 3)


@pytest.mark.parametrize(
    "shapes",
    [
        {"input": {0: "batch"}},
        ({0: "batch"},),
        (("batch", None),),
        [{0: torch.export.Dim("batch")}],
        ({0: torch.export.Dim.DYNAMIC},),
    ],
)
def test_dynamic_shapes(net, x, shapes):
    program = torch.onnx.export(net, (x,), dynamic_shapes=shapes)
    for batch in (1, 5):
        y = torch.randn(batch, 4)
        torch.testing.assert_close(program(y)[0], net(y))


def test_dynamic_shapes_that_fit_nothing(net, x):
    with pytest.raises(ValueError, match="names \\['y'\\]"):
        torch.onnx.export(net, (x,), dynamic_shapes={"y": {0: "n"}})
    with pytest.raises(IndexError, match="dimension 5"):
        torch.onnx.export(net, (x,), dynamic_shapes=({5: "n"},))
    with pytest.raises(ValueError, match="dynamic_axes"):
        torch.onnx.export(net, (x,), dynamic_axes={"y": [0]})


def test_a_dimension_that_cannot_be_dynamic(net, x):
    with pytest.raises(RuntimeError, match="other sizes of the dynamic"):
        torch.onnx.export(net, (x,), dynamic_shapes=({1: "width"},))


@pytest.mark.parametrize("opset", [13, 15, 17, 18, 20, 21, 23])
def test_opsets(opset, x):
    class Many(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm = nn.LayerNorm(4)
            self.drop = nn.Dropout()

        def forward(self, x):
            y = nn.functional.gelu(self.norm(x))
            return y.mean(1), y.sum(0), y.std(1), nn.functional.mish(y)

    model = Many().eval()
    program = torch.onnx.export(model, (x,), opset_version=opset)
    assert program.opset_version == opset
    for a, b in zip(program(x), model(x), strict=True):
        torch.testing.assert_close(a, b)


@pytest.mark.parametrize("opset", [12, 99])
def test_opsets_that_are_not_written(net, x, opset):
    with pytest.raises(ValueError, match="13 to 23"):
        torch.onnx.export(net, (x,), opset_version=opset)


def test_missing_operators_are_named_all_at_once(x):
    class Odd(nn.Module):
        def forward(self, x):
            y = torch.linalg.inv(x @ x.t()) + torch.lgamma(x[:, :2])
            return torch.lgamma(y)

    with pytest.raises(torch.onnx.errors.UnsupportedOperatorError) as e:
        torch.onnx.export(Odd(), (x,))
    counts = {name: count for name, count, _ in e.value.operators}
    assert counts["aten::lgamma"] == 2
    assert any("inv" in name for name in counts)
    assert isinstance(e.value, torch.onnx.OnnxExporterError)


def test_options_without_a_counterpart(net, x):
    with pytest.raises(NotImplementedError, match="hotaru has no"):
        torch.onnx.export(net, (x,), profile=True)


def test_training_mode(x):
    net = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5)).train()
    assert "Dropout" not in torch.onnx.export(net, (x,)).operators()
    assert net.training
    assert net[1].training
    mode = torch.onnx.TrainingMode.PRESERVE
    kept = torch.onnx.export(net, (x,), training=mode)
    assert kept.operators()["Dropout"] == 1


def test_verify_and_report(net, x, tmp_path):
    torch.onnx.export(net, (x,), verify=True, report=True, artifacts_dir=tmp_path)
    text = (tmp_path / "onnx_export_Sequential.md").read_text()
    assert "| Gemm | 2 |" in text


def test_without_weights_or_with_weights_as_inputs(net, x, tmp_path):
    small = tmp_path / "small.onnx"
    torch.onnx.export(net, (x,), small, export_params=False)
    assert small.stat().st_size < 2000
    path = tmp_path / "inputs.onnx"
    torch.onnx.export(net, (x,), path, keep_initializers_as_inputs=True)
    torch.testing.assert_close(torch.onnx.load(path)(x), net(x))


def test_weights_that_are_left_out_are_inputs_in_the_older_form(net, x):
    file = io.BytesIO()
    torch.onnx.export(net, (x,), file, dynamo=False, export_params=False)
    file.seek(0)
    model = torch.onnx.load(file)
    assert not list(model.parameters())
    torch.testing.assert_close(model(x, *net.parameters()), net(x))


@pytest.mark.parametrize(
    ("what", "names"), [("input", [f"n{i}" for i in range(9)]), ("output", ["y", "z"])]
)
def test_more_names_than_values_are_refused(net, x, what, names):
    options = {f"{what}_names": names}
    with pytest.raises(RuntimeError, match=f"number of {what} names"):
        torch.onnx.export(net, (x,), io.BytesIO(), dynamo=False, **options)


def test_is_in_onnx_export(x):
    seen = []

    class Asks(nn.Module):
        def forward(self, x):
            seen.append(torch.onnx.is_in_onnx_export())
            return x + 1

    torch.onnx.export(Asks(), (x,))
    assert seen == [True]
    assert not torch.onnx.is_in_onnx_export()


def test_random_numbers_are_not_drawn(net, x):
    torch.manual_seed(3)
    before = torch.get_rng_state()
    torch.onnx.export(net, (x,))
    assert torch.equal(torch.get_rng_state(), before)
