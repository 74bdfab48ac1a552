"""Copies of what would be views: `view_as_real_copy` and others."""

from __future__ import annotations

from .._C import Tensor, ops
from .._overrides import overridable as _overridable

__all__ = ["detach_copy", "view_as_complex_copy", "view_as_real_copy"]


def copy_of(view, name: str):
    """A function of that name, which copies what `view` gives."""

    def copy(input: Tensor, *, out: Tensor | None = None) -> Tensor:
        made = view(input)
        if out is None:
            return made.clone()
        if out.dtype != made.dtype:
            raise RuntimeError(
                f"Expected out tensor to have dtype {made.dtype}, but got "
                f"{out.dtype} instead"
            )
        if out.shape != made.shape:
            out.resize_(made.shape)
        return out.copy_(made)

    copy.__name__ = copy.__qualname__ = name
    copy.__doc__ = f"A copy of `{name.removesuffix('_copy')}` of a tensor."
    return copy


view_as_real_copy = copy_of(ops.view_as_real, "view_as_real_copy")
view_as_complex_copy = copy_of(ops.view_as_complex, "view_as_complex_copy")
detach_copy = copy_of(ops.detach, "detach_copy")

_overridable(globals(), __all__, "hotaru")
