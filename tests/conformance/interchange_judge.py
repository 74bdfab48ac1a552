"""PyTorch's side of the files that hotaru wrote: reads them and compares.

Lines of JSON: [entry, dtype, form, "ok" or the first thing that is wrong].
"""

from __future__ import annotations

import logging
import sys

import torch
from interchange_trials import compared, own_file
from judge import LeftOutError, WrongError, compare_values, main


def check(case, tensors) -> None:
    if case["kind"].startswith("read_"):
        raise LeftOutError
    path = own_file(sys.argv[1], case)
    reason = path.with_suffix(".txt")
    if not path.exists():
        if reason.exists() and case["refused"]:
            raise LeftOutError  # by both
        raise WrongError(
            reason.read_text(encoding="utf-8") if reason.exists() else "crash"
        )
    try:
        compared(torch, case, tensors, path, compare_values)
    except WrongError:
        raise
    except Exception:
        if case["refused"]:  # there is no way to write it for PyTorch
            raise LeftOutError from None
        raise


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    main(__doc__, check)
