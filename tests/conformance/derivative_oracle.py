"""PyTorch's side of derivatives: every differentiable entry of its operator
database, in every mode and at points where formulas break (derivative_trials).
"""

from __future__ import annotations

import torch
from case_file import Copies, File, main
from derivative_trials import MODES, POINTS, Program
from op_oracle import UNIQUE, entry_name
from plain import NotPlainError
from recorder import record, tensors_in
from torch.testing._internal.common_methods_invocations import op_db

MOST_SAMPLES = 2
LARGEST = 400  # elements of a sample


def differentiable(program, xs) -> list[int]:
    """Which results depend on the inputs, in an order that both sides have."""
    xs = [x.detach().requires_grad_() for x in xs]
    return [
        i
        for i, y in enumerate(program.everything(*xs))
        if y.requires_grad and y.layout == torch.strided
    ]


def add_point(file, base: dict, point) -> None:
    """The cases of a sample at one point: one for each mode PyTorch has."""
    case = {**base, "point": point.__name__}
    program = Program(torch, case, file.tensors)
    moved = [point(torch, program.given[i]) for i in program.places]
    if all(x is None for x in moved):
        return
    xs = program.point()
    try:
        case["outs"] = program.outs = differentiable(program, xs)
    except Exception:
        return  # no such point
    if not case["outs"]:
        return
    for mode in MODES:
        try:
            found = mode(torch, program, xs)
            if found is None:
                continue
            found = [found] if isinstance(found, torch.Tensor) else list(found)
            want = file.keep(found)
        except Exception:
            continue
        kind = f"{mode.__name__}/{point.__name__}"
        file.cases.append({**case, "kind": kind, "want": want})


def write_entry(op, dtype, path) -> None:
    file = File()
    used = 0
    torch.manual_seed(0)
    for sample in op.sample_inputs("cpu", dtype, requires_grad=True):
        args, kwargs = (sample.input, *sample.args), sample.kwargs
        numbers = [x.numel() for _, x in tensors_in([args, *kwargs.values()])]
        if sum(numbers) > LARGEST or not any(numbers):
            continue
        if used == MOST_SAMPLES:
            break
        torch.manual_seed(0)
        finish = UNIQUE.get(op.name) or sample.output_process_fn_grad
        try:
            recorder, _, plain = record(op.op, args, kwargs, finish)
            inputs = recorder.encode.tensors
            base = {
                "entry": entry_name(op),
                "first": len(file.tensors),
                "count": len(inputs),
                "needs": [x.requires_grad and x.is_leaf for x in inputs],
                "steps": recorder.steps,
                "result": plain,
            }
            copies = Copies()
            before = [copies(x) for x in inputs]
        except (NotPlainError, RuntimeError, ValueError):
            continue
        if not any(base["needs"]):
            continue
        file.tensors += before
        used += 1
        for point in POINTS:
            add_point(file, base, point)
    file.write(path)


if __name__ == "__main__":
    main(
        __doc__,
        {entry_name(op): op for op in op_db if op.supports_autograd},
        lambda op: op.supported_backward_dtypes("cpu") & {torch.float64},
        write_entry,
    )
