"""Records which operators PyTorch scripts and traces, as golden/operators.json.

    python tests/python/jit/operators/record_operators.py

Runs under PyTorch 2.13. Samples are those of PyTorch's own database; each
program stands there with its inputs and with what PyTorch's compiler and
tracer make of it: "" where the result is that of Python, else why not.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[2] / "conformance"))
sys.path.insert(0, str(HERE))

import torch  # noqa: E402
from operator_programs import copies_of, outcomes  # noqa: E402
from operator_source import NoSourceError, source_of  # noqa: E402
from plain import NotPlainError  # noqa: E402
from recorder import record, tensors_in  # noqa: E402
from torch.testing._internal.common_methods_invocations import op_db  # noqa: E402

MOST = {"function": 4, "method": 2, "inplace": 1}
LARGEST = 4000  # elements of a sample
# Operators whose results nobody wrote.
UNWRITTEN = ("empty", "new_empty", "resize_", "resize_as_")
DTYPES = (torch.float32, torch.int64, torch.bool, torch.complex64)


def plain_tensor(x) -> dict:
    """A tensor as text: its numbers where they are few, else their bounds."""
    out = {"shape": list(x.shape), "dtype": str(x.dtype)[6:]}
    if not x.is_contiguous() and 0 not in x.stride():
        out["stride"] = list(x.stride())
    if x.numel() == 0:
        return out
    if x.numel() <= 30:
        if x.is_complex():
            numbers = torch.view_as_real(x.resolve_conj()).flatten().tolist()
        else:
            numbers = x.flatten().tolist()
        out["values"] = [
            float(f"{v:.4g}") if isinstance(v, float) else v for v in numbers
        ]
        return out
    real = torch.view_as_real(x.resolve_conj()) if x.is_complex() else x
    low, high = real.min().item(), real.max().item()
    out["bounds"] = [
        float(f"{v:.4g}") if isinstance(v, float) else int(v) for v in (low, high)
    ]
    return out


def forms_of(op):
    yield "function", op.op
    if op.get_method():
        yield "method", op.get_method()
    if op.get_inplace():
        yield "inplace", op.get_inplace()


def programs_of(op, seen: set):
    supported = op.supported_dtypes("cpu")
    dtype = next((d for d in DTYPES if d in supported), None)
    if dtype is None:
        return
    torch.manual_seed(0)
    samples = []
    for sample in op.sample_inputs("cpu", dtype, requires_grad=False):
        tensors = tensors_in([sample.input, *sample.args, *sample.kwargs.values()])
        if sum(x.numel() for _, x in tensors) <= LARGEST:
            samples.append(sample)
        if len(samples) == 40:
            break
    # Samples of other forms of arguments come before other numbers.
    kinds: dict = {}
    for sample in samples:
        key = (
            len(sample.args),
            *sorted(sample.kwargs),
            *(type(a).__name__ for a in sample.args),
        )
        kinds.setdefault(key, []).append(sample)
    ordered = [s for i in range(40) for k in kinds.values() for s in k[i : i + 1]]
    for form, function in forms_of(op):
        count = 0
        for sample in ordered:
            if count == MOST[form]:
                break
            if form != "function" and not isinstance(sample.input, torch.Tensor):
                continue
            if form == "inplace" and sample.broadcasts_input:
                continue
            args = copies_of([sample.input, *sample.args])
            kwargs = copies_of(dict(sample.kwargs))
            try:
                torch.manual_seed(0)
                recorder, _, plain = record(function, args, kwargs)
                steps = [s for s in recorder.steps if s[0] != "torch.manual_seed"]
                if len(steps) != len(recorder.steps):
                    continue
                inputs = copies_of(
                    [sample.input, *sample.args, *sample.kwargs.values()]
                )
                given = [x for _, x in tensors_in(inputs)]
                known = []
                for x in given:
                    known.append(x)
                if len(known) != len(recorder.encode.tensors):
                    known = list(recorder.encode.tensors)
                source = source_of(steps, plain, len(known))
                specs = [plain_tensor(x) for x in known]
            except (NoSourceError, NotPlainError):
                continue
            except Exception:
                continue
            if source in seen:
                continue
            seen.add(source)
            count += 1
            yield source, specs


def main() -> None:
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    seen: set = set()
    out = []
    for op in op_db:
        name = op.name + (f".{op.variant_test_name}" * bool(op.variant_test_name))
        if op.name.startswith(UNWRITTEN):
            continue
        try:
            made = list(programs_of(op, seen))
        except Exception as error:
            print(name, repr(error)[:100], file=sys.stderr)
            continue
        for source, specs in made:
            found = outcomes(torch, source, specs)
            if found is None:
                continue
            out.append([name, source, specs, *found])
            print(
                name, *(f[:60].replace("\n", " ") for f in found), sep=" | ", flush=True
            )
    path = HERE.parents[1] / "golden" / "jit_operators.json"
    lines = ",\n".join(json.dumps(row, separators=(",", ":")) for row in out)
    path.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
