"""Runs ONNX test cases in hotaru: a folder a line in, a reason a line out."""

from __future__ import annotations

import json
import sys
import traceback
import warnings
from pathlib import Path

import numpy as np
import protos

import hotaru

# Tolerances of ONNX's own suite.
RTOL, ATOL = 1e-3, 1e-7
warnings.filterwarnings("ignore")


def to_hotaru(given):
    if given is None:
        return None
    if isinstance(given, list):
        return [to_hotaru(v) for v in given]
    array, kind = given
    out = hotaru.tensor(np.array(array))
    return out.view(getattr(hotaru, protos.RAW[kind])) if kind in protos.RAW else out


def as_numbers(array):
    if array.dtype.kind in "fc":
        return array.astype("c16" if array.dtype.kind == "c" else "f8")
    return array


def compare(got, expected, where: str) -> str:
    if expected is None or got is None:
        return "" if got is expected else f"{where}: None and not None"
    if isinstance(expected, list):
        if not isinstance(got, (list, tuple)) or len(got) != len(expected):
            return f"{where}: another length of sequence"
        each = (compare(a, b, where) for a, b in zip(got, expected))
        return next((e for e in each if e), "")
    array, kind = expected
    want = to_hotaru(expected)
    if not isinstance(got, hotaru.Tensor):
        return f"{where}: {type(got).__name__}, not a tensor"
    if got.dtype != want.dtype:
        return f"{where}: {got.dtype}, expected {want.dtype}"
    if tuple(got.shape) != tuple(array.shape):
        return f"{where}: {tuple(got.shape)}, expected {tuple(array.shape)}"
    got = got.detach()
    if kind in protos.RAW:
        got, want = got.to(hotaru.float32), want.to(hotaru.float32)
    a, b = as_numbers(got.numpy()), as_numbers(want.numpy())
    if a.dtype.kind in "fc":
        rtol = 1e-2 if kind in (10, 16) else RTOL
        if not np.allclose(a, b, rtol=rtol, atol=ATOL, equal_nan=True):
            return f"{where}: off by {np.nanmax(np.abs(a - b)):.3g}"
        return ""
    return "" if np.array_equal(a, b) else f"{where}: other values"


def run(folder: Path) -> str:
    inputs, outputs, _ = protos.signature((folder / "model.onnx").read_bytes())
    model = hotaru.onnx.load(folder / "model.onnx")
    hotaru.manual_seed(0)  # what is drawn fails each time, or never
    for data in sorted(folder.glob("test_data_set_*")):
        given = [
            to_hotaru(protos.value((data / f"input_{i}.pb").read_bytes(), kind))
            for i, (_, kind) in enumerate(inputs)
            if (data / f"input_{i}.pb").exists()
        ]
        expected = [
            protos.value((data / f"output_{i}.pb").read_bytes(), kind)
            for i, (_, kind) in enumerate(outputs)
        ]
        got = model(*given)
        got = [got] if len(outputs) == 1 else list(got)
        for i, (a, b) in enumerate(zip(got, expected)):
            if why := compare(a, b, f"output {i}"):
                return why
    return ""


def main() -> None:
    for line in sys.stdin:
        try:
            why = run(Path(line.strip()))
        except Exception as error:
            why = f"{type(error).__name__}: {error}"
            if "--trace" in sys.argv:
                traceback.print_exc()
        print(json.dumps(why), flush=True)


if __name__ == "__main__":
    main()
