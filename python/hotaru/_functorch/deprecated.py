"""Transforms of functions by functorch's names: those of `func`, and a warning.

`functionalize` and `make_functional` are not among them; `func.functional_call`
takes a module's place.
"""

from __future__ import annotations

import functools
import warnings

from .. import func as _func

__all__ = [
    "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "vjp",
    "vmap",
]  # fmt: skip


def _deprecated(name: str):
    function = getattr(_func, name)
    place = "torch" if name == "vmap" else "torch.func"
    text = (
        "We've integrated functorch into PyTorch. As the final step of the "
        f"integration, `functorch.{name}` is deprecated as of PyTorch 2.0 and "
        "will be deleted in a future version of PyTorch >= 2.3. Please use "
        f"`{place}.{name}` instead; see the PyTorch 2.0 release notes and/or "
        "the `torch.func` migration guide for more details "
        "https://pytorch.org/docs/main/func.migrating.html"
    )

    @functools.wraps(function)
    def call(*args, **kwargs):
        warnings.warn(text, FutureWarning, stacklevel=2)
        return function(*args, **kwargs)

    call.__module__ = __name__
    return call


grad = _deprecated("grad")
grad_and_value = _deprecated("grad_and_value")
hessian = _deprecated("hessian")
jacfwd = _deprecated("jacfwd")
jacrev = _deprecated("jacrev")
jvp = _deprecated("jvp")
vjp = _deprecated("vjp")
vmap = _deprecated("vmap")
