"""hotaru's side of the files that it and PyTorch exchange.

Reads PyTorch's and compares: lines of JSON [entry, dtype, form, "ok" or the
first thing that is wrong]. Writes its own beside them for
`interchange_judge.py`, or the reason why it does not.
"""

from __future__ import annotations

import sys
from pathlib import Path

from hotaru import _alias

_alias.install()

import torch  # noqa: E402
from interchange_trials import compared, made, own_file  # noqa: E402
from judge import LeftOutError, compare_values, describe, main  # noqa: E402
from plain import decoder  # noqa: E402


def written(case, decode, path: Path) -> None:
    """Writes a module of its own, or again what PyTorch wrote."""
    if case["kind"].startswith("write_"):
        made(torch, case, decode, str(path))
    else:
        program = torch.jit.load(str(Path(sys.argv[1], case["file"])))
        torch.jit.save(program, str(path))


def try_to_write(case, decode, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    reason = path.with_suffix(".txt")
    for old in (path, reason):
        old.unlink(missing_ok=True)
    try:
        written(case, decode, path)
    except Exception as error:
        path.unlink(missing_ok=True)
        reason.write_text(f"not written: {describe(error)}", encoding="utf-8")


def check(case, tensors) -> None:
    decode = decoder(torch, case, tensors)
    folder = sys.argv[1]
    if not case["kind"].startswith("read_"):
        try_to_write(case, decode, own_file(folder, case))
        raise LeftOutError
    compared(torch, case, tensors, Path(folder, case["file"]), compare_values)


if __name__ == "__main__":
    main(__doc__, check)
