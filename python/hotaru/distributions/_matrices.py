"""Distributions of matrices."""

from __future__ import annotations

import math
import warnings
from numbers import Number

import hotaru as torch

from .. import Size, Tensor, nan
from . import constraints
from ._gamma import Beta, Chi2
from ._gaussian import ByMatrix, log_diagonal
from .distribution import Distribution
from .exp_family import ExponentialFamily
from .utils import lazy_property


def multivariate_digamma(x: Tensor, p: int) -> Tensor:
    """The derivative of `mvlgamma(x, p)`."""
    halves = torch.arange(p, dtype=x.dtype, device=x.device) / 2
    return torch.digamma(x.unsqueeze(-1) - halves).sum(-1)


class Wishart(ByMatrix, ExponentialFamily):
    """The sum of outer products of `df` normal vectors with one covariance.

    Any df greater than the vectors' length less 1; below that length most
    draws are near to singular.
    """

    support = constraints.positive_definite
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(
        self,
        df,
        covariance_matrix: Tensor | None = None,
        precision_matrix: Tensor | None = None,
        scale_tril: Tensor | None = None,
        validate_args: bool | None = None,
    ) -> None:
        matrices = covariance_matrix, precision_matrix, scale_tril
        given = self._only_one(matrices, AssertionError)
        ((name, matrix),) = given.items()
        self._check_matrix(matrix, "scale_tril")
        if isinstance(df, Number):
            df = torch.tensor(df, dtype=matrix.dtype, device=matrix.device)
        batch = torch.broadcast_shapes(matrix.shape[:-2], df.shape)
        event = matrix.shape[-2:]
        self.df = df.expand(batch)
        setattr(self, name, matrix.expand(batch + (-1, -1)))
        if self.df.le(event[-1] - 1).any():
            raise ValueError(
                f"Value of df={df} expected to be greater than ndim - 1 = "
                f"{event[-1] - 1}."
            )
        self._batch_shape, self._event_shape = batch, event
        if self.df.lt(event[-1]).any():
            warnings.warn(
                "Low df values detected. Singular samples are highly likely "
                "to occur for ndim - 1 < df < ndim.",
                stacklevel=2,
            )
        super().__init__(batch, event, validate_args=validate_args)
        self._keep_factor(given)

    @property
    def arg_constraints(self) -> dict[str, constraints.Constraint]:
        return {
            "covariance_matrix": constraints.positive_definite,
            "precision_matrix": constraints.positive_definite,
            "scale_tril": constraints.lower_cholesky,
            "df": constraints.greater_than(self._event_shape[-1] - 1),
        }

    @property
    def mean(self) -> Tensor:
        return self.df[..., None, None] * self.covariance_matrix

    @property
    def mode(self) -> Tensor:
        factor = self.df - self._event_shape[-1] - 1
        factor = factor.masked_fill(factor <= 0, nan)
        return factor[..., None, None] * self.covariance_matrix

    @property
    def variance(self) -> Tensor:
        v = self.covariance_matrix
        diagonal = v.diagonal(dim1=-2, dim2=-1)
        products = diagonal.unsqueeze(-1) * diagonal.unsqueeze(-2)
        return self.df[..., None, None] * (v.pow(2) + products)

    @lazy_property
    def _chi2(self) -> Chi2:
        """Law of the squares of the diagonal of standard draws' factors."""
        less = torch.arange(
            self._event_shape[-1], dtype=self.df.dtype, device=self.df.device
        )
        return Chi2(self.df.unsqueeze(-1) - less)

    def _draw(self, sample_shape) -> Tensor:
        """By the factor's distribution (Bartlett 1934)."""
        p = self._event_shape[-1]
        diagonal = self._chi2.rsample(sample_shape).sqrt()
        diagonal = diagonal.clamp(min=torch.finfo(diagonal.dtype).eps)
        noise = diagonal.diag_embed()
        rows, columns = torch.tril_indices(p, p, offset=-1)
        noise[..., rows, columns] = torch.randn(
            Size(sample_shape) + self._batch_shape + (p * (p - 1) // 2,),
            dtype=noise.dtype,
            device=noise.device,
        )
        factor = self._unbroadcasted_scale_tril @ noise
        return factor @ factor.mT

    def rsample(self, sample_shape=(), max_try_correction=None) -> Tensor:
        """Draws; singular ones up to `max_try_correction` (10) times again.

        With a warning. PyTorch draws regular ones again, too.
        """
        if max_try_correction is None:
            max_try_correction = 10
        sample_shape = Size(sample_shape)
        sample = self._draw(sample_shape)
        singular = ~self.support.check(sample)
        if not singular.any():
            return sample
        warnings.warn("Singular sample detected.", stacklevel=2)
        for _ in range(max_try_correction):
            again = self._draw(sample_shape)
            replaced = singular[..., None, None]
            sample = torch.where(replaced, again, sample)
            singular = ~self.support.check(sample)
            if not singular.any():
                break
        return sample

    def _log_determinant(self) -> Tensor:
        """Logarithm of the determinant of 2 V, for the covariance V."""
        p = self._event_shape[-1]
        return p * math.log(2) + 2 * log_diagonal(self._unbroadcasted_scale_tril)

    def log_prob(self, value: Tensor) -> Tensor:
        value, p = self._validated(value), self._event_shape[-1]
        scaled = torch.cholesky_solve(value, self._unbroadcasted_scale_tril)
        return (
            -self.df * self._log_determinant() / 2
            - torch.mvlgamma(self.df / 2, p=p)
            + (self.df - p - 1) / 2 * torch.linalg.slogdet(value).logabsdet
            - scaled.diagonal(dim1=-2, dim2=-1).sum(-1) / 2
        )

    def entropy(self) -> Tensor:
        p, half = self._event_shape[-1], self.df / 2
        return (
            (p + 1) / 2 * self._log_determinant()
            + torch.mvlgamma(half, p=p)
            - (self.df - p - 1) / 2 * multivariate_digamma(half, p)
            + self.df * p / 2
        )

    @property
    def _natural_params(self) -> tuple[Tensor, Tensor]:
        # Parameters of log det x and of x; so the carrier is a constant.
        power = (self.df - self._event_shape[-1] - 1) / 2
        return power, -self.precision_matrix / 2

    def _log_normalizer(self, x: Tensor, y: Tensor) -> Tensor:
        p = y.shape[-1]
        log_det = torch.linalg.slogdet(-2 * y).logabsdet
        half = x + (p + 1) / 2
        return half * (p * math.log(2) - log_det) + torch.mvlgamma(half, p=p)


class LKJCholesky(Distribution):
    """Cholesky factors of correlations, density det^(concentration - 1).

    A concentration of 1 is uniform over correlations, more prefers the unit
    matrix (Lewandowski, Kurowicka, Joe 2009, whose onion method draws).
    """

    arg_constraints = {"concentration": constraints.positive}
    support = constraints.corr_cholesky

    def __init__(
        self, dim: int, concentration=1.0, validate_args: bool | None = None
    ) -> None:
        if dim < 2:
            raise ValueError(
                "Expected dim to be an integer greater than or equal to 2. "
                f"Found dim={dim}."
            )
        event = Size((dim, dim))
        self.dim = dim
        self.concentration = (
            concentration
            if isinstance(concentration, Tensor)
            else torch.tensor(concentration)
        )
        super().__init__(self.concentration.size(), event, validate_args)

    @lazy_property
    def _beta(self) -> Beta:
        """Law of the squared length that rows have left of the diagonal."""
        like = self.concentration
        before = torch.arange(self.dim - 1, dtype=like.dtype, device=like.device)
        # The first row has none: any number will do.
        before = torch.cat([before.new_zeros((1,)), before])
        last = like + 0.5 * (self.dim - 2)
        return Beta(before + 0.5, last.unsqueeze(-1) - 0.5 * before)

    @torch.no_grad()
    def sample(self, sample_shape=()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        squared = self._beta.sample(sample_shape).unsqueeze(-1)
        like = self.concentration
        normal = torch.randn(shape, dtype=like.dtype, device=like.device)
        normal = normal.tril(-1)
        directions = normal / normal.norm(dim=-1, keepdim=True)
        directions[..., 0, :] = 0.0
        w = squared.sqrt() * directions
        tiny = torch.finfo(w.dtype).tiny
        diagonal = (1 - (w**2).sum(-1)).clamp(min=tiny).sqrt()
        return w + diagonal.diag_embed()

    def log_prob(self, value: Tensor) -> Tensor:
        value, less = self._validated(value), self.dim - 1
        diagonal = value.diagonal(dim1=-1, dim2=-2)[..., 1:]
        rows = torch.arange(2, self.dim + 1, device=self.concentration.device)
        power = 2 * (self.concentration - 1).unsqueeze(-1) + self.dim - rows
        log_density = (power * diagonal.log()).sum(dim=-1)
        alpha = self.concentration + 0.5 * less
        normalizer = (
            0.5 * less * math.log(math.pi)
            + torch.mvlgamma(alpha - 0.5, p=less)
            - torch.lgamma(alpha) * less
        )
        return log_density - normalizer
