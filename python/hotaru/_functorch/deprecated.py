"""Transforms of functions by functorch's names: those of `func`, and a warning.

`functionalize` is not among them.
"""

from __future__ import annotations

import functools
import warnings

from .. import func as _func
from . import make_functional as _modules

__all__ = [
    "combine_state_for_ensemble",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "make_functional",
    "make_functional_with_buffers",
    "vjp",
    "vmap",
]


def _deprecated(name: str, new: str = ""):
    function = getattr(_modules if new else _func, name)
    new = new or (f"torch.{name}" if name == "vmap" else f"torch.func.{name}")
    text = (
        "We've integrated functorch into PyTorch. As the final step of the "
        f"integration, `functorch.{name}` is deprecated as of PyTorch 2.0 and "
        "will be deleted in a future version of PyTorch >= 2.3. Please use "
        f"`{new}` instead; see the PyTorch 2.0 release notes and/or "
        "the `torch.func` migration guide for more details "
        "https://pytorch.org/docs/main/func.migrating.html"
    )

    @functools.wraps(function)
    def call(*args, **kwargs):
        warnings.warn(text, FutureWarning, stacklevel=2)
        return function(*args, **kwargs)

    call.__module__ = __name__
    return call


combine_state_for_ensemble = _deprecated(
    "combine_state_for_ensemble", "torch.func.stack_module_state"
)
make_functional = _deprecated("make_functional", "torch.func.functional_call")
make_functional_with_buffers = _deprecated(
    "make_functional_with_buffers", "torch.func.functional_call"
)
grad = _deprecated("grad")
grad_and_value = _deprecated("grad_and_value")
hessian = _deprecated("hessian")
jacfwd = _deprecated("jacfwd")
jacrev = _deprecated("jacrev")
jvp = _deprecated("jvp")
vjp = _deprecated("vjp")
vmap = _deprecated("vmap")
