"""Runs operators on shapes alone."""

from __future__ import annotations

from .. import _C, empty_strided, ones_like
from .._C import Tensor
from .._dispatch.stack import native
from .._operators import dispatch as defined
from .._operators.tags import Tag
from .._ops import DefinedOverload
from ..utils import _pytree
from ..utils._python_dispatch import _disable_current_modes
from .fake_errors import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    UnsupportedOperatorException,
)

# Whole in hotaru; of parts in PyTorch, of which one depends on values.
_DYNAMIC = frozenset(
    [
        "argwhere",
        "repeat_interleave.self_Tensor",
        "tensor_split.tensor_indices_or_sections",
    ]
)
_NUMBERS = frozenset(["equal", "allclose", "is_nonzero"])


def refuse_values(func, args: tuple, kwargs: dict) -> None:
    """Raises where the result, or its shape, depends on values."""
    name = func.name().partition("::")[2]
    tags = func.tags
    if Tag.data_dependent_output in tags or name in _NUMBERS:
        raise DataDependentOutputException(func)
    if kwargs.get("output_size") is not None:
        return
    dynamic = Tag.dynamic_output_shape in tags or name in _DYNAMIC
    if name.partition(".")[0] == "index":
        dynamic = _masked(args)
    if dynamic:
        raise DynamicOutputShapeException(func)


def _masked(args: tuple) -> bool:
    return any(
        isinstance(x, Tensor) and x.dtype in (_C.bool, _C.uint8)
        for x in _pytree.tree_leaves(args[1:])
    )


def run(mode, func, args: tuple, kwargs: dict):
    """Returns what an overload gives on the meta device.

    The arguments are fake tensors, their device the meta device. Raises
    UnsupportedOperatorException where there is no kernel for that, nor one of
    the CPU to find out with.
    """
    if isinstance(func, DefinedOverload):
        return _run_defined(mode, func, args, kwargs)
    refuse_values(func, args, kwargs)
    try:
        return native(func, args, kwargs)
    except NotImplementedError:
        if not mode.allow_fallback_kernels:
            raise UnsupportedOperatorException(func) from None
    except RuntimeError as error:
        if "cannot be called on meta tensors" not in str(error):
            raise
        if not mode.allow_fallback_kernels:
            raise DataDependentOutputException(func) from None
    return _fallback(func, args, kwargs)


def _run_defined(mode, func, args, kwargs):
    operator = func._operator
    function = operator.kernel("Meta")
    if function is None:
        raise UnsupportedOperatorException(func)
    with mode:
        return defined.on_device(operator, "meta", args, kwargs)


def _fallback(func, args, kwargs):
    """Runs the kernel of the CPU with ones, for the shapes it gives."""
    twins: list[tuple] = []

    def real(x):
        if not isinstance(x, Tensor):
            return _C.device("cpu") if isinstance(x, _C.device) else x
        made = empty_strided(x.size(), x.stride(), dtype=x.dtype)
        made = ones_like(made)
        twins.append((made, x))
        return made

    with _disable_current_modes():
        args, kwargs = _pytree.tree_map(real, (args, kwargs))
        try:
            result = native(func, args, kwargs)
        except NotImplementedError:
            raise UnsupportedOperatorException(func) from None

        def fake(x):
            if not isinstance(x, Tensor):
                return x
            for made, given in twins:
                if made is x:
                    return given
            return empty_strided(x.size(), x.stride(), dtype=x.dtype, device="meta")

        return _pytree.tree_map(fake, result)
