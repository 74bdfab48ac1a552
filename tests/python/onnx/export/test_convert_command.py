"""`hotaru convert`: archives to ONNX models and back."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx_bytes as ob
import pytest

import hotaru as torch
from hotaru import nn

COMMAND = Path(sys.executable).with_name("hotaru")


def hotaru(*words):
    return subprocess.run(
        [str(COMMAND), *map(str, words)], capture_output=True, text=True, timeout=60
    )


@pytest.fixture
def net(tmp_path):
    torch.manual_seed(0)
    module = nn.Sequential(nn.Linear(4, 3), nn.ReLU()).eval()
    path = tmp_path / "net.pt"
    torch.jit.trace(module, (torch.randn(2, 4),)).save(str(path))
    return module, path


def test_to_onnx_and_back(net, tmp_path):
    module, path = net
    model, again = tmp_path / "net.onnx", tmp_path / "again.pt"
    dynamic = "batch=input:0"
    done = hotaru("convert", path, model, "--shape", "2,4", "--dynamic", dynamic)
    assert done.returncode == 0, done.stderr
    assert hotaru("convert", model, again).returncode == 0
    x = torch.randn(5, 4)
    for loaded in (torch.onnx.load(model), torch.jit.load(str(again))):
        torch.testing.assert_close(loaded(x), module(x))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--dynamic", "batch=y:0"], "the model's are input"),
        (["--dynamic", "batch"], "NAME=INPUT:DIMENSION"),
        (["--opset", "7"], "13 to 23"),
    ],
)
def test_what_makes_no_sense(net, tmp_path, words, said):
    target = tmp_path / "net.onnx"
    done = hotaru("convert", net[1], target, "--shape", "2,4", *words)
    assert done.returncode == 1
    assert said in done.stderr
    assert not target.exists()


def test_a_state_dict_from_before_archives(tmp_path):
    old, new = tmp_path / "old.pt", tmp_path / "new.safetensors"
    state = {"model": {"w": torch.arange(6.0).view(2, 3)}}
    torch.save(state, old, _use_new_zipfile_serialization=False)
    done = hotaru("convert", old, new, "--key", "model")
    assert done.returncode == 0, done.stderr
    found = torch.weights.load_file(str(new))
    assert list(found) == ["w"]
    assert torch.equal(found["w"], state["model"]["w"])


@pytest.mark.parametrize(
    ("kind", "dtype"), [(ob.INT64, "int64"), (ob.INT32, "int32"), (ob.FLOAT, "float32")]
)
def test_numbers_for_inputs_without_dimensions(tmp_path, kind, dtype):
    graph = ob.graph(
        [
            ob.node("Cast", ["rate"], ["r"], to=ob.FLOAT),
            ob.node("Mul", ["x", "r"], ["y"]),
        ],
        [ob.value_info("x", ob.FLOAT, ["n"]), ob.value_info("rate", kind, [])],
        ["y"],
    )
    model, again = tmp_path / "m.onnx", tmp_path / "m.pt2"
    model.write_bytes(ob.model(graph))
    np.save(tmp_path / "x.npy", np.array([1, 2], np.float32))
    given = "--input", tmp_path / "x.npy", "--input", 16000
    done = hotaru("run", model, *given, "--output", tmp_path / "y.npy")
    assert done.returncode == 0, done.stderr
    assert np.load(tmp_path / "y.npy").tolist() == [16000.0, 32000.0]
    done = hotaru("convert", model, again, *given)
    assert done.returncode == 0, done.stderr
    rate = torch.tensor(3, dtype=getattr(torch, dtype))
    run = torch.export.load(again).module()
    assert run(torch.ones(2), rate).tolist() == [3.0, 3.0]
