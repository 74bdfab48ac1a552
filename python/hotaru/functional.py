"""Functions on tensors that are Python around one or more operators."""

from __future__ import annotations

from collections.abc import Sequence

from ._C import Tensor, int64, ops
from ._C import bool as bool_dtype
from ._functions import (  # noqa: F401  (public here, too)
    broadcast_shapes,
    broadcast_tensors,
    chain_matmul,
    einsum,
    meshgrid,
    tensordot,
)
from ._lowrank import lu, pca_lowrank, svd_lowrank  # noqa: F401
from ._overrides import offered as _offered
from ._overrides import overridable as _overridable

# Operators that are functions here, too.
istft, split = ops.istft, ops.split

__all__ = [
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "block_diag",
    "cartesian_prod",
    "cdist",
    "nonzero",
    "norm",
    "stft",
    "unique",
    "unique_consecutive",
    "unravel_index",
]


def _listed(tensors) -> list:
    """Tensors given one by one or as one sequence."""
    if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
        return list(tensors[0])
    return list(tensors)


def _at_least(operator, tensors):
    if len(tensors) == 1 and isinstance(tensors[0], Tensor):
        return operator(tensors[0])
    return tuple(operator(t) for t in _listed(tensors))


def atleast_1d(*tensors):
    """A scalar becomes a vector of one element; several give a tuple."""
    return _at_least(ops.atleast_1d, tensors)


def atleast_2d(*tensors):
    """Leading dimensions of size 1 up to two; several give a tuple."""
    return _at_least(ops.atleast_2d, tensors)


def atleast_3d(*tensors):
    """Dimensions of size 1 up to three; several give a tuple."""
    return _at_least(ops.atleast_3d, tensors)


def block_diag(*tensors: Tensor) -> Tensor:
    """A matrix with the given ones (at most 2-d each) on its diagonal."""
    return ops.block_diag(_listed(tensors))


def cartesian_prod(*tensors: Tensor) -> Tensor:
    """All combinations of the vectors' elements, one a row."""
    return ops.cartesian_prod(_listed(tensors))


_CDIST_MODES = {
    "use_mm_for_euclid_dist_if_necessary": 0,
    "use_mm_for_euclid_dist": 1,
    "donot_use_mm_for_euclid_dist": 2,
}


def cdist(
    x1: Tensor,
    x2: Tensor,
    p: float = 2.0,
    compute_mode: str = "use_mm_for_euclid_dist_if_necessary",
) -> Tensor:
    """Distance of order `p` of every row of `x1` to every row of `x2`.

    Args:
        x1: (..., P, M); leading axes broadcast.
        x2: (..., R, M).
        p: order of the norm, 0 to infinity.
        compute_mode: whether distances of order 2 come from a product of
            matrices, faster and less exact: "use_mm_for_euclid_dist",
            "donot_use_mm_for_euclid_dist", or by default for more than 25 rows.

    Returns:
        (..., P, R).

    Raises:
        ValueError: an unknown mode.
    """
    if compute_mode not in _CDIST_MODES:
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")
    return ops.cdist(x1, x2, p, _CDIST_MODES[compute_mode])


def nonzero(input: Tensor, *, as_tuple: bool = False, out=None):
    """Positions of the nonzero elements.

    Returns:
        int64 [n, dims] in row-major order; with `as_tuple` one vector of
        length n for each dimension, as indexing takes them.

    RuntimeError for `out` with `as_tuple`.
    """
    if as_tuple:
        if out is not None:
            raise RuntimeError(
                "nonzero does not support the out kwarg when as_tuple is True"
            )
        return tuple(ops.nonzero_numpy(input))
    return ops.nonzero(input) if out is None else ops.nonzero(input, out=out)


def unravel_index(indices: Tensor, shape) -> tuple[Tensor, ...]:
    """Coordinates, one tensor a dimension, of flat positions in an array of
    `shape` (int or sizes); positions beyond it wrap around.

    Raises TypeError for other types, ValueError for negative sizes.
    """
    if (
        indices.is_floating_point()
        or indices.is_complex()
        or (indices.dtype == bool_dtype)
    ):
        raise TypeError(
            f"expected 'indices' to be integer dtype, but got {indices.dtype}"
        )
    if not isinstance(shape, (int, Sequence)):
        raise TypeError(
            f"expected 'shape' to be int or sequence of ints, but got {type(shape)}"
        )
    sizes = [shape] if isinstance(shape, int) else list(shape)
    for size in sizes:
        if not isinstance(size, int):
            raise TypeError(
                f"expected 'shape' sequence to only contain ints, but got {type(size)}"
            )
    if any(size < 0 for size in sizes):
        raise ValueError(f"'shape' cannot have negative values, but got {tuple(sizes)}")
    coordinates, indices = [], indices.to(int64)
    for size in reversed(sizes):
        coordinates.append(indices % size)
        indices = ops.div(indices, size, rounding_mode="floor")
    return tuple(reversed(coordinates))


def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
):
    """The distinct elements, or slices along `dim`, in ascending order.

    Returns:
        The values; then, as asked for, the position of each element of the
        input among them (int64, the input's shape or [n]) and how often each
        occurs (int64).
    """
    extra = (sorted, return_inverse, return_counts)
    if dim is None:
        found = ops._unique2(input, *extra)
    else:
        found = ops.unique_dim(input, dim, *extra)
    return _asked_for(found, return_inverse, return_counts)


def unique_consecutive(
    input: Tensor,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
):
    """`unique` of runs of equal neighbours, in their order."""
    found = ops.unique_consecutive(input, return_inverse, return_counts, dim)
    return _asked_for(found, return_inverse, return_counts)


def _asked_for(found, return_inverse: bool, return_counts: bool):
    values, inverse, counts = found
    if not return_inverse and not return_counts:
        return values
    return (
        values,
        *((inverse,) if return_inverse else ()),
        *((counts,) if return_counts else ()),
    )


def norm(input: Tensor, p="fro", dim=None, keepdim=False, out=None, dtype=None):
    """The norm of a tensor's elements, over `dim` or all of them.

    The order `p` is that of a vector norm; None and "fro" mean 2, "nuc" the
    sum of the singular values of a matrix.
    """
    into = {} if out is None else {"out": out}
    if isinstance(p, str) and p != "fro":
        if dim is None:
            dim = range(input.dim())
        dims = (dim,) if isinstance(dim, int) else tuple(dim)
        return ops.linalg_matrix_norm(input, p, dims, keepdim, dtype=dtype, **into)
    order = 2 if p is None or p == "fro" else p
    return ops.linalg_vector_norm(input, order, dim, keepdim, dtype=dtype, **into)


def stft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Tensor:
    """Fourier transforms of windows along a signal, [..., bins, frames].

    hop_length is n_fft // 4 and win_length is n_fft unless given; a shorter
    window stands in the middle of its n_fft points. center: frames are centred
    at multiples of hop_length, the signal is padded. return_complex=False,
    deprecated, gives real and imaginary parts in a last dimension.
    """
    if center and align_to_window is not None:
        raise RuntimeError(
            "stft align_to_window should only be set when center = false"
        )
    if center:
        rank, half = input.dim(), int(n_fft // 2)
        extended = input.view([1] * (3 - rank) + list(input.size()))
        extended = ops.pad(extended, [half, half], pad_mode)
        input = extended.view(extended.shape[-rank:])
    return ops.stft(
        input,
        n_fft,
        hop_length,
        win_length,
        window,
        normalized,
        onesided,
        return_complex,
        align_to_window,
    )


_overridable(globals(), __all__)
_offered(
    globals(), ("broadcast_tensors", "chain_matmul", "einsum", "meshgrid", "tensordot")
)
