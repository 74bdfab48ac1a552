"""Exported models by onnx.checker and ONNX Runtime, at three batch sizes.

By hand, with an interpreter that has `onnx` and `onnxruntime`:

    python export_check.py --subject .venv/bin/python [NAME...]

`--subject` is one that has hotaru and numpy. Prints a line for each program
and exits with 1 if one is not clean or off by more than 1e-5 of the largest
value.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime

HERE = Path(__file__).resolve().parent
TOLERANCE = 1e-5


def difference(got, expected) -> float:
    """Relative to the largest expected value, at least 1."""
    got, expected = np.asarray(got), np.asarray(expected)
    if got.shape != expected.shape:
        return float("inf")
    if got.size == 0:
        return 0.0
    got, expected = got.astype(np.float64), expected.astype(np.float64)
    same = (got == expected) | (np.isnan(got) & np.isnan(expected))
    gap = np.where(same, 0, np.abs(got - expected))
    finite = np.abs(expected[np.isfinite(expected)])
    return float(gap.max() / max(1.0, finite.max(initial=0)))


def check(path: Path, cases: int) -> tuple[float, int]:
    """The worst difference, and how many numbers came of another dtype."""
    model = onnx.load(str(path))
    onnx.checker.check_model(model, full_check=True)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(path), options)
    arrays = np.load(path.with_suffix(".npz"))
    worst, types = 0.0, 0
    for case in range(cases):
        feed = {
            each.name: arrays[f"{case}/inputs/{i}"]
            for i, each in enumerate(session.get_inputs())
        }
        for i, got in enumerate(session.run(None, feed)):
            expected = arrays[f"{case}/outputs/{i}"]
            worst = max(worst, difference(got, expected))
            types += np.asarray(got).dtype != expected.dtype
    return worst, types


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--subject", required=True)
    parser.add_argument("--keep", help="a folder for the models")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    failures = 0
    with tempfile.TemporaryDirectory() as made:
        folder = Path(options.keep or made)
        folder.mkdir(exist_ok=True)
        subprocess.run(
            [options.subject, HERE / "export_programs.py", folder, *options.names],
            check=True,
        )
        facts = json.loads((folder / "facts.json").read_text())
        for name, fact in facts.items():
            if "error" in fact:
                failures += 1
                print(f"FAIL {name}: {fact['error'][:400]}")
                continue
            try:
                worst, types = check(folder / f"{name}.onnx", fact["cases"])
            except Exception as error:
                failures += 1
                print(f"FAIL {name}: {type(error).__name__}: {error!s:.400}")
                continue
            good = worst <= TOLERANCE and not types
            good = good and fact["hotaru"] <= 1e-4
            failures += not good
            print(
                f"{'ok  ' if good else 'FAIL'} {name}: ONNX Runtime "
                f"{worst:.1e}, hotaru {fact['hotaru']:.1e}, dtypes {types}, "
                f"{fact['nodes']} nodes, {fact['ms']:.0f} ms"
            )
    print(f"{len(facts) - failures} of {len(facts)} programs")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
