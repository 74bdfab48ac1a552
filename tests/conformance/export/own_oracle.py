"""PyTorch's side of hotaru's exported programs: loads them and compares.

    own_oracle.py FOLDER [--only PART]

Results of two calls, what they did to arguments and buffers, gradients of the
parameters and inputs: within 1e-5 of the largest element.
"""

from __future__ import annotations

import argparse
import copy
import sys
import traceback
import warnings
from pathlib import Path

import torch
from export_steps import call, flat, plain, train

warnings.filterwarnings("ignore")


def difference(a, b) -> float:
    """Relative to the largest element; infinite for other structures."""
    a, b = flat(a), flat(b)
    if len(a) != len(b):
        return float("inf")
    return max(map(one, a, b), default=0.0)


def one(a, b) -> float:
    if not isinstance(a, torch.Tensor):
        return 0.0 if a == b or (a != a and b != b) else float("inf")
    if a.shape != b.shape or a.dtype != b.dtype:
        return float("inf")
    if a.dtype == torch.bool:
        return 0.0 if torch.equal(a, b) else float("inf")
    a, b = a.double(), b.double()
    scale = max(1.0, float(a.abs().max())) if a.numel() else 1.0
    gap = (a - b).nan_to_num(0.0, 0.0, 0.0).abs()
    return float(gap.max()) / scale if a.numel() else 0.0


def tied(program, gradients: dict, name: str):
    """PyTorch gives one of several names of a parameter all the gradient."""
    memory = program.state_dict[name].data_ptr()
    for other, gradient in gradients.items():
        same = program.state_dict[other].data_ptr() == memory
        if same and gradient is not None:
            return gradient
    return None


def compare(path: Path) -> tuple[float, str]:
    """The largest difference, and where it is."""
    known = torch.load(path.with_suffix(".own"))
    program = torch.export.load(path)
    str(program)
    worst, place = 0.0, ""

    def note(gap: float, where: str) -> None:
        nonlocal worst, place
        if gap > worst:
            worst, place = gap, where

    expected = known["expected"]
    for number, given in enumerate(known["calls"]):
        args = copy.deepcopy(given["args"])
        module = copy.deepcopy(program).module()
        result = call(torch, module, args, given["kwargs"])
        if known["random"]:
            continue
        one = expected["calls"][number]
        note(difference(plain(result), one["result"]), f"call {number}")
        note(difference(args, one["after"]), f"arguments {number}")
        state = {k: module.state_dict()[k] for k in one["state"]}
        note(difference(state, one["state"]), f"state {number}")
    if known["trains"]:
        given = copy.deepcopy(known["calls"][-1])
        trained = train(torch, program.module(), given["args"], given["kwargs"])
        if not known["random"]:
            for name, gradient in expected["gradients"].items():
                found = trained["gradients"].get(name)
                if found is None and gradient is not None:
                    found = tied(program, trained["gradients"], name)
                if gradient is not None or found is not None:
                    note(difference(found, gradient), f"gradient of {name}")
            inputs = [t for t in trained["inputs"] if t is not None]
            note(difference(inputs, expected["inputs"]), "inputs' gradients")
            note(difference(trained["loss"], expected["loss"]), "loss")
    return worst, place


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    right, failed = 0, 0
    for path in sorted(options.folder.glob("*.own")):
        # PyTorch writes strings among the results, and cannot read them.
        if options.only not in path.name or path.stem == "plain":
            continue
        path = path.with_suffix(".pt2")
        room = 2e-2 if "bf16" in path.name or "cast" in path.name else 1e-5
        try:
            worst, place = compare(path)
        except Exception as error:
            failed += 1
            print("failed", path.stem, flush=True)
            traceback.print_exception(error, limit=-4)
            continue
        if worst > room:
            failed += 1
            print(f"differs {path.stem}: {worst:.2e} in {place}", flush=True)
        else:
            right += 1
            print(f"right {path.stem} ({worst:.1e})", flush=True)
    print(f"{right} right, {failed} not")
    return failed


if __name__ == "__main__":
    sys.exit(main())
