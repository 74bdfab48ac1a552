"""Transforms of numbers, of vectors and of matrices.

Jacobians of those to simplices and correlation matrices: Stan reference
manual, chapter "Constraint transforms".
"""

from __future__ import annotations

import math
from numbers import Number

import hotaru as torch

from .. import Tensor
from ..nn.functional import logsigmoid, pad, softplus
from . import constraints
from ._transform import _TOO_FEW, Transform
from .utils import broadcast_all, tril_matrix_to_vec, vec_to_tril_matrix


class _Rising(Transform):
    """A rising bijection of all numbers, without arguments."""

    domain = constraints.real
    codomain = constraints.positive
    bijective = True
    sign = +1
    _compared = ()


class ExpTransform(_Rising):
    """y = exp(x)."""

    def _call(self, x: Tensor) -> Tensor:
        return x.exp()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.log()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return x


class PowerTransform(Transform):
    """y = x^exponent for positive x."""

    domain = constraints.positive
    codomain = constraints.positive
    bijective = True
    _compared = ("exponent",)

    def __init__(self, exponent: Tensor, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        (self.exponent,) = broadcast_all(exponent)

    def _arguments(self) -> tuple:
        return (self.exponent,)

    @property
    def sign(self):
        return self.exponent.sign()

    def _call(self, x: Tensor) -> Tensor:
        return x.pow(self.exponent)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.pow(1 / self.exponent)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return (self.exponent * y / x).abs().log()

    def forward_shape(self, shape):
        return torch.broadcast_shapes(shape, self.exponent.shape)

    inverse_shape = forward_shape


def _open_sigmoid(x: Tensor) -> Tensor:
    """The sigmoid, not rounded to 0 or 1."""
    limits = torch.finfo(x.dtype)
    return torch.sigmoid(x).clamp(min=limits.tiny, max=1.0 - limits.eps)


class SigmoidTransform(_Rising):
    """y = 1 / (1 + exp(-x)), inside the open interval."""

    codomain = constraints.unit_interval

    def _call(self, x: Tensor) -> Tensor:
        return _open_sigmoid(x)

    def _inverse(self, y: Tensor) -> Tensor:
        limits = torch.finfo(y.dtype)
        y = y.clamp(min=limits.tiny, max=1.0 - limits.eps)
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -softplus(-x) - softplus(x)


class SoftplusTransform(_Rising):
    """y = log(1 + exp(x)), y = x for x > 20."""

    def _call(self, x: Tensor) -> Tensor:
        return softplus(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return (-y).expm1().neg().log() + y

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -softplus(-x)


class TanhTransform(_Rising):
    """y = tanh(x). Arguments far out do not come back: use a cache."""

    codomain = constraints.interval(-1.0, 1.0)

    def _call(self, x: Tensor) -> Tensor:
        return x.tanh()

    def _inverse(self, y: Tensor) -> Tensor:
        return torch.atanh(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        # log(1 - tanh^2) = 2 log sech, whose exponents do not overflow.
        return 2.0 * (math.log(2.0) - x - softplus(-2.0 * x))


class AbsTransform(Transform):
    """y = |x|, with y itself as the inverse."""

    domain = constraints.real
    codomain = constraints.positive
    _compared = ()

    def _call(self, x: Tensor) -> Tensor:
        return x.abs()

    def _inverse(self, y: Tensor) -> Tensor:
        return y


class AffineTransform(Transform):
    """y = loc + scale x; events of `event_dim` dimensions."""

    bijective = True
    _compared = ("loc", "scale")

    def __init__(self, loc, scale, event_dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.loc = loc
        self.scale = scale
        self._event_dim = event_dim

    def _arguments(self) -> tuple:
        return self.loc, self.scale, self.event_dim

    @property
    def event_dim(self) -> int:
        return self._event_dim

    @constraints.dependent_property(is_discrete=False)
    def domain(self):
        if self.event_dim == 0:
            return constraints.real
        return constraints.independent(constraints.real, self.event_dim)

    codomain = domain

    @property
    def sign(self):
        if isinstance(self.scale, Tensor):
            return self.scale.sign()
        return (self.scale > 0) - (self.scale < 0)

    def _call(self, x: Tensor) -> Tensor:
        return self.loc + self.scale * x

    def _inverse(self, y: Tensor) -> Tensor:
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        if isinstance(self.scale, Number):
            result = torch.full_like(x, math.log(abs(self.scale)))
        else:
            result = self.scale.abs().log()
        batch = x.shape
        if self.event_dim:
            event = result.shape[: -self.event_dim] + (-1,)
            result = result.view(event).sum(-1)
            batch = batch[: -self.event_dim]
        return result.expand(batch)

    def forward_shape(self, shape):
        shapes = (getattr(v, "shape", ()) for v in (self.loc, self.scale))
        return torch.broadcast_shapes(shape, *shapes)

    inverse_shape = forward_shape


class CumulativeDistributionTransform(Transform):
    """y = cdf(x) of a distribution of numbers: uniform if x is of that."""

    bijective = True
    codomain = constraints.unit_interval
    sign = +1

    def __init__(self, distribution, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.distribution = distribution

    def _arguments(self) -> tuple:
        return (self.distribution,)

    @property
    def domain(self):
        return self.distribution.support

    def _call(self, x: Tensor) -> Tensor:
        return self.distribution.cdf(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return self.distribution.log_prob(x)


def _at_least(shape, dims: int) -> None:
    if len(shape) < dims:
        raise ValueError(_TOO_FEW)


class SoftmaxTransform(Transform):
    """y = exp(x) / sum(exp(x)) over the last dimension; inverse log y.

    Not bijective: x and x plus a constant have the same result.
    """

    domain = constraints.real_vector
    codomain = constraints.simplex
    _compared = ()

    def _call(self, x: Tensor) -> Tensor:
        weights = (x - x.max(-1, True)[0]).exp()
        return weights / weights.sum(-1, True)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.log()

    def forward_shape(self, shape):
        _at_least(shape, 1)
        return shape

    inverse_shape = forward_shape


class StickBreakingTransform(Transform):
    """n numbers to a simplex of n + 1, by what each takes of the rest."""

    domain = constraints.real_vector
    codomain = constraints.simplex
    bijective = True
    _compared = ()

    @staticmethod
    def _log_remaining(x: Tensor) -> Tensor:
        """The log of what makes zeros equal parts: how many entries follow."""
        n = x.shape[-1]
        return (n + 1 - x.new_ones(n).cumsum(-1)).log()

    def _call(self, x: Tensor) -> Tensor:
        taken = _open_sigmoid(x - self._log_remaining(x))
        rest = (1 - taken).cumprod(-1)
        return pad(taken, [0, 1], value=1) * pad(rest, [1, 0], value=1)

    def _inverse(self, y: Tensor) -> Tensor:
        part = y[..., :-1]
        rest = (1 - part.cumsum(-1)).clamp(min=torch.finfo(y.dtype).tiny)
        return part.log() - rest.log() + self._log_remaining(part)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        x = x - self._log_remaining(x)
        return (-x + logsigmoid(x) + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape):
        _at_least(shape, 1)
        return shape[:-1] + (shape[-1] + 1,)

    def inverse_shape(self, shape):
        _at_least(shape, 1)
        return shape[:-1] + (shape[-1] - 1,)


def _diagonal_by(x: Tensor, function) -> Tensor:
    """The lower triangle, with a function of the diagonal."""
    diagonal = x.diagonal(dim1=-2, dim2=-1)
    return x.tril(-1) + function(diagonal).diag_embed()


class _OfMatrices(Transform):
    domain = constraints.independent(constraints.real, 2)
    _compared = ()

    def forward_shape(self, shape):
        _at_least(shape, 2)
        return shape

    inverse_shape = forward_shape


class LowerCholeskyTransform(_OfMatrices):
    """Any matrix to a lower triangle, the diagonal by exp."""

    codomain = constraints.lower_cholesky

    def _call(self, x: Tensor) -> Tensor:
        return _diagonal_by(x, torch.exp)

    def _inverse(self, y: Tensor) -> Tensor:
        return _diagonal_by(y, torch.log)


class PositiveDefiniteTransform(_OfMatrices):
    """Any matrix to a positive definite one, by its Cholesky factor."""

    codomain = constraints.positive_definite

    def _call(self, x: Tensor) -> Tensor:
        factor = _diagonal_by(x, torch.exp)
        return factor @ factor.mT

    def _inverse(self, y: Tensor) -> Tensor:
        return _diagonal_by(torch.linalg.cholesky(y), torch.log)


class CorrCholeskyTransform(Transform):
    """n (n - 1) / 2 numbers to a Cholesky factor of an n x n correlation.

    tanh makes of them canonical partial correlations, by rows; each is a share
    of the length 1 that the row's former entries have left (Lewandowski,
    Kurowicka, Joe 2009).
    """

    domain = constraints.real_vector
    codomain = constraints.corr_cholesky
    bijective = True

    def _call(self, x: Tensor) -> Tensor:
        eps = torch.finfo(x.dtype).eps
        partial = torch.tanh(x).clamp(min=-1 + eps, max=1 - eps)
        partial = vec_to_tril_matrix(partial, diag=-1)
        left = (1 - partial**2).sqrt().cumprod(-1)
        unit = torch.eye(partial.shape[-1], dtype=partial.dtype, device=partial.device)
        return (partial + unit) * pad(left[..., :-1], [1, 0], value=1)

    def _inverse(self, y: Tensor) -> Tensor:
        left = pad(1 - (y * y).cumsum(-1)[..., :-1], [1, 0], value=1)
        left = tril_matrix_to_vec(left, diag=-1)
        partial = tril_matrix_to_vec(y, diag=-1) / left.sqrt()
        return (partial.log1p() - partial.neg().log1p()) / 2

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor, intermediates=None) -> Tensor:
        # Entries below the diagonal count, but the last one of each row.
        left = tril_matrix_to_vec(1 - (y * y).cumsum(-1), diag=-2)
        tanh = (x + softplus(-2 * x) - math.log(2.0)).sum(-1)
        return 0.5 * left.log().sum(-1) - 2 * tanh

    def forward_shape(self, shape):
        _at_least(shape, 1)
        n = round((0.25 + 2 * shape[-1]) ** 0.5 + 0.5)
        if n * (n - 1) // 2 != shape[-1]:
            raise ValueError("Input is not a flattened lower-diagonal number")
        return shape[:-1] + (n, n)

    def inverse_shape(self, shape):
        _at_least(shape, 2)
        n = shape[-1]
        if shape[-2] != n:
            raise ValueError("Input is not square")
        return shape[:-2] + (n * (n - 1) // 2,)
