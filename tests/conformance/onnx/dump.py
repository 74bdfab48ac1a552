"""Writes the node cases of PyPI's `onnx` as folders that run.py takes.

python -m pip install onnx; python tests/conformance/onnx/dump.py DIR
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import numpy as np
from onnx import OptionalProto, TensorProto, numpy_helper
from onnx.backend.test.case.node import collect_testcases


def encoded(value, info) -> bytes:
    which = info.type.WhichOneof("value")
    if which == "optional_type":
        inner = info.type.optional_type.elem_type.WhichOneof("value")
        kind = (
            OptionalProto.SEQUENCE if inner == "sequence_type" else OptionalProto.TENSOR
        )
        proto = numpy_helper.from_optional(value, info.name, kind)
    elif which == "sequence_type":
        proto = numpy_helper.from_list(value, info.name)
    elif isinstance(value, TensorProto):
        proto = value
    else:
        proto = numpy_helper.from_array(np.asarray(value), info.name)
    return proto.SerializeToString()


def main() -> None:
    warnings.filterwarnings("ignore")
    out = Path(sys.argv[1])
    cases = collect_testcases(None)
    for case in cases:
        folder = out / case.name
        folder.mkdir(parents=True, exist_ok=True)
        graph = case.model.graph
        (folder / "model.onnx").write_bytes(case.model.SerializeToString())
        for i, (inputs, outputs) in enumerate(case.data_sets):
            data = folder / f"test_data_set_{i}"
            data.mkdir(exist_ok=True)
            for name, values, infos in (
                ("input", inputs, graph.input),
                ("output", outputs, graph.output),
            ):
                for j, value in enumerate(values):
                    text = encoded(value, infos[j])
                    (data / f"{name}_{j}.pb").write_bytes(text)
    print(f"{len(cases)} cases")


if __name__ == "__main__":
    main()
