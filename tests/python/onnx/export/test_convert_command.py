"""`hotaru convert`: archives to ONNX models and back."""

import subprocess
import sys
from pathlib import Path

import pytest

import hotaru as torch
from hotaru import nn

COMMAND = Path(sys.executable).with_name("hotaru")


def hotaru(*words):
    return subprocess.run(
        [str(COMMAND), *map(str, words)],
        capture_output=True,
        text=True,
        timeout=60,
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
    done = hotaru(
        "convert", path, model, "--shape", "2,4", "--dynamic", dynamic
    )
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
