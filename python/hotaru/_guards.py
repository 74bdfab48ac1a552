"""Which fake mode a program is in."""

from __future__ import annotations

from .utils import _pytree
from .utils._python_dispatch import _get_current_dispatch_mode_stack

__all__ = ["active_fake_mode", "detect_fake_mode"]


def active_fake_mode():
    """The innermost FakeTensorMode that is entered, or None."""
    from ._subclasses.fake_tensor import FakeTensorMode

    for mode in reversed(_get_current_dispatch_mode_stack()):
        if isinstance(mode, FakeTensorMode):
            return mode
    return None


def detect_fake_mode(inputs=None):
    """The FakeTensorMode that is entered, or that of the tensors in `inputs`;
    None where there is none.

    AssertionError where there are several.
    """
    from ._subclasses.fake_tensor import FakeTensor, FakeTensorMode

    found = [
        (mode, "active fake mode")
        for mode in reversed(_get_current_dispatch_mode_stack())
        if isinstance(mode, FakeTensorMode)
    ]
    found += [
        (leaf.fake_mode, "fake tensor input")
        for leaf in _pytree.tree_leaves(inputs)
        if isinstance(leaf, FakeTensor)
    ]
    if not found:
        return None
    mode, source = found[0]
    for place, (other, description) in enumerate(found):
        if other is not mode:
            raise AssertionError(
                f"fake mode ({mode}) from {source} 0 doesn't match mode "
                f"({other}) from {description} {place}"
            )
    return mode
