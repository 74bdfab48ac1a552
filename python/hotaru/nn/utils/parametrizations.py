"""Parametrizations: orthogonal matrices, normed weights.

Sources: Lezcano-Casado 2019 (arXiv 1909.09501; orthogonal), Salimans & Kingma
2016 (1602.07868; weight_norm), Miyato et al. 2018 (1802.05957; spectral_norm).
"""

from __future__ import annotations

from enum import Enum, auto

import hotaru

from ... import Tensor, no_grad
from .. import functional as F
from ..modules import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d, Module
from . import parametrize
from .spectral_norm import check_iterations

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]


class _OrthMaps(Enum):
    matrix_exp = auto()
    cayley = auto()
    householder = auto()


def _is_orthogonal(matrix: Tensor) -> bool:
    rows, columns = matrix.shape[-2:]
    eye = hotaru.eye(columns, dtype=matrix.dtype, device=matrix.device)
    bound = 10.0 * rows * hotaru.finfo(matrix.dtype).eps
    return hotaru.allclose(matrix.mH @ matrix, eye, atol=bound)


def _orthogonalized(tall: Tensor) -> Tensor:
    """Q of the decomposition QR of a tall matrix with diag(R) >= 0."""
    packed, tau = hotaru.geqrf(tall)
    q = hotaru.linalg.householder_product(packed, tau)
    return q * packed.diagonal(dim1=-2, dim2=-1).sgn().unsqueeze(-2)


class _Orthogonal(Module):
    """Matrices X (*, m, n) to orthogonal ones, by one of three maps.

    With a trivialization the result is multiplied from the left by `base`, the
    matrix that was assigned last, and X starts anew from there.
    """

    def __init__(
        self,
        weight: Tensor,
        orthogonal_map: _OrthMaps,
        *,
        use_trivialization: bool = True,
    ) -> None:
        super().__init__()
        # The reflectors and diagonal signs of complex matrices have less
        # freedom than unitary matrices.
        if weight.is_complex() and orthogonal_map is _OrthMaps.householder:
            raise ValueError(
                "The householder parametrization does not support complex tensors."
            )
        self.shape = weight.shape
        self.orthogonal_map = orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, X: Tensor) -> Tensor:
        wide = X.size(-2) < X.size(-1)
        tall = X.mT if wide else X
        if self.orthogonal_map is _OrthMaps.householder:
            q = _reflected(tall)
        else:
            q = self._rotated(tall)
        if hasattr(self, "base"):
            q = self.base @ q
        return q.mT if wide else q

    def _rotated(self, tall: Tensor) -> Tensor:
        """The map of the skew matrix below whose diagonal `tall` stands."""
        rows, columns = tall.shape[-2:]
        lower = tall.tril()
        if rows != columns:
            rest = lower.new_zeros(rows, rows - columns)
            rest = rest.expand(*lower.shape[:-2], -1, -1)
            lower = hotaru.cat([lower, rest], dim=-1)
        skew = lower - lower.mH
        if self.orthogonal_map is _OrthMaps.matrix_exp:
            q = hotaru.matrix_exp(skew)
        else:
            eye = hotaru.eye(rows, dtype=skew.dtype, device=skew.device)
            q = hotaru.linalg.solve(
                hotaru.add(eye, skew, alpha=-0.5), hotaru.add(eye, skew, alpha=0.5)
            )
        return q if rows == columns else q[..., :columns]

    def right_inverse(self, Q: Tensor) -> Tensor:
        """X whose result is Q, made orthogonal.

        Raises:
            ValueError: another shape.
            NotImplementedError: not known for this map without trivialization.
        """
        if Q.shape != self.shape:
            raise ValueError(
                "Expected a matrix or batch of matrices of shape "
                f"{self.shape}. Got a tensor of shape {Q.shape}."
            )
        wide = Q.size(-2) < Q.size(-1)
        with no_grad():
            tall = Q.mT if wide else Q
            if not hasattr(self, "base"):
                x = self._reflectors(tall)
                return x.mT if wide else x
            self.base = _completed(tall)
            # Minus one on the diagonal: the reflections of zeros with these
            # signs are the identity.
            x = hotaru.zeros_like(Q)
            x.diagonal(dim1=-2, dim2=-1).fill_(-1.0)
            return x

    def _reflectors(self, tall: Tensor) -> Tensor:
        if self.orthogonal_map is not _OrthMaps.householder:
            raise NotImplementedError(
                "It is not possible to assign to the matrix exponential or the "
                "Cayley parametrizations when use_trivialization=False."
            )
        packed, tau = hotaru.geqrf(tall)
        signs = packed.diagonal(dim1=-2, dim2=-1)
        signs.sign_()
        # LAPACK writes exactly 0 for a reflection that it leaves out.
        signs[tau == 0.0] *= -1
        return packed


def _reflected(tall: Tensor) -> Tensor:
    """Product of the reflections below the diagonal, with its signs."""
    vectors = tall.tril(diagonal=-1)
    tau = 2.0 / (1.0 + (vectors * vectors).sum(dim=-2))
    q = hotaru.linalg.householder_product(vectors, tau)
    # Signs are no function to differentiate, hence integers.
    return q * tall.diagonal(dim1=-2, dim2=-1).int().unsqueeze(-2)


def _completed(tall: Tensor) -> Tensor:
    """A square orthogonal matrix that begins with the columns of `tall`."""
    rows, columns = tall.shape[-2:]
    if rows == columns:
        return tall.clone() if _is_orthogonal(tall) else _orthogonalized(tall)
    more = hotaru.randn(
        *tall.shape[:-2], rows, rows - columns, dtype=tall.dtype, device=tall.device
    )
    return _orthogonalized(hotaru.cat([tall, more], dim=-1))


def _tensor_of(module: Module, name: str) -> Tensor:
    tensor = getattr(module, name, None)
    if not isinstance(tensor, Tensor):
        raise ValueError(
            f"Module '{module}' has no parameter or buffer with name '{name}'"
        )
    return tensor


def orthogonal(
    module: Module,
    name: str = "weight",
    orthogonal_map: str | None = None,
    *,
    use_trivialization: bool = True,
) -> Module:
    """Keeps matrices (*, m, n) orthogonal: columns, or rows where m < n.

    Args:
        module, name: the tensor.
        orthogonal_map: "matrix_exp", "cayley" or "householder"; the first for
            square and complex matrices, else the last.
        use_trivialization: maps relative to the matrix that was assigned last.

    Raises:
        ValueError: no such tensor, no matrix, no such map.
    """
    weight = _tensor_of(module, name)
    if weight.ndim < 2:
        raise ValueError(
            "Expected a matrix or batch of matrices. "
            f"Got a tensor of {weight.ndim} dimensions."
        )
    if orthogonal_map is None:
        square = weight.size(-2) == weight.size(-1)
        orthogonal_map = (
            "matrix_exp" if square or weight.is_complex() else "householder"
        )
    kind = getattr(_OrthMaps, orthogonal_map, None)
    if kind is None:
        raise ValueError(
            'orthogonal_map has to be one of "matrix_exp", "cayley", '
            f'"householder". Got: {orthogonal_map}'
        )
    made = _Orthogonal(weight, kind, use_trivialization=use_trivialization)
    return parametrize.register_parametrization(module, name, made, unsafe=True)


class _WeightNorm(Module):
    """Norm and direction to a weight."""

    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Tensor, weight_v: Tensor) -> Tensor:
        return hotaru._weight_norm(weight_v, weight_g, self.dim)

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        return hotaru.norm_except_dim(weight, 2, self.dim), weight


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Splits a weight into its norm, `original0`, and direction, `original1`.

    Args:
        module, name: the tensor. State of the hook `nn.utils.weight_norm` may
            be loaded, too.
        dim: a norm for each index of it; one for all with None.

    Raises:
        ValueError: no such tensor.
    """
    parametrize.register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def take_state_of_hook(state_dict, prefix, *_) -> None:
        keys = [f"{prefix}{name}_{part}" for part in "gv"]
        if all(key in state_dict for key in keys):
            for i, key in enumerate(keys):
                new = f"{prefix}parametrizations.{name}.original{i}"
                state_dict[new] = state_dict.pop(key)

    module._register_load_state_dict_pre_hook(take_state_of_hook)
    return module


class _SpectralNorm(Module):
    """A weight over its largest singular value, which a power iteration on the
    buffers `_u` and `_v` estimates; a vector over its norm.
    """

    def __init__(
        self,
        weight: Tensor,
        n_power_iterations: int = 1,
        dim: int = 0,
        eps: float = 1e-12,
    ) -> None:
        super().__init__()
        axes = weight.ndim
        if not -axes <= dim < axes:
            raise IndexError(
                "Dimension out of range (expected to be in range of "
                f"[-{axes}, {axes - 1}] but got {dim})"
            )
        check_iterations(n_power_iterations)
        self.dim = dim % axes
        self.eps = eps
        if axes > 1:
            self.n_power_iterations = n_power_iterations
            matrix = self._reshape_weight_to_matrix(weight)
            for buffer, size in zip(("_u", "_v"), matrix.shape):
                drawn = matrix.new_empty(size).normal_(0, 1)
                self.register_buffer(buffer, F.normalize(drawn, dim=0, eps=eps))
            self._power_method(matrix, 15)

    def _reshape_weight_to_matrix(self, weight: Tensor) -> Tensor:
        if weight.ndim <= 1:
            raise AssertionError(
                f"Expected weight to have more than 1 dimension, got {weight.ndim}"
            )
        return weight.movedim(self.dim, 0).flatten(1)

    def _power_method(self, weight_mat: Tensor, n_power_iterations: int):
        if weight_mat.ndim <= 1:
            raise AssertionError(
                "Expected weight_mat to have more than 1 dimension, got "
                f"{weight_mat.ndim}"
            )
        # In place, so that modules which share the buffers see it.
        with no_grad():
            for _ in range(n_power_iterations):
                self._improve(self._u, hotaru.mv(weight_mat, self._v))
                self._improve(self._v, hotaru.mv(weight_mat.H, self._u))

    def _improve(self, vector: Tensor, product: Tensor) -> None:
        F.normalize(product, dim=0, eps=self.eps, out=vector)

    def forward(self, weight: Tensor) -> Tensor:
        if weight.ndim == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        matrix = self._reshape_weight_to_matrix(weight)
        if self.training:
            self._power_method(matrix, self.n_power_iterations)
        # Copies: the next call changes the vectors before a backward pass of
        # this one may need them.
        u, v = (
            vector.clone(memory_format=hotaru.contiguous_format)
            for vector in (self._u, self._v)
        )
        return weight / hotaru.vdot(u, hotaru.mv(matrix, v))

    def right_inverse(self, value: Tensor) -> Tensor:
        """The value itself: a weight is normed anew at each access."""
        return value


def spectral_norm(
    module: Module,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> Module:
    """Divides a weight by its largest singular value.

    Args:
        module, name: the tensor; more than two axes are flattened to a matrix.
        n_power_iterations: for each access in training.
        eps: least norm to divide by.
        dim: the axis of outputs: 1 for transposed convolutions, else 0.

    Raises:
        ValueError, IndexError: no such tensor, an argument out of its range.
    """
    weight = _tensor_of(module, name)
    if dim is None:
        transposed = (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)
        dim = 1 if isinstance(module, transposed) else 0
    made = _SpectralNorm(weight, n_power_iterations, dim, eps)
    return parametrize.register_parametrization(module, name, made)
