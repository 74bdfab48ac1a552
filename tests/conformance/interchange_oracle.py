"""PyTorch's side of the files that it and hotaru exchange: writes its own.

Beside the cases of each entry lies a folder with the files that they name.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sys
import types
import unittest

import torch

# Names that the databases and suites' files ask for and old versions lack.
sys.modules.setdefault(
    "expecttest", types.SimpleNamespace(TestCase=unittest.TestCase, ACCEPT=False)
)
if not hasattr(torch, "signal"):
    torch.signal = types.SimpleNamespace(windows=types.SimpleNamespace())
if not hasattr(torch.Tensor, "untyped_storage"):
    torch.Tensor.untyped_storage = lambda self: self.storage()._storage

from case_file import File, main  # noqa: E402
from interchange_trials import ARCHIVES, eager, entry_of, forms, found, made, module_of  # noqa: E402
from module_oracle import base_case, inputs_of, state_of  # noqa: E402
from module_trials import forward, tensors_in  # noqa: E402
from plain import NotPlainError, decoder  # noqa: E402
from torch.testing._internal.common_modules import module_db  # noqa: E402

DEFAULT = (torch.float32,)
# Most of a module's inputs in the database, from all over the list.
MOST_INPUTS = {False: 3, True: 2}


def some(values: list, most: int) -> list:
    count = min(len(values), most)
    return [values[i * len(values) // count] for i in range(count)]


def changed(state: dict) -> dict:
    """A state that no seed gives."""
    return {name: x * 1.25 if x.is_floating_point() else x for name, x in state.items()}


class Exchange:
    """The cases of one entry, and the files that PyTorch makes of them."""

    def __init__(self, path: str):
        self.file = File()
        self.path = path
        self.folder = os.path.basename(path.removesuffix(".pt"))
        os.makedirs(path.removesuffix(".pt"), exist_ok=True)

    def decode(self, case):
        return decoder(torch, case, self.file.tensors)

    def add(self, base: dict, form: str, mode: str, slack=None) -> None:
        """One form: PyTorch's file to be read and to be written again, and one
        to be written. Where PyTorch cannot write or use it there is only that,
        with the reason.
        """
        kind = f"{form}/{mode}"
        suffix = "pt2" if form == "export" else "pt"
        name = f"{self.folder}/{len(self.file.cases)}_{form}.{suffix}"
        case = {**base, "form": form, "file": name, "refused": ""}
        path = os.path.join(os.path.dirname(self.path), name)
        try:
            with quiet():
                made(torch, case, self.decode(case), path)
                result = found(torch, case, self.decode(case), path)
        except Exception as error:
            case["refused"] = f"{type(error).__name__}: {error}"[:200]
            result = eager(torch, case, self.decode(case))
        case["want"] = self.file.encoded({"found": result})
        case["slack"] = roundings(result) if slack is None else slack
        ways = ["write"] if case["refused"] else ["read", "write"]
        if not case["refused"] and form in ARCHIVES:
            ways.append("again")
        self.file.cases += [{**case, "kind": f"{way}_{kind}"} for way in ways]

    def write(self) -> None:
        self.file.write(self.path)


@contextlib.contextmanager
def quiet():
    """Without the graphs that PyTorch prints when it refuses."""
    with (
        open(os.devnull, "w") as nowhere,
        contextlib.redirect_stdout(nowhere),
        contextlib.redirect_stderr(nowhere),
    ):
        yield


def write_modules(exchange: Exchange, info, dtype) -> None:
    for training in (False, True):
        mode = "train" if training else "eval"
        given = inputs_of(info, info.module_inputs_func, dtype, training)
        for one in some(given, MOST_INPUTS[training]):
            values = base_case(info, one, dtype, training)
            try:
                values["state"] = changed(state_of(values))
                base = exchange.file.encoded(values)
                result = forward(torch, base, exchange.decode(base))
            except NotPlainError as reason:
                exchange.file.skipped.append(f"script/{mode}: {reason}")
                continue
            except Exception:
                continue  # what the module itself does not take
            gap = exchange.file.slack(base, result, forward)
            for form in forms(torch, training):
                exchange.add(base, form, mode, gap)


def roundings(result) -> float:
    """How far from exact the numbers of a program may be."""
    numbers = [x for x in tensors_in(torch, result) if x.is_floating_point()]
    narrow = any(x.dtype in (torch.bfloat16, torch.float16) for x in numbers)
    largest = [x.double().nan_to_num(0, 0, 0).abs().max() for x in numbers if x.numel()]
    return (1e-2 if narrow else 5e-6) * float(max(largest, default=0))


def write_program(exchange: Exchange, name: str) -> None:
    base = {"program": name, "lazy": False}
    torch.manual_seed(0)
    case = {**base, "first": 0, "count": 0, "needs": []}
    state = module_of(torch, case, None).state_dict()
    mode = "train" if entry_of(base).training else "eval"
    base = exchange.file.encoded({**base, "state": changed(dict(state))})
    for form in forms(torch, mode == "train"):
        exchange.add(base, form, mode)


def write_entry(info, dtype, path) -> None:
    exchange = Exchange(path)
    if isinstance(info, str):
        write_program(exchange, info)
    else:
        write_modules(exchange, info, dtype)
    exchange.write()


def table() -> dict:
    """The layers and, where PyTorch exports, the programs, by name."""
    found = {info.name.removeprefix("nn."): info for info in module_db}
    if hasattr(torch, "export"):
        from interchange_programs import PROGRAMS

        found.update((f"program.{name}", name) for name in PROGRAMS)
    return found


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    main(
        __doc__,
        table(),
        lambda info: {torch.float32} & set(getattr(info, "dtypes", DEFAULT)),
        write_entry,
    )
