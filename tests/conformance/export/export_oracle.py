"""PyTorch's side of exported programs: files, and what they compute.

    export_oracle.py FOLDER [--only PART]

writes NAME.pt2 and NAME.expected.pt, for programs in training IR and, as
NAME.core.pt2, decomposed ones: the results of two calls, gradients, and the
state after 20 steps of SGD.
"""

from __future__ import annotations

import argparse
import copy
import sys
import traceback
import warnings
from pathlib import Path

import torch
from export_steps import call, plain, train
from export_table import entries

warnings.filterwarnings("ignore")


def export(entry, model, args, kwargs):
    return torch.export.export(
        model, args, kwargs, dynamic_shapes=entry.shapes, strict=entry.strict
    )


def inputs(entry, n):
    torch.manual_seed(n)
    args = entry.inputs(n)
    if isinstance(args[-1], dict) and len(args) > 1:
        return args[:-1], args[-1]
    return args, {}


def write(entry, folder: Path) -> None:
    torch.manual_seed(0)
    model = entry.make().train(entry.training)
    calls = [inputs(entry, n) for n in entry.batches]
    program = export(entry, model, *copy.deepcopy(calls[0]))
    programs = {"": program}
    if entry.decomposed:
        programs[".core"] = copy.deepcopy(program).run_decompositions()
    trained = expected_training(entry, program, calls)
    for suffix, one in programs.items():
        path = folder / f"{entry.name}{suffix}.pt2"
        torch.export.save(one, path)
        expected = expectation(entry, one, calls)
        if entry.trains and (not suffix or entry.trains_decomposed):
            expected["trained"] = trained
        torch.save(expected, path.with_suffix(".expected"))


def expected_training(entry, program, calls):
    """Returns the results of the program in training IR: PyTorch can't train
    some of the decomposed ones, whose buffers change behind the back of
    autograd.
    """
    if not entry.trains:
        return None
    torch.manual_seed(2)
    args, kwargs = copy.deepcopy(calls[-1])
    trained = train(torch, copy.deepcopy(program.module()), args, kwargs)
    # A copied module says of all buffers and constants that they are saved.
    state = trained["state"]
    saved = [name for name in program.state_dict if name in state]
    trained["state"] = {name: state[name] for name in saved}
    return trained


def expectation(entry, program, calls) -> dict:
    """Records what this program computes here."""
    module = program.module()
    out = {"calls": [], "name": entry.name, "training": entry.training}
    for args, kwargs in calls:
        torch.manual_seed(1)
        given = copy.deepcopy((args, kwargs))
        result = call(torch, copy.deepcopy(module), *given)
        out["calls"].append(
            {
                "args": plain(args),
                "kwargs": plain(kwargs),
                "result": plain(result),
                "args_after": plain(given[0]),
            }
        )
    return out


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    failed = 0
    for entry in entries():
        if options.only not in entry.name:
            continue
        try:
            write(entry, options.folder)
            print("wrote", entry.name, flush=True)
        except Exception:
            failed += 1
            print("failed", entry.name, flush=True)
            traceback.print_exc()
    return failed


if __name__ == "__main__":
    sys.exit(main())
