"""Distributions of numbers on the whole line, by location and scale."""

from __future__ import annotations

import math

import hotaru as torch

from .. import Tensor, inf, nan
from . import constraints
from .distribution import Centered, Distribution
from .exp_family import ExponentialFamily
from .utils import _standard_normal, broadcast_all


class _LocationScale(Centered):
    """Symmetric round `loc`, as wide as `scale`."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True

    def __init__(self, loc, scale, validate_args=None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc.size(), validate_args=validate_args)

    @property
    def variance(self) -> Tensor:
        return self.stddev.pow(2)


class Normal(_LocationScale, ExponentialFamily):
    """Gaussian with the mean `loc` and the standard deviation `scale`."""

    _mean_carrier_measure = 0

    @property
    def stddev(self) -> Tensor:
        return self.scale

    def sample(self, sample_shape=()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        with torch.no_grad():
            return torch.normal(self.loc.expand(shape), self.scale.expand(shape))

    def rsample(self, sample_shape=()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        eps = _standard_normal(shape, self.loc.dtype, self.loc.device)
        return self.loc + eps * self.scale

    def log_prob(self, value: Tensor) -> Tensor:
        value = self._validated(value)
        return (
            -((value - self.loc) ** 2) / (2 * self.scale**2)
            - self.scale.log()
            - math.log(math.sqrt(2 * math.pi))
        )

    def cdf(self, value: Tensor) -> Tensor:
        z = (self._validated(value) - self.loc) * self.scale.reciprocal()
        return 0.5 * (1 + torch.erf(z / math.sqrt(2)))

    def icdf(self, value: Tensor) -> Tensor:
        return self.loc + self.scale * torch.erfinv(2 * value - 1) * math.sqrt(2)

    def entropy(self) -> Tensor:
        return 0.5 + 0.5 * math.log(2 * math.pi) + torch.log(self.scale)

    @property
    def _natural_params(self) -> tuple[Tensor, Tensor]:
        precision = self.scale.pow(2).reciprocal()
        return self.loc / self.scale.pow(2), -0.5 * precision

    def _log_normalizer(self, x: Tensor, y: Tensor) -> Tensor:
        return -0.25 * x.pow(2) / y + 0.5 * torch.log(-math.pi / y)


class Laplace(_LocationScale):
    """Two exponentials back to back, density exp(-|x - loc| / scale)."""

    @property
    def variance(self) -> Tensor:
        return 2 * self.scale.pow(2)

    @property
    def stddev(self) -> Tensor:
        return math.sqrt(2) * self.scale

    def rsample(self, sample_shape=()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        limits = torch.finfo(self.loc.dtype)
        u = self.loc.new_empty(shape).uniform_(limits.eps - 1, 1)
        return self.loc - self.scale * u.sign() * torch.log1p(-u.abs())

    def log_prob(self, value: Tensor) -> Tensor:
        distance = torch.abs(self._validated(value) - self.loc)
        return -torch.log(2 * self.scale) - distance / self.scale

    def cdf(self, value: Tensor) -> Tensor:
        off = self._validated(value) - self.loc
        return 0.5 - 0.5 * off.sign() * torch.expm1(-off.abs() / self.scale)

    def icdf(self, value: Tensor) -> Tensor:
        term = value - 0.5
        return self.loc - self.scale * term.sign() * torch.log1p(-2 * term.abs())

    def entropy(self) -> Tensor:
        return 1 + torch.log(2 * self.scale)


class Cauchy(_LocationScale):
    """The ratio of two centred normals, scaled and shifted: no moments."""

    @property
    def mean(self) -> Tensor:
        return torch.full_like(self.loc, nan)

    @property
    def variance(self) -> Tensor:
        return torch.full_like(self.loc, inf)

    stddev = Distribution.stddev

    def rsample(self, sample_shape=()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        eps = self.loc.new_empty(shape).cauchy_()
        return self.loc + eps * self.scale

    def log_prob(self, value: Tensor) -> Tensor:
        z = (self._validated(value) - self.loc) / self.scale
        return -math.log(math.pi) - self.scale.log() - (z**2).log1p()

    def cdf(self, value: Tensor) -> Tensor:
        z = (self._validated(value) - self.loc) / self.scale
        return torch.atan(z) / math.pi + 0.5

    def icdf(self, value: Tensor) -> Tensor:
        return torch.tan(math.pi * (value - 0.5)) * self.scale + self.loc

    def entropy(self) -> Tensor:
        return math.log(4 * math.pi) + self.scale.log()


class VonMises(Centered):
    """Angles with a density proportional to exp(concentration cos(x - loc)).

    Mean and variance are those of points on the circle. Computed in double
    precision where draws are rejected or accepted.
    """

    arg_constraints = {"loc": constraints.real, "concentration": constraints.positive}
    support = constraints.real
    has_rsample = False

    def __init__(self, loc, concentration, validate_args=None) -> None:
        self.loc, self.concentration = broadcast_all(loc, concentration)
        super().__init__(self.loc.shape, validate_args=validate_args)

    @property
    def variance(self) -> Tensor:
        """1 less the length of the mean of the points on the circle."""
        k = self.concentration
        return 1 - torch.special.i1e(k) / torch.special.i0e(k)

    def log_prob(self, value: Tensor) -> Tensor:
        value, k = self._validated(value), self.concentration
        # I0 is scaled by exp(-k), which does not overflow.
        return (
            k * (torch.cos(value - self.loc) - 1)
            - math.log(2 * math.pi)
            - torch.special.i0e(k).log()
        )

    def _envelope(self) -> Tensor:
        """The parameter of the wrapped Cauchy that proposals are of."""
        k = self.concentration.double()
        tau = 1 + (1 + 4 * k**2).sqrt()
        rho = (tau - (2 * tau).sqrt()) / (2 * k)
        exact = (1 + rho**2) / (2 * rho)
        # The first terms of the series: the difference above cancels.
        return torch.where(k < 1e-5, 1 / k + k, exact)

    @torch.no_grad()
    def sample(self, sample_shape=()) -> Tensor:
        """Draws by rejection (Best and Fisher 1979)."""
        shape = self._extended_shape(sample_shape)
        loc = self.loc.double().expand(shape)
        k = self.concentration.double().expand(shape)
        r = self._envelope().expand(shape)
        x = torch.empty(shape, dtype=loc.dtype, device=loc.device)
        done = torch.zeros(shape, dtype=torch.bool, device=loc.device)
        while not done.all():
            u = torch.rand((3,) + shape, dtype=loc.dtype, device=loc.device)
            z = torch.cos(math.pi * u[0])
            f = (1 + r * z) / (r + z)
            c = k * (r - f)
            accept = (c * (2 - c) - u[1] > 0) | ((c / u[1]).log() + 1 - c >= 0)
            angle = (u[2] - 0.5).sign() * f.acos()
            x, done = torch.where(accept, angle, x), done | accept
        x = (x + math.pi + loc) % (2 * math.pi) - math.pi
        return x.to(self.loc.dtype)
