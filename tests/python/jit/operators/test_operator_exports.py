"""Operators as ONNX graphs and exported programs: the numbers of Python.

The programs are those of record_operators.py. One that cannot be exported is
refused; one that is exported gives what Python gives, here and in ONNX Runtime,
also for another size of the first dimension.
"""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import operator_programs
import pytest

import hotaru as torch

HERE = Path(__file__).parent
PROGRAMS = json.loads((HERE.parents[1] / "golden" / "jit_operators.json").read_text())
# Programs that are exported, of 2,253: fewer would be operators that were lost.
LEAST = {"onnx": 1270, "dynamic": 900, "runtime": 1260, "program": 2180}
# numpy has no bfloat16, and padding of what a negative padding emptied, output
# padding beyond a stride and windows of that kind are ONNX Runtime's to refuse.
RUNTIME_REFUSES = ("bfloat16", "replicate_negative", "conv_transpose")
ROUNDED = {torch.float16: 2e-3, torch.bfloat16: 2e-2}


def tensors_of(value) -> list:
    if isinstance(value, torch.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [x for each in value for x in tensors_of(each)]
    return [] if value is None else [torch.tensor(value)]


def same(a, b) -> bool:
    a, b = (x.to_dense() if x.layout != torch.strided else x for x in (a, b))
    if (a.shape, a.dtype) != (b.shape, b.dtype):
        return False
    if not (a.is_floating_point() or a.is_complex()):
        return torch.equal(a, b)
    rtol = ROUNDED.get(a.dtype, 2e-4)
    wide = torch.complex128 if a.is_complex() else torch.float64
    return torch.allclose(a.to(wide), b.to(wide), rtol=rtol, atol=1e-4, equal_nan=True)


def function_of(source: str):
    names = {"torch": torch, "Tensor": torch.Tensor, "__name__": "program"}
    exec(compile(source, "<program>", "exec"), names)  # the record's own text
    return names["f"]


def onnx_of(source: str, inputs, dynamic=()) -> bytes:
    file = io.BytesIO()
    torch.onnx.export(
        torch.jit.CompilationUnit(source).f,
        tuple(inputs),
        file,
        input_names=[f"t{i}" for i in range(len(inputs))],
        dynamic_axes={f"t{i}": {0: "n"} for i in dynamic},
        dynamo=False,
    )
    return file.getvalue()


def exported(way: str, source: str, inputs, dynamic):
    """The exported program as a function."""
    if way == "program":
        eager = function_of(source)

        class Module(torch.nn.Module):
            def forward(self, *args):
                return eager(*args)

        file = io.BytesIO()
        torch.export.save(torch.export.export(Module(), tuple(inputs)), file)
        file.seek(0)
        return torch.export.load(file).module()
    model = onnx_of(source, inputs, dynamic)
    if way != "runtime":
        return torch.onnx.load(io.BytesIO(model))
    import onnxruntime

    onnxruntime.set_default_logger_severity(4)
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])

    def run(*args):
        feeds = {x.name: a.numpy() for x, a in zip(session.get_inputs(), args)}
        return [torch.from_numpy(np.asarray(y)) for y in session.run(None, feeds)]

    return run


def outcome(way: str, source: str, specs) -> str | None:
    """Nothing for the same numbers, else what differs; None where there is nothing
    to compare: random numbers, and programs that are refused.
    """
    eager = function_of(source)
    inputs = [operator_programs.tensor_of(torch, s) for s in specs]
    leading = [x.shape[0] for x in inputs if x.dim()][:1]
    dynamic = ()
    if way == "dynamic":
        dynamic = [i for i, x in enumerate(inputs) if [*x.shape[:1]] == leading]

    def fresh() -> list:
        made = [operator_programs.tensor_of(torch, s) for s in specs]
        for i in dynamic:
            if made[i].dim():
                made[i] = torch.cat([made[i], made[i][:1]])
        return made

    try:
        wanted = []
        for seed in (0, 1):
            torch.manual_seed(seed)
            wanted.append(tensors_of(eager(*fresh())))
        if not all(map(same, *wanted)):
            return None
        call = exported(way, source, inputs, dynamic)
    except Exception:
        return None
    try:
        torch.manual_seed(0)
        found = tensors_of(call(*fresh()))
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[-200:]}"
    if len(found) != len(wanted[0]):
        return "another number of results"
    return "" if all(map(same, wanted[0], found)) else "differs"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("way", LEAST)
def test_exported_operators_give_the_numbers_of_python(way):
    if way == "runtime":
        pytest.importorskip("onnxruntime")
    wrong, count = [], 0
    for name, source, specs, _, _ in PROGRAMS:
        found = outcome(way, source, specs)
        if found is None or (
            way == "runtime" and any(x in name for x in RUNTIME_REFUSES)
        ):
            continue
        count += 1
        if found:
            wrong.append(f"{source}{found}")
    assert not wrong, "\n".join(wrong)
    assert count >= LEAST[way]


def test_a_program_that_returns_nothing_is_refused():
    with pytest.raises(ValueError, match="the program returns nothing"):
        onnx_of("def f(x: Tensor):\n    return []\n", [torch.ones(2)])
