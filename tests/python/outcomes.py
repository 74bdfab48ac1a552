"""Outcomes of a piece of code, as plain data that can be stored and compared.

A case is a function of the library (`torch` or `hotaru`). Its outcome is its
result, or the exception that it raised, with tensors as nested lists.
"""

from __future__ import annotations

import importlib
import json
import math
import re
import warnings
from pathlib import Path

import pytest

GOLDEN = Path(__file__).resolve().parent / "golden"


# Warnings of PyTorch's native side, given once a process; about what hotaru
# does not have (nested tensors) or does not warn of; with links into its
# manual; and about the machine.
_NOT_COMPARED = (
    "is multi-threaded, use of fork()",  # Python's own, from 3.12 on
    "Triggered internally",
    "please use a dtype torch.bool instead",  # these are native as well
    "An output with one or more elements was resized",
    "received a uint8 condition tensor",
    "enable_nested_tensor",
    "Complex modules",
    "Positional args are being deprecated",
    "Full backward hook is firing",
    "This DataLoader will create",
    "`torch.jit.script` is deprecated",  # by what forward mode imports
    # Native as well; tests/python/core/test_warnings.py has them.
    "is deprecated and will be removed in a future PyTorch release",
    "is deprecated in favor of torch.linalg",
    "is deprecated on 0-D tensors",
    "The use of `x.T` on tensors",
    "discards the imaginary part",
    "will create a reference cycle",
    "attribute of a Tensor that is not a leaf",
    "degrees of freedom is <= 0",
    "without specifying the dim arg",
    "boundary tensor is non-contiguous",
    "on expanded tensors is deprecated",
    "The reduce argument of torch.scatter",
    "Using a non-tuple sequence for multidimensional indexing",
    "Converting a tensor with requires_grad=True to a scalar",
    "Creating a tensor from a list of numpy.ndarrays",
    "Using padding='same' with even kernel lengths",
)


def values(*shape, start: int = 0):
    """Fixed numbers in (-1, 1) of the given shape, as nested lists."""
    count = math.prod(shape)
    flat = [math.sin(1.7 * (start + i) + 0.3) for i in range(count)]
    for size in reversed(shape[1:]):
        flat = [flat[i : i + size] for i in range(0, len(flat), size)]
    return flat if shape else flat[0]


def tensor(lib, *shape, start: int = 0, **options):
    """`values` as a float32 tensor."""
    return lib.tensor(values(*shape, start=start), **options)


def plain(lib, value):
    """`value` as JSON data."""
    if isinstance(value, lib.Tensor):
        # The first digits of float32 are enough for every comparison.
        data = value.detach().tolist()
        return {
            "dtype": str(value.dtype).split(".")[-1],
            "shape": list(value.shape),
            "data": _rounded(data),
        }
    if isinstance(value, dict):
        return {"pairs": [[str(k), plain(lib, v)] for k, v in value.items()]}
    if isinstance(value, (list, tuple)):
        return [plain(lib, item) for item in value]
    if isinstance(value, (bool, int, str, type(None))):
        return _text(value) if isinstance(value, str) else value
    if isinstance(value, float):
        return _rounded(value)
    return _text(str(value))


def _rounded(data):
    if isinstance(data, list):
        return [_rounded(item) for item in data]
    if isinstance(data, complex):
        return [_rounded(data.real), _rounded(data.imag)]
    if isinstance(data, float):
        return float(f"{data:.8g}") if math.isfinite(data) else str(data)
    return data


def _own(message: str) -> str:
    """The message without what a queued stream adds about the call, and without
    the keyword that Python proposes from 3.13 on.
    """
    message = message.split("\n  (in a queued call of ")[0]
    return re.sub(
        r"(unexpected keyword argument '\w+')\. Did you mean .*", r"\1", message
    )


def _text(text: str) -> str:
    return text.replace("hotaru.", "torch.")


def outcome(case, lib):
    """Runs `case(lib)` from seed 0 and describes what came of it."""
    lib.manual_seed(0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = {"result": plain(lib, case(lib))}
        except Exception as error:
            result = {"raises": [type(error).__name__, _text(_own(str(error)))]}
    texts = {_text(str(w.message)) for w in caught}
    texts = sorted(t for t in texts if not any(part in t for part in _NOT_COMPARED))
    if texts:
        result["warns"] = texts
    return result


def difference(got, want, rtol: float = 1e-5, atol: float = 5e-6, path: str = ""):
    """Where two outcomes differ, or None. Floats differ beyond a tolerance."""
    if isinstance(want, float) or isinstance(got, float):
        both = isinstance(got, (int, float)) and isinstance(want, (int, float))
        if both and abs(got - want) <= atol + rtol * abs(want):
            return None
        return f"{path}: got {got!r}, expected {want!r}"
    if type(got) is not type(want):
        return f"{path}: got {got!r}, expected {want!r}"
    if isinstance(want, dict):
        if got.keys() != want.keys():
            return f"{path}: got {got!r}, expected {want!r}"
        pairs = [(key, got[key], want[key]) for key in want]
    elif isinstance(want, list):
        if len(got) != len(want):
            return f"{path}: got {got!r}, expected {want!r}"
        pairs = [(i, got[i], want[i]) for i in range(len(want))]
    else:
        return None if got == want else f"{path}: got {got!r}, expected {want!r}"
    for key, a, b in pairs:
        found = difference(a, b, rtol, atol, f"{path}/{key}")
        if found:
            return found
    return None


def load(name: str) -> dict:
    """The stored outcomes of a family of cases."""
    return json.loads((GOLDEN / f"{name}.json").read_text())


def store(name: str, found: dict) -> None:
    """Stores the outcomes of a family of cases, a line each."""
    lines = [f"{json.dumps(k)}: {json.dumps(v)}" for k, v in sorted(found.items())]
    GOLDEN.mkdir(exist_ok=True)
    (GOLDEN / f"{name}.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


def cases(family: str) -> dict:
    """The cases of `<family>_cases.py` by name."""
    return importlib.import_module(f"{family}_cases").CASES


def parameters(families, differs=()) -> list:
    """A pytest parameter `golden` for each case and record of the families.

    Those whose id, "family: name", is among `differs` have to fail, strictly:
    one that starts to pass has to leave the list.
    """
    found = []
    for family in families:
        of_family, records = cases(family), load(family)
        # A case without a record, or the reverse, is a mistake: it must show.
        for name in sorted({*of_family, *records}):
            label = f"{family}: {name}"
            listed = label.replace("\n", " ") in differs
            marks = [pytest.mark.xfail(strict=True)] if listed else []
            golden = (of_family.get(name), records.get(name))
            found.append(pytest.param(golden, id=label, marks=marks))
    return found


def listed(name: str) -> set:
    """The ids in a list beside the records, one a line."""
    return set((GOLDEN / name).read_text().splitlines())


def check(golden, lib, **tolerance) -> None:
    """Fails unless the case has the recorded outcome under `lib`."""
    case, want = golden
    if case is None:
        pytest.fail("recorded, but there is no such case")
    if want is None:
        pytest.fail("not recorded: run record_golden.py")
    wrong = difference(outcome(case, lib), want, **tolerance)
    if wrong:
        pytest.fail(wrong)


def same_as_pytorch(families, differs=(), **tolerance):
    """The test that every case of the families has its recorded outcome."""

    @pytest.mark.parametrize("golden", parameters(families, differs))
    def test(hotaru, golden):
        check(golden, hotaru, **tolerance)

    return test


def records_are_current(families):
    """The test that the records are what an installed PyTorch does."""

    def test(oracle):
        check_records(families, oracle)

    return test


def check_records(families, oracle) -> None:
    """Fails unless the records are what PyTorch, if it is 2.13, does."""
    if not oracle.__version__.startswith("2.13"):
        pytest.skip(f"recorded from PyTorch 2.13, this is {oracle.__version__}")
    for family in families:
        records = load(family)
        for name, case in cases(family).items():
            wrong = difference(outcome(case, oracle), records[name])
            if wrong:
                pytest.fail(f"{family}: {name}: {wrong}")
