"""hotaru's side of its own exported programs: files, and what they compute.

    own_subject.py FOLDER [--only PART]

exports what `export_oracle.py` exports, with the names of its table. NAME.pt2
is the program, NAME.own what hotaru computes: results of two calls, gradients,
and the same of the program loaded again.
"""

from __future__ import annotations

import argparse
import copy
import sys
import traceback
import warnings
from pathlib import Path

from hotaru import _alias

_alias.install()
sys.path.insert(0, str(Path(__file__).resolve().parent))

import torch  # noqa: E402
from export_steps import call, plain, train  # noqa: E402
from export_table import entries  # noqa: E402
from own_table import more  # noqa: E402

warnings.filterwarnings("ignore")


def inputs(entry, n):
    torch.manual_seed(n)
    args = entry.inputs(n)
    if isinstance(args[-1], dict) and len(args) > 1:
        return args[:-1], args[-1]
    return args, {}


def close(a, b) -> bool:
    """True if two results are the same but for rounding."""
    if isinstance(a, dict):
        return set(a) == set(b) and all(close(a[k], b[k]) for k in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(close, a, b))
    if not isinstance(a, torch.Tensor):
        return a == b
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if a.dtype == torch.bool:
        return bool((a == b).all())
    scale = max(1.0, float(a.abs().max())) if a.numel() else 1.0
    room = 1e-2 if a.dtype == torch.bfloat16 else 1e-5
    return torch.allclose(a, b, rtol=0, atol=room * scale, equal_nan=True)


def run(entry, make, calls) -> dict:
    """Results, what calls did to arguments and state, and gradients."""
    found = {"calls": []}
    for args, kwargs in calls:
        torch.manual_seed(1)
        given = copy.deepcopy((args, kwargs))
        module = make()
        result = call(torch, module, *given)
        state = {k: v.clone() for k, v in module.state_dict().items()}
        found["calls"].append(
            {"result": plain(result), "after": plain(given[0]), "state": state}
        )
    if entry.trains:
        torch.manual_seed(2)
        args, kwargs = copy.deepcopy(calls[-1])
        trained = train(torch, make(), args, kwargs)
        found["gradients"] = trained["gradients"]
        found["inputs"] = [t for t in trained["inputs"] if t is not None]
        found["loss"] = trained["loss"]
    return found


def write(entry, folder: Path) -> bool:
    """Writes the files; True if all gave the same."""
    torch.manual_seed(0)
    model = entry.make().train(entry.training)
    calls = [inputs(entry, n) for n in entry.batches]
    before = copy.deepcopy(model.state_dict())
    program = torch.export.export(
        model, *copy.deepcopy(calls[0]), dynamic_shapes=entry.shapes
    )
    assert close(dict(before), dict(model.state_dict())), "the module changed"
    str(program)
    path = folder / f"{entry.name}.pt2"
    torch.export.save(program, path)
    eager = run(entry, lambda: copy.deepcopy(model), calls)
    own = run(entry, lambda: copy.deepcopy(program).module(), calls)
    loaded = run(entry, lambda: torch.export.load(path).module(), calls)
    random = entry.training and "dropout" in entry.name
    same = True
    for name, other in (("module()", own), ("load", loaded)):
        for part in ("calls", "gradients", "inputs", "loss"):
            if part == "calls":
                a = [c["result"] for c in eager[part]]
                b = [c["result"] for c in other[part]]
            else:
                a, b = eager.get(part), other.get(part)
            if not random and not close(a, b):
                same = False
                print(f"differs {entry.name}: {name}, {part}", flush=True)
    torch.save(
        {
            "calls": [{"args": plain(a), "kwargs": plain(k)} for a, k in calls],
            "expected": eager,
            "trains": entry.trains,
            "random": random,
        },
        path.with_suffix(".own"),
    )
    return same


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    failed = 0
    for entry in [*entries(), *more()]:
        if options.only not in entry.name:
            continue
        try:
            failed += not write(entry, options.folder)
            print("wrote", entry.name, flush=True)
        except (NotImplementedError, torch.export.DataDependentError) as error:
            print("refused", entry.name, str(error)[:200], flush=True)
        except Exception as error:
            failed += 1
            print("failed", entry.name, flush=True)
            traceback.print_exception(error, limit=-6)
    return failed


if __name__ == "__main__":
    sys.exit(main())
