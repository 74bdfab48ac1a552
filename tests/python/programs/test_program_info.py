"""`hotaru info FILE` for programs."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import onnx_bytes as ob

import hotaru as torch

ROOT = Path(__file__).parents[3]
COMMAND = Path(sys.executable).with_name("hotaru")


def info(*words) -> subprocess.CompletedProcess:
    return subprocess.run(
        [str(COMMAND), "info", *map(str, words)],
        capture_output=True,
        text=True,
        timeout=60,
    )


def report(path) -> dict:
    done = info(path, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(3, 4)
        self.norm = torch.nn.BatchNorm1d(4)

    def forward(self, x: torch.Tensor, twice: bool = False):
        x = torch.relu(self.norm(self.first(x)))
        if twice:
            x = torch.relu(x + 1)
        return x, x.sum()


def archive(folder: Path, change=lambda code: code) -> Path:
    """A saved Net whose code was changed."""
    made, out = folder / "made.pt", folder / "net.pt"
    torch.jit.save(torch.jit.script(Net().eval()), str(made))
    with zipfile.ZipFile(made) as old, zipfile.ZipFile(out, "w") as new:
        for record in old.infolist():
            data = old.read(record)
            if record.filename.endswith(".py"):
                data = change(data.decode()).encode()
            new.writestr(record.filename, data)
    return out


def test_an_archive(tmp_path):
    path = archive(tmp_path)
    found = report(path)
    assert found["format"] == "a TorchScript archive"
    assert found["inputs"] == [
        {"name": "x", "type": "Tensor"},
        {"name": "twice", "type": "bool"},
    ]
    assert found["outputs"][0]["type"] == "(Tensor, Tensor)"
    assert found["parameters"]["elements"] == 3 * 4 + 4 + 4 + 4
    assert found["parameters"]["bytes"] == 4 * 24
    assert found["buffers"]["bytes"] == 4 * 8 + 8
    names = [w["name"] for w in found["parameters"]["tensors"]]
    assert names[:2] == ["first.weight", "first.bias"]
    assert found["operators"]["aten::relu"] == 2
    assert found["operators"]["prim::If"] >= 1
    times = list(found["operators"].values())
    assert times == sorted(times, reverse=True)
    assert (found["missing"], found["problem"]) == ([], "")
    text = info(path).stdout
    assert "first.weight" in text
    assert "aten::relu" in text
    assert "missing     none" in text


def test_operators_that_are_not_here(tmp_path):
    path = archive(
        tmp_path, lambda code: code.replace("torch.relu(", "torch.no_such_op(")
    )
    assert report(path)["missing"] == ["aten::no_such_op"]
    assert "missing     aten::no_such_op" in info(path).stdout


def model() -> bytes:
    inner = ob.graph([ob.node("Relu", ["h"], ["i"])], [], ["i"])
    other = ob.graph([ob.node("Twist", ["h"], ["j"], "mine")], [], ["j"])
    return ob.model(
        ob.graph(
            [
                ob.node("MatMul", ["x", "w"], ["h"]),
                ob.node("ReduceMax", ["h"], ["c"], keepdims=0),
                ob.node("Cast", ["c"], ["b"], to=ob.BOOL),
                ob.node(
                    "If",
                    ["b"],
                    ["y"],
                    then_branch=("graph", inner),
                    else_branch=("graph", other),
                ),
                ob.node("Relu", ["y"], ["z"]),
            ],
            [ob.value_info("x", dims=["batch", 3]), ob.value_info("w")],
            [ob.value_info("z", dims=None)],
            [
                ob.tensor("w", ob.FLOAT, [3, 2], [0.0] * 6),
                ob.tensor("n", ob.INT64, [2], [1, 2]),
                ob.external_tensor("far", ob.FLOAT, [1000], location="none.bin"),
            ],
        ),
        mine=1,
    )


def test_an_onnx_model(tmp_path):
    path = tmp_path / "model.onnx"
    path.write_bytes(model())
    found = report(path)
    assert found["format"].startswith("an ONNX model, opset ")
    # Initializers may stand among the inputs; they are none.
    assert found["inputs"] == [{"name": "x", "type": "float32[batch, 3]"}]
    assert found["outputs"] == [{"name": "z", "type": "float32"}]
    # External data is not looked for.
    assert found["parameters"]["bytes"] == 6 * 4 + 1000 * 4
    assert [w["name"] for w in found["buffers"]["tensors"]] == ["n"]
    assert found["operators"] == {
        "Relu": 2,
        "Cast": 1,
        "If": 1,
        "MatMul": 1,
        "ReduceMax": 1,
        "mine::Twist": 1,
    }
    assert found["missing"] == ["mine::Twist"]
    assert "missing     mine::Twist" in info(path).stdout


def test_an_exported_program():
    found = report(ROOT / "tests/golden/pt2/bn_train.pt2")
    assert found["format"] == "a program of torch.export"
    assert found["missing"] == []
    assert found["operators"]


def test_damaged_files_are_refused(tmp_path):
    path = tmp_path / "model.onnx"
    path.write_bytes(model()[:-30])
    done = info(path)
    assert done.returncode == 1
    assert str(path) in done.stderr
    path = tmp_path / "net.pt"
    path.write_bytes(archive(tmp_path).read_bytes()[:-100])
    assert info(path).returncode == 1
