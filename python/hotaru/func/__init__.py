"""Transforms of functions: derivatives, maps, modules as functions.

All take functions of tensors and give functions of tensors, and nest. `vmap`
is a loop over slices, and derivatives are backward passes, Jacobian-vector
products as well: values are PyTorch's. Of PyTorch's `torch.func` there is no
`functionalize`, which is about programs that a compiler reads.
"""

from __future__ import annotations

from ._forward import jacfwd, jvp, linearize
from ._modules import (
    functional_call,
    replace_all_batch_norm_modules_,
    stack_module_state,
)
from ._rearrange import rearrange
from ._reverse import grad, grad_and_value, hessian, jacrev, vjp
from ._vmap import vmap

__all__ = [
    "functional_call",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "rearrange",
    "replace_all_batch_norm_modules_",
    "stack_module_state",
    "vjp",
    "vmap",
]
