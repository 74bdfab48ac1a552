"""Distributions of functions of what another one draws."""

from __future__ import annotations

from .. import Size, Tensor, no_grad
from . import constraints
from .distribution import Distribution
from .independent import Independent
from .transforms import ComposeTransform, Transform
from .utils import _sum_rightmost

__all__ = ["TransformedDistribution"]


class TransformedDistribution(Distribution):
    """Distribution of what `transforms`, in order, make of another one's
    draws.

    log_prob(y) is that of x, the inverse of y, less log |dy / dx|. Batch and
    event shapes follow from the transforms' domains and codomains: the base
    is expanded, or its batch dimensions are made events, where those ask so.
    """

    arg_constraints: dict[str, constraints.Constraint] = {}

    def __init__(
        self,
        base_distribution: Distribution,
        transforms: Transform | list[Transform],
        validate_args: bool | None = None,
    ) -> None:
        if isinstance(transforms, Transform):
            transforms = [transforms]
        elif not isinstance(transforms, list):
            raise ValueError(
                f"transforms must be a Transform or list, but was {transforms}"
            )
        elif not all(isinstance(t, Transform) for t in transforms):
            raise ValueError("transforms must be a Transform or a list of Transforms")
        self.transforms = transforms
        whole = ComposeTransform(transforms)
        taken, given = whole.domain.event_dim, whole.codomain.event_dim
        base_event_dim = len(base_distribution.event_shape)
        shape = base_distribution.batch_shape + base_distribution.event_shape
        if len(shape) < taken:
            raise ValueError(
                "base_distribution needs to have shape with size at least "
                f"{taken}, but got {shape}."
            )
        result = whole.forward_shape(shape)
        needed = whole.inverse_shape(result)
        if needed != shape:
            batch = needed[: len(needed) - base_event_dim]
            base_distribution = base_distribution.expand(batch)
        if taken > base_event_dim:
            base_distribution = Independent(base_distribution, taken - base_event_dim)
        self.base_dist = base_distribution
        cut = len(result) - max(given, base_event_dim + given - taken)
        super().__init__(result[:cut], result[cut:], validate_args=validate_args)

    def _batch_of_part(self, name: str, batch_shape: Size) -> Size:
        shape = batch_shape + self.event_shape
        for transform in reversed(self.transforms):
            shape = transform.inverse_shape(shape)
        return shape[: len(shape) - len(self.base_dist.event_shape)]

    @constraints.dependent_property(is_discrete=False)
    def support(self):
        if not self.transforms:
            return self.base_dist.support
        support = self.transforms[-1].codomain
        missing = len(self.event_shape) - support.event_dim
        if missing > 0:
            support = constraints.independent(support, missing)
        return support

    @property
    def has_rsample(self) -> bool:
        return self.base_dist.has_rsample

    def _forward(self, x: Tensor) -> Tensor:
        for transform in self.transforms:
            x = transform(x)
        return x

    def sample(self, sample_shape=()) -> Tensor:
        """Draws without gradients, by the base's `sample`."""
        with no_grad():
            return self._forward(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape=()) -> Tensor:
        return self._forward(self.base_dist.rsample(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        y, event_dim = self._validated(value), len(self.event_shape)
        log_prob = 0.0
        for t in reversed(self.transforms):
            x = t.inv(y)
            event_dim += t.domain.event_dim - t.codomain.event_dim
            log_prob = log_prob - _sum_rightmost(
                t.log_abs_det_jacobian(x, y), event_dim - t.domain.event_dim
            )
            y = x
        return log_prob + _sum_rightmost(
            self.base_dist.log_prob(y), event_dim - len(self.base_dist.event_shape)
        )

    def _monotonize_cdf(self, value: Tensor) -> Tensor:
        """1 - value where the transforms fall together, else value."""
        sign = 1
        for transform in self.transforms:
            sign = sign * transform.sign
        if isinstance(sign, int) and sign == 1:
            return value
        return sign * (value - 0.5) + 0.5

    def cdf(self, value: Tensor) -> Tensor:
        for transform in self.transforms[::-1]:
            value = transform.inv(value)
        if self._validate_args:
            self.base_dist._validate_sample(value)
        return self._monotonize_cdf(self.base_dist.cdf(value))

    def icdf(self, value: Tensor) -> Tensor:
        return self._forward(self.base_dist.icdf(self._monotonize_cdf(value)))
