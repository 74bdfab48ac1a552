"""Properties a tensor on the meta device shares with the one it stands for."""

from __future__ import annotations

from collections.abc import Callable

from .. import Tensor

# Properties of every tensor, in this order; methods are called.
_OF_ALL = (
    "dtype",
    "shape",
    "requires_grad",
    "is_leaf",
    "is_sparse",
    "is_inference",
    "is_conj",
    "is_neg",
)
_SYMBOLIC = ("stride", "storage_offset")


def assert_metadata_eq(
    assert_eq: Callable[[object, object], None],
    m1: Tensor,
    m2: Tensor,
    *,
    skip_symbolic: bool = False,
    skip_leaf: bool = False,
) -> None:
    """Compares all of two tensors but values, devices and identity.

    That is dtype, geometry, what autograd knows of them, whether they are
    views, and the same of their gradients and of what they are views of.

    Args:
        assert_eq: raises unless its two arguments are equal.
        m1, m2: the tensors.
        skip_symbolic: leave shapes, strides and offsets out.
        skip_leaf: leave out whether they are leaves.
    """
    skipped = {"shape", *_SYMBOLIC} if skip_symbolic else set()
    if skip_leaf:
        skipped.add("is_leaf")

    def compare(first: Tensor, second: Tensor) -> None:
        for name in (*_OF_ALL, *_SYMBOLIC, "_is_view"):
            if name not in skipped:
                assert_eq(_value(first, name), _value(second, name))
        for name in ("grad", "_base"):
            one, other = _stored(first, name), _stored(second, name)
            assert_eq(one is None, other is None)
            if one is not None and other is not None:
                compare(one, other)

    compare(m1, m2)


def _value(tensor: Tensor, name: str):
    value = getattr(tensor, name)
    return value() if callable(value) else value


def _stored(tensor: Tensor, name: str):
    """A gradient of its own; to ask others for one is a warning."""
    if name == "grad" and not (tensor.is_leaf or tensor.retains_grad):
        return None
    return getattr(tensor, name)
