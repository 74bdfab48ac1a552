"""Facts about sizes: all are numbers."""

from __future__ import annotations

__all__ = [
    "GuardOnDataDependentSymNode",
    "ShapeEnv",
    "free_symbols",
    "free_unbacked_symbols",
    "guard_or_false",
    "guard_or_true",
    "statically_known_true",
]


class GuardOnDataDependentSymNode(RuntimeError):  # noqa: N818  (PyTorch's name)
    """A condition of a size that depends on values: nothing here raises it.

    Args:
        cond: the condition.
    """

    def __init__(self, cond, *args) -> None:
        super().__init__(*args)
        self.cond = cond


class ShapeEnv:
    """The sizes that a FakeTensorMode met: each is the number it is.

    PyTorch's makes symbols of sizes; hotaru has none. So an operator whose
    shape depends on values raises DynamicOutputShapeException under any
    environment, whatever `allow_dynamic_output_shape_ops` wishes for.

    Args:
        allow_scalar_outputs, allow_dynamic_output_shape_ops: kept as they
            are, for programs that ask.
    """

    def __init__(
        self,
        *,
        allow_scalar_outputs: bool = True,
        allow_dynamic_output_shape_ops: bool = True,
    ) -> None:
        self.allow_scalar_outputs = allow_scalar_outputs
        self.allow_dynamic_output_shape_ops = allow_dynamic_output_shape_ops


def statically_known_true(x: bool) -> bool:
    """True if a condition of sizes, which are numbers, holds."""
    return bool(x)


def guard_or_false(a) -> bool:
    """Tells whether a condition of sizes holds, which is always known."""
    return bool(a)


def guard_or_true(a) -> bool:
    """Tells whether a condition of sizes holds, which is always known."""
    return bool(a)


def free_symbols(val) -> set:
    """The symbols in a size, a tensor's sizes or containers of those: none."""
    return set()


def free_unbacked_symbols(x) -> set:
    """Symbols of values in them: none."""
    return set()
