"""Exported models whose sizes ONNX Runtime and hotaru compute alike."""

from __future__ import annotations

import io

import hotaru.nn.functional as F
import pytest

import hotaru as torch
from hotaru import nn


class Calls(nn.Module):
    """A function as a module."""

    def __init__(self, function) -> None:
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


def _resized(mode: str, **kwargs):
    return lambda x: F.interpolate(x, mode=mode, **kwargs)


CASES = {
    "antialiased linear": _resized("bilinear", size=(3, 5), antialias=True),
    "antialiased cubic": _resized("bicubic", size=(3, 5), antialias=True),
    "antialiased larger": _resized("bicubic", size=(9, 13), antialias=True),
    "corners by 1.3": _resized("bilinear", scale_factor=1.3, align_corners=True),
    "corners by 0.6": _resized("bicubic", scale_factor=0.6, align_corners=True),
    "corners by size": _resized("bilinear", size=(9, 4), align_corners=True),
    "by 1.3": _resized("bilinear", scale_factor=1.3),
    "eye": lambda x: torch.eye(x.size(0)) * 2,
    "wide eye": lambda x: torch.eye(x.size(0), x.size(1)),
}


@pytest.mark.parametrize("dynamic", [False, True], ids=["fixed", "dynamic"])
@pytest.mark.parametrize("name", CASES)
def test_sizes_are_those_of_the_program(name, dynamic):
    runtime = pytest.importorskip("onnxruntime")
    module = Calls(CASES[name]).eval()
    torch.manual_seed(0)
    x = torch.randn(2, 3, 7, 8)
    axes = {"x": {0: "n", 2: "h", 3: "w"}} if dynamic else None
    file = io.BytesIO()
    torch.onnx.export(
        module, (x,), file, input_names=["x"], dynamic_axes=axes, opset_version=18
    )
    session = runtime.InferenceSession(
        file.getvalue(), providers=["CPUExecutionProvider"]
    )
    again = torch.onnx.load(io.BytesIO(file.getvalue()))
    given = [x]
    if dynamic:
        given.append(torch.randn(4, 3, 5, 11))
    for value in given:
        want = module(value)
        found = session.run(None, {"x": value.numpy()})[0]
        torch.testing.assert_close(torch.from_numpy(found), want)
        torch.testing.assert_close(again(value), want)
