"""Helpers that every oracle writes with: files of cases, and their tensors."""

from __future__ import annotations

import argparse
import json
import os
import sys
import warnings

import torch
from module_trials import tensors_in as all_tensors
from plain import check_plain, decoder
from recorder import TorchEncoder, tensors_in


def snapshot(x):
    """A copy with the same geometry over a copy of the same memory."""
    check_plain(torch, x)
    if x._is_zerotensor():  # a gradient without memory
        return torch.zeros(x.shape, dtype=x.dtype)
    x = x.detach().resolve_conj().resolve_neg()
    storage = x.untyped_storage().clone()
    like = torch.empty(0, dtype=x.dtype)
    return like.set_(storage, x.storage_offset(), x.size(), x.stride())


class Copies:
    """Copies of a sample's tensors, for forms that write into them."""

    def __init__(self):
        self.made: dict[int, object] = {}

    def __call__(self, value):
        if isinstance(value, torch.Tensor):
            if id(value) not in self.made:
                self.made[id(value)] = snapshot(value)
            return self.made[id(value)]
        if type(value) in (tuple, list):
            return type(value)(self(v) for v in value)
        if type(value) is dict:
            return {k: self(v) for k, v in value.items()}
        return value


class File:
    """The cases of one entry and dtype, and the tensors they speak of."""

    def __init__(self):
        self.cases: list[dict] = []
        self.tensors: list = []
        self.skipped: list[str] = []

    def add(self, kind, recorder, before, result, plain, **more) -> dict:
        first = len(self.tensors)
        self.tensors += before
        expected = [x for _, x in tensors_in((result,))]
        case = {
            "kind": kind,
            "first": first,
            "count": len(before),
            "needs": [x.requires_grad for x in recorder.encode.tensors],
            "steps": recorder.steps,
            "result": plain,
            "expected": self.keep(expected),
            **more,
        }
        self.cases.append(case)
        return case

    def keep(self, tensors) -> list:
        out = []
        for x in tensors:
            if x is None:
                out.append(None)
                continue
            out.append(len(self.tensors))
            self.tensors.append(snapshot(x))
        return out

    def encoded(self, values: dict) -> dict:
        """Values as plain data, beside copies of their tensors as they are."""
        encode = TorchEncoder()
        if "class" in values:
            values = dict(values)
            made = encode.made(values.pop("class"), *values.pop("make"))
            plain = {"make": made}
        else:
            plain = {}
        for name, value in values.items():
            plain[name] = encode(value)
        plain["first"] = len(self.tensors)
        plain["count"] = len(encode.tensors)
        plain["needs"] = [x.requires_grad and x.is_leaf for x in encode.tensors]
        self.tensors += [snapshot(x) for x in encode.tensors]
        return plain

    def try_out(self, kind: str, values: dict, trial) -> bool:
        """One trial as a case, with what PyTorch makes of it; False, and no
        case, if it refuses. Raises NotPlainError.
        """
        case = {"kind": kind, **self.encoded(values)}
        try:
            found = trial(torch, case, decoder(torch, case, self.tensors))
        except Exception:
            return False
        want = self.encoded({"found": found})
        case["want"] = {"kind": "want", **want}
        case["slack"] = self.slack(case, found, trial)
        self.cases.append(case)
        return True

    def slack(self, case, found, trial) -> float:
        """How far from the same in 64 bits any of the numbers is."""
        if case.get("dtype") == {"dtype": "float64"} or not WIDE.get(
            getattr(torch, case.get("dtype", {}).get("dtype", "bool"))
        ):
            return 0.0
        wide = {**case, "dtype": {"dtype": "float64"}}
        try:
            decode = decoder(torch, wide, [widened(x) for x in self.tensors])
            exact = trial(torch, wide, decode)
        except Exception:
            return 0.0
        gap = 0.0
        for a, b in zip(all_tensors(torch, found), all_tensors(torch, exact)):
            if a.shape == b.shape and a.numel() and b.dtype == torch.float64:
                gaps = (a.double() - b).abs()
                gaps = gaps[gaps.isfinite()]
                gap = max(gap, float(gaps.max()) if gaps.numel() else 0.0)
        return gap

    def try_error(self, values: dict, trial, error) -> None:
        """A trial that raises what the database says. Raises NotPlainError."""
        warns = issubclass(error.error_type, Warning)
        case = {"kind": "error", "warns": warns, **self.encoded(values)}
        try:
            with warnings.catch_warnings():
                if warns:
                    warnings.simplefilter("error", error.error_type)
                trial(torch, case, decoder(torch, case, self.tensors))
        except error.error_type as raised:
            case["error"] = [
                [t.__name__ for t in type(raised).__mro__],
                str(raised),
                error.error_regex,
            ]
            self.cases.append(case)
        except Exception:
            return

    def write(self, path) -> None:
        text = json.dumps({"cases": self.cases, "skipped": self.skipped})
        torch.save({"plain": text, "tensors": self.tensors}, path + ".part")
        os.replace(path + ".part", path)


WIDE = {
    torch.float32: torch.float64,
    torch.float16: torch.float64,
    torch.bfloat16: torch.float64,
    torch.complex64: torch.complex128,
}


def widened(value):
    if isinstance(value, torch.Tensor):
        return snapshot(value).to(WIDE.get(value.dtype, value.dtype))
    if isinstance(value, torch.dtype):
        return WIDE.get(value, value)
    if type(value) in (tuple, list):
        return type(value)(widened(v) for v in value)
    if type(value) is dict:
        return {k: widened(v) for k, v in value.items()}
    return value


def main(description: str, entries: dict, dtypes_of, write) -> None:
    """The command line of an oracle: `write(entry, dtype, path)` for each of
    the entries, by name, and each of its dtypes that has no file yet.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("folder")
    parser.add_argument("--dtype", action="append", required=True)
    parser.add_argument("--op", action="append")
    parser.add_argument("--part", default="0/1", help="k/n: every n-th entry")
    options = parser.parse_args()
    part, parts = map(int, options.part.split("/"))
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    os.makedirs(options.folder, exist_ok=True)
    for name in sorted(entries)[part::parts]:
        short = name.rsplit(".", 1)[0]
        if options.op and not {name, short} & set(options.op):
            continue
        for text in options.dtype:
            dtype = getattr(torch, text)
            path = os.path.join(options.folder, f"{name}.{text}.pt")
            if dtype not in dtypes_of(entries[name]) or os.path.exists(path):
                continue
            try:
                write(entries[name], dtype, path)
            except Exception as error:
                print(f"{name} {text}: {error!r}"[:200], file=sys.stderr)
