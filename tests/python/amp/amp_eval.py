"""How a case of mixed precision, one Python expression, is evaluated."""

from __future__ import annotations

import math

from outcomes import tensor

# Dtype of the tensors, and of autocast.
MODES = (
    ("float32", "bfloat16"),
    ("bfloat16", "bfloat16"),
    ("float32", "float16"),
    ("float16", "float16"),
)


def names(lib, dtype) -> dict:
    """Names that an expression may use: T, F, x(2, 3) of the dtype, f(2, 3) in
    float32, p(2, 3) positive ones, l(2, 3) integers, t, and nn.
    """

    def f(*shape, start=0):
        return tensor(lib, *shape, start=start, dtype=lib.float32)

    def x(*shape, start=0):
        return f(*shape, start=start).to(dtype)

    def p(*shape, start=0):
        return (f(*shape, start=start).abs() * 0.9 + 0.05).to(dtype)

    def numbers(*shape):
        return lib.arange(math.prod(shape)).reshape(shape)

    def bag(of):
        lib.manual_seed(0)
        return of

    return {
        "T": lib,
        "F": lib.nn.functional,
        "nn": lib.nn,
        "f": f,
        "x": x,
        "p": p,
        "l": numbers,
        "t": lib.tensor,
        "bag": bag,
    }


def outcome_of(lib, text: str, dtype: str, low: str, device: str = "cpu"):
    """Dtypes and values of an expression's results, or its error."""
    scope = names(lib, getattr(lib, dtype))
    try:
        with lib.autocast(device, dtype=getattr(lib, low)):
            found = eval(text, scope)
    except RuntimeError as error:
        return f"{type(error).__name__}: {error}"
    found = found if isinstance(found, (tuple, list)) else [found]
    return [
        [str(r.dtype).split(".")[-1], r.detach().float()]
        for r in found
        if isinstance(r, lib.Tensor)
    ]


def table(text: str, modes=MODES):
    """A case: the expression in every mode."""

    def run(lib):
        return [outcome_of(lib, text, *mode) for mode in modes]

    return run
