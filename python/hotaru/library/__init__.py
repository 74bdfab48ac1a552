"""Operators that programs define, and kernels for them.

`custom_op` makes an operator of one function; `Library` and the functions here
do the same step by step. Operators so defined are in `torch.ops`, like hotaru's
own, whose kernels cannot be replaced. All functions may be called from any
thread.
"""

from __future__ import annotations

from .._library import definitions, fake_impl
from .._library.custom_ops import CustomOpDef, custom_op
from .._library.definitions import Library
from .._library.infer_schema import infer_schema
from .._library.opcheck import OpCheckError, opcheck
from .._operators.keys import fallthrough_kernel
from ._definitions import define, impl
from ._registrations import (
    impl_abstract,
    register_autocast,
    register_autograd,
    register_fake,
    register_kernel,
    register_torch_dispatch,
    register_vmap,
)

__all__ = [
    "CustomOpDef",
    "Library",
    "OpCheckError",
    "custom_op",
    "define",
    "fallthrough_kernel",
    "get_ctx",
    "impl",
    "impl_abstract",
    "infer_schema",
    "opcheck",
    "register_autocast",
    "register_autograd",
    "register_fake",
    "register_kernel",
    "register_torch_dispatch",
    "register_vmap",
    "triton_op",
    "wrap_triton",
]
_scoped_library = definitions.scoped_library


def get_ctx():
    """Gives a fake kernel sizes that depend on values; such sizes are refused,
    as shapes on the meta device are numbers.

    RuntimeError outside of a fake kernel.
    """
    found = fake_impl.get_ctx()
    if found is None:
        raise RuntimeError(
            "torch.library.get_ctx() can only be called inside of a fake kernel"
        )
    return found


def triton_op(name, fn=None, /, *, mutates_args, schema=None):
    """RuntimeError: hotaru launches no kernels written in Triton."""
    raise RuntimeError(
        "hotaru launches no kernels written in Triton: register a kernel for "
        "the device with torch.library.custom_op"
    )


def wrap_triton(triton_kernel, /):
    """RuntimeError: hotaru launches no kernels written in Triton."""
    return triton_op("", triton_kernel, mutates_args=())


# Their names are this module's.
for _function in (
    define,
    impl,
    impl_abstract,
    register_autocast,
    register_autograd,
    register_fake,
    register_kernel,
    register_torch_dispatch,
    register_vmap,
):
    _function.__module__ = __name__
