"""hotaru's side of derivatives: runs the programs that PyTorch's side wrote in
every mode and says of each entry, mode and point whether it is right.
"""

from __future__ import annotations

import math

from derivative_trials import MODES, Program, differences, transposed
from judge import LeftOutError, WrongError, compare, compare_all, main

import hotaru as torch

_MODES = {mode.__name__: mode for mode in MODES}


# Factors of a matrix have no derivative where its values are equal or 0.
_FACTORS = (
    "cholesky_inverse",
    "linalg.cholesky",
    "linalg.cond",
    "linalg.eig",
    "linalg.householder",
    "linalg.lu",
    "linalg.pinv",
    "linalg.qr",
    "linalg.svd",
    "lu",
    "norm.nuc",
    "ormqr",
    "pinverse",
    "qr",
    "svd",
)
# At singular matrices these have no derivative: what either side gives is divided
# by the rounding of its own factors, which is 0 on one machine and not on another.
_REGULAR = {"linalg.slogdet", "logdet", "linalg.solve", "linalg.solve_ex"}
# Which of equal elements these take is not said.
_CHOOSING = ("kthvalue", "topk")


def undefined(entry: str, point: str) -> bool:
    """True if there is no derivative to compare with."""
    if entry in _REGULAR and point in ("zeros", "ties", "singular"):
        return True
    if point in ("as_it_is", "two_zeros"):
        return entry.startswith(_FACTORS) and point == "two_zeros"
    return entry.startswith((*_FACTORS, *_CHOOSING))


def check(case, tensors) -> None:
    """PyTorch's numbers, or what the modes say of each other and central
    differences say of them: where its formulas break, PyTorch's are none.
    """
    if undefined(case["entry"], case["point"]):
        raise LeftOutError
    program = Program(torch, case, tensors)
    mode = _MODES[case["kind"].split("/")[0]]
    xs = program.point()
    got = mode(torch, program, xs)
    got = [got] if isinstance(got, torch.Tensor) else list(got)
    want = [None if i is None else tensors[i] for i in case["want"]]
    if not want and not any(x is not None and bool(x.any()) for x in got):
        return  # PyTorch's graph ends, where ours says zeros
    if case["point"] != "as_it_is":
        symmetric = mode.__name__ == "hessian"
        want = [known(a, b, symmetric) for a, b in zip(got, want, strict=True)]
    try:
        compare_all(got, want)
    except WrongError:
        for other in (transposed, differences):
            if confirmed(other, mode, program, xs, got):
                return
        raise


def confirmed(other, mode, program, xs, got) -> bool:
    """True if another way, if it can be gone here, leads to the same."""
    try:
        numbers = other(torch, mode, program, xs, got)
    except (RuntimeError, ValueError):
        return False
    return numbers is not None and agrees(*numbers)


def known(got, want, symmetric: bool):
    """PyTorch's numbers; what we have, where they are none. Of a Hessian one of
    two equal numbers may be one.
    """
    if want is None or got is None or got.shape != want.shape:
        return want
    if not (want.is_floating_point() or want.is_complex()):
        return want
    none = want.isnan()
    if symmetric:
        square = none.reshape(math.isqrt(none.numel()), -1)
        none = (square | square.T).reshape(none.shape)
    return torch.where(none, got.detach().to(want.dtype), want)


def agrees(got, numbers) -> bool:
    """True if derivatives are what central differences are, to their error."""
    if len(numbers) != len(got):
        return False
    try:
        for a, b in zip(got, numbers):
            if a is None:
                a = torch.zeros_like(b)
            largest = float(b.abs().max()) if b.numel() else 0.0
            if not largest < float("inf"):
                return False
            compare(a, b, scale=100, slack=1e-5 * max(largest, 1))
    except WrongError:
        return False
    return True


if __name__ == "__main__":
    main(__doc__, check)
