"""Normal distributions of vectors."""

from __future__ import annotations

import math

import hotaru as torch

from .. import Tensor
from . import constraints
from .distribution import Centered
from .utils import _standard_normal, lazy_property


def matrix_times(matrix: Tensor, vector: Tensor) -> Tensor:
    """Products of matrices (..., n, m) and vectors (..., m)."""
    return torch.matmul(matrix, vector.unsqueeze(-1)).squeeze(-1)


def log_diagonal(factor: Tensor) -> Tensor:
    """The log determinant of triangular matrices."""
    return factor.diagonal(dim1=-2, dim2=-1).log().sum(-1)


def squared_distance(factor: Tensor, x: Tensor) -> Tensor:
    """Distances x' (L L')^-1 x of vectors (..., n), triangular L (..., n, n).

    Batches broadcast. Vectors that share an L are columns of one system.
    """
    batch = factor.shape[:-2]
    extra = x.dim() - 1 - len(batch)
    if extra <= 0 or x.shape[extra:-1] != batch:
        solved = torch.linalg.solve_triangular(factor, x.unsqueeze(-1), upper=False)
        return solved.squeeze(-1).pow(2).sum(-1)
    shared = x.shape[:extra]
    columns = x.reshape((-1,) + batch + x.shape[-1:]).movedim(0, -1)
    solved = torch.linalg.solve_triangular(factor, columns, upper=False)
    distance = solved.pow(2).sum(-2).movedim(-1, 0)
    return distance.reshape(shared + batch)


def factor_of_precision(precision: Tensor) -> Tensor:
    """The Cholesky factor of the inverse of positive definite matrices.

    With all indices reversed the factor of P is that of an upper triangle U,
    P = U U'; the inverse of U' is lower and what is asked for.
    """
    reversed_ = torch.linalg.cholesky(torch.flip(precision, (-2, -1)))
    upper = torch.flip(reversed_, (-2, -1))
    eye = torch.eye(precision.shape[-1], dtype=precision.dtype, device=precision.device)
    return torch.linalg.solve_triangular(upper.mT, eye, upper=False)


def _check_loc(loc: Tensor) -> None:
    if loc.dim() < 1:
        raise ValueError("loc must be at least one-dimensional.")


class ByMatrix:
    """A symmetric matrix that is given by one of three.

    `scale_tril`, its Cholesky factor, is what is computed with; the others are
    computed when asked for.
    """

    _names = ("covariance_matrix", "precision_matrix", "scale_tril")

    def _keep_factor(self, given: dict[str, Tensor]) -> None:
        """Makes of the matrix given the factor, which is not expanded."""
        ((name, matrix),) = given.items()
        if name == "scale_tril":
            factor = matrix
        elif name == "covariance_matrix":
            factor = torch.linalg.cholesky(matrix)
        else:
            factor = factor_of_precision(matrix)
        self._unbroadcasted_scale_tril = factor

    def _of_batch(self, matrix: Tensor) -> Tensor:
        return matrix.expand(self._batch_shape + matrix.shape[-2:])

    @lazy_property
    def scale_tril(self) -> Tensor:
        return self._of_batch(self._unbroadcasted_scale_tril)

    def _only_one(self, matrices: tuple, error: type) -> dict:
        """The matrix that was given, by its name."""
        given = {
            name: matrix
            for name, matrix in zip(self._names, matrices)
            if matrix is not None
        }
        if len(given) != 1:
            raise error(
                "Exactly one of covariance_matrix or precision_matrix or "
                "scale_tril may be specified."
            )
        return given

    @staticmethod
    def _check_matrix(matrix: Tensor, name: str) -> None:
        if matrix.dim() < 2:
            raise ValueError(
                f"{name} must be at least two-dimensional, with optional "
                "leading batch dimensions"
            )

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        factor = self._unbroadcasted_scale_tril
        return self._of_batch(torch.matmul(factor, factor.mT))

    @lazy_property
    def precision_matrix(self) -> Tensor:
        return self._of_batch(torch.cholesky_inverse(self._unbroadcasted_scale_tril))


class MultivariateNormal(ByMatrix, Centered):
    """A vector with mean `loc` and a covariance, by exactly one of three."""

    arg_constraints = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self,
        loc: Tensor,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        _check_loc(loc)
        matrices = covariance_matrix, precision_matrix, scale_tril
        given = self._only_one(matrices, ValueError)
        ((name, matrix),) = given.items()
        told = "scale_tril matrix" if name == "scale_tril" else name
        self._check_matrix(matrix, told)
        batch = torch.broadcast_shapes(matrix.shape[:-2], loc.shape[:-1])
        setattr(self, name, matrix.expand(batch + (-1, -1)))
        self.loc = loc.expand(batch + (-1,))
        super().__init__(batch, self.loc.shape[-1:], validate_args=validate_args)
        self._keep_factor(given)

    @property
    def variance(self) -> Tensor:
        squares = self._unbroadcasted_scale_tril.pow(2).sum(-1)
        return squares.expand(self._batch_shape + self._event_shape)

    def rsample(self, sample_shape=()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        eps = _standard_normal(shape, self.loc.dtype, self.loc.device)
        return self.loc + matrix_times(self._unbroadcasted_scale_tril, eps)

    def log_prob(self, value: Tensor) -> Tensor:
        diff = self._validated(value) - self.loc
        factor = self._unbroadcasted_scale_tril
        constant = self._event_shape[0] * math.log(2 * math.pi)
        distance = squared_distance(factor, diff)
        return -0.5 * (constant + distance) - log_diagonal(factor)

    def entropy(self) -> Tensor:
        constant = 0.5 * self._event_shape[0] * (1.0 + math.log(2 * math.pi))
        entropy = constant + log_diagonal(self._unbroadcasted_scale_tril)
        return entropy.expand(self._batch_shape)


class LowRankMultivariateNormal(Centered):
    """With the covariance W W' + diag(D), of a `cov_factor` W with few columns.

    Determinant and inverse are those of the small I + W' D^-1 W, the
    "capacitance" (matrix determinant lemma, Woodbury identity).
    """

    arg_constraints = {
        "loc": constraints.real_vector,
        "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }
    support = constraints.real_vector
    has_rsample = True

    def __init__(
        self,
        loc: Tensor,
        cov_factor: Tensor,
        cov_diag: Tensor,
        validate_args: bool | None = None,
    ) -> None:
        _check_loc(loc)
        event = loc.shape[-1:]
        if cov_factor.dim() < 2:
            raise ValueError(
                "cov_factor must be at least two-dimensional, with optional "
                "leading batch dimensions"
            )
        if cov_factor.shape[-2:-1] != event:
            raise ValueError(
                f"cov_factor must be a batch of matrices with shape {event[0]} x m"
            )
        if cov_diag.shape[-1:] != event:
            raise ValueError(f"cov_diag must be a batch of vectors with shape {event}")
        try:
            batch = torch.broadcast_shapes(
                loc.shape[:-1], cov_factor.shape[:-2], cov_diag.shape[:-1]
            )
        except RuntimeError as e:
            raise ValueError(
                f"Incompatible batch shapes: loc {loc.shape}, cov_factor "
                f"{cov_factor.shape}, cov_diag {cov_diag.shape}"
            ) from e
        self.loc = loc.expand(batch + event)
        self.cov_factor = cov_factor.expand(batch + cov_factor.shape[-2:])
        self.cov_diag = cov_diag.expand(batch + event)
        super().__init__(batch, event, validate_args=validate_args)
        self._unbroadcasted_cov_factor = cov_factor
        self._unbroadcasted_cov_diag = cov_diag
        weighted = cov_factor.mT / cov_diag.unsqueeze(-2)
        self._capacitance_tril = torch.linalg.cholesky(
            weighted @ cov_factor
            + torch.eye(
                cov_factor.shape[-1], dtype=cov_factor.dtype, device=cov_factor.device
            )
        )

    def _of_batch(self, matrix: Tensor) -> Tensor:
        return matrix.expand(self._batch_shape + self._event_shape + self._event_shape)

    @lazy_property
    def variance(self) -> Tensor:
        variance = (
            self._unbroadcasted_cov_factor.pow(2).sum(-1) + self._unbroadcasted_cov_diag
        )
        return variance.expand(self._batch_shape + self._event_shape)

    @lazy_property
    def scale_tril(self) -> Tensor:
        # Factor of D^-1/2 (W W' + D) D^-1/2, which is conditioned better.
        root = self._unbroadcasted_cov_diag.sqrt().unsqueeze(-1)
        scaled = self._unbroadcasted_cov_factor / root
        scaled = scaled @ scaled.mT
        eye = torch.eye(scaled.shape[-1], dtype=scaled.dtype, device=scaled.device)
        return self._of_batch(root * torch.linalg.cholesky(scaled + eye))

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        factor = self._unbroadcasted_cov_factor
        return self._of_batch(
            factor @ factor.mT + self._unbroadcasted_cov_diag.diag_embed()
        )

    def _woodbury(self) -> tuple[Tensor, Tensor]:
        """A vector d and a matrix R: the precision is diag(d) - R' R."""
        inverse = self._unbroadcasted_cov_diag.reciprocal()
        weighted = self._unbroadcasted_cov_factor.mT * inverse.unsqueeze(-2)
        root = torch.linalg.solve_triangular(
            self._capacitance_tril, weighted, upper=False
        )
        return inverse, root

    @lazy_property
    def precision_matrix(self) -> Tensor:
        inverse, root = self._woodbury()
        return self._of_batch(inverse.diag_embed() - root.mT @ root)

    def precision_diagonal(self) -> Tensor:
        """The diagonal of the precision, without the whole of it."""
        inverse, root = self._woodbury()
        return inverse - root.pow(2).sum(-2)

    def rsample(self, sample_shape=()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        few = shape[:-1] + self.cov_factor.shape[-1:]
        like = self.loc
        eps_w = _standard_normal(few, like.dtype, like.device)
        eps_d = _standard_normal(shape, like.dtype, like.device)
        return (
            self.loc
            + matrix_times(self._unbroadcasted_cov_factor, eps_w)
            + self._unbroadcasted_cov_diag.sqrt() * eps_d
        )

    def log_determinant(self) -> Tensor:
        """Logarithm of the covariance's determinant."""
        return 2 * log_diagonal(
            self._capacitance_tril
        ) + self._unbroadcasted_cov_diag.log().sum(-1)

    def squared_distance(self, x: Tensor) -> Tensor:
        """Distances x' covariance^-1 x of vectors."""
        weighted = x / self._unbroadcasted_cov_diag
        few = matrix_times(self._unbroadcasted_cov_factor.mT, weighted)
        return (weighted * x).sum(-1) - squared_distance(self._capacitance_tril, few)

    def log_prob(self, value: Tensor) -> Tensor:
        diff = self._validated(value) - self.loc
        constant = self._event_shape[0] * math.log(2 * math.pi)
        return -0.5 * (constant + self.log_determinant() + self.squared_distance(diff))

    def entropy(self) -> Tensor:
        constant = self._event_shape[0] * (1.0 + math.log(2 * math.pi))
        entropy = 0.5 * (constant + self.log_determinant())
        return entropy.expand(self._batch_shape)
