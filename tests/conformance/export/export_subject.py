"""hotaru's side of exported programs: what PyTorch's side wrote, compared.

    export_subject.py FOLDER [--only PART]

prints a line for each program, and exits with 1 if one differs.
"""

from __future__ import annotations

import argparse
import copy
import sys
import traceback
from pathlib import Path

from export_steps import call, flat, plain, train

import hotaru as torch

# Share of the largest element: both sides use float32, in another order.
TOLERANCE = 1e-5
# Sums of bfloat16 are rounded to 8 bits wherever they are kept.
COARSE = 2e-2


class DifferenceError(Exception):
    """Difference of the two sides."""


def compare(where: str, ours, theirs, coarse: bool) -> None:
    if not isinstance(theirs, torch.Tensor):
        if type(ours) is not type(theirs) or ours != theirs:
            raise DifferenceError(f"{where}: {ours!r} instead of {theirs!r}")
        return
    if not isinstance(ours, torch.Tensor):
        raise DifferenceError(f"{where}: {ours!r} instead of a tensor")
    if ours.dtype != theirs.dtype or ours.shape != theirs.shape:
        raise DifferenceError(
            f"{where}: {ours.dtype} {tuple(ours.shape)} instead of "
            f"{theirs.dtype} {tuple(theirs.shape)}"
        )
    if theirs.numel() == 0:
        return
    if not theirs.is_floating_point():
        if not torch.equal(ours, theirs):
            raise DifferenceError(f"{where}: other elements")
        return
    rough = coarse or theirs.dtype == torch.bfloat16
    limit = COARSE if rough else TOLERANCE
    a, b = ours.detach().double(), theirs.double()
    if not torch.equal(a.isfinite(), b.isfinite()):
        raise DifferenceError(f"{where}: infinities or NaN elsewhere")
    a, b = a.nan_to_num(0, 0, 0), b.nan_to_num(0, 0, 0)
    worst = (a - b).abs().max().item()
    if worst > limit * max(1.0, b.abs().max().item()):
        raise DifferenceError(f"{where}: differs by {worst:.2e}")


def compare_all(where: str, ours, theirs, coarse=False) -> None:
    if isinstance(theirs, dict):
        if not isinstance(ours, dict) or set(ours) != set(theirs):
            raise DifferenceError(f"{where}: other keys than {list(theirs)}")
        for key, value in theirs.items():
            compare_all(f"{where}[{key!r}]", ours[key], value, coarse)
    elif isinstance(theirs, (tuple, list)):
        if type(ours) is not type(theirs) or len(ours) != len(theirs):
            raise DifferenceError(f"{where}: {type(ours)} of another length")
        for i, (a, b) in enumerate(zip(ours, theirs, strict=True)):
            compare_all(f"{where}[{i}]", a, b, coarse)
    else:
        compare(where, ours, theirs, coarse)


def run(path: Path) -> None:
    expected = torch.load(path.with_suffix(".expected"))
    for k, one in enumerate(expected["calls"]):
        module = torch.export.load(path).module()
        torch.manual_seed(1)
        args = copy.deepcopy(one["args"])
        result = call(torch, module, args, one["kwargs"])
        compare_all(f"call {k}", plain(result), one["result"])
        compare_all(f"call {k} args", args, one["args_after"])
    trained = expected.get("trained")
    if not trained:
        return
    one = expected["calls"][-1]
    module = torch.export.load(path).module()
    torch.manual_seed(2)
    ours = train(
        torch, module, copy.deepcopy(one["args"]), copy.deepcopy(one["kwargs"])
    )
    coarse = any(t.dtype == torch.bfloat16 for t in flat(trained["state"]))
    for key in ("loss", "inputs", "gradients", "losses", "state"):
        compare_all(key, ours[key], trained[key], coarse)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    failed = 0
    found = sorted(options.folder.glob("*.pt2"))
    paths = [path for path in found if options.only in path.name]
    for path in paths:
        try:
            run(path)
            print("ok", path.name, flush=True)
        except DifferenceError as e:
            failed += 1
            print("differs", path.name, e, flush=True)
        except Exception as e:
            failed += 1
            text = str(e).strip().splitlines()
            last = traceback.extract_tb(e.__traceback__)[-1]
            print(
                "failed",
                path.name,
                type(e).__name__,
                " | ".join(text[:6])[:600],
                f"({last.name})",
                flush=True,
            )
    print(f"{len(paths) - failed} of {len(paths)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
