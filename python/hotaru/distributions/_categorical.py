"""Choices of one among n, as an index, as a vector, counted, or relaxed."""

from __future__ import annotations

import hotaru as torch

from .. import Size, Tensor, inf, nan
from ..nn.functional import one_hot
from . import constraints
from ._binary import Binomial
from ._choices import ProbsOrLogits
from .distribution import Distribution
from .utils import broadcast_all


class _AmongN(ProbsOrLogits):
    """Normalizes probabilities or logits along the last dimension."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    _binary = False

    def _normalize(self, probs, logits) -> Size:
        """Keeps the one that is given; its shape without the last size."""
        value = self._only_one(probs, logits)
        if value.dim() < 1:
            name = "`probs`" if logits is None else "`logits`"
            raise ValueError(f"{name} parameter must be at least one-dimensional.")
        if probs is not None:
            value = value / value.sum(-1, keepdim=True)
        else:
            value = value - value.logsumexp(dim=-1, keepdim=True)
        self._store(probs, value)
        return value.size()[:-1]


class Categorical(_AmongN, Distribution):
    """An index among n, of probability `probs[..., index]`."""

    arg_constraints = _AmongN.arg_constraints
    has_enumerate_support = True

    def __init__(self, probs=None, logits=None, validate_args=None) -> None:
        batch_shape = self._normalize(probs, logits)
        super().__init__(batch_shape, validate_args=validate_args)

    @property
    def _num_events(self) -> int:
        return self._param.size(-1)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self):
        return constraints.integer_interval(0, self._num_events - 1)

    @property
    def mean(self) -> Tensor:
        return self._param.new_full(self._extended_shape(), nan)

    @property
    def mode(self) -> Tensor:
        return self.probs.argmax(dim=-1)

    @property
    def variance(self) -> Tensor:
        return self._param.new_full(self._extended_shape(), nan)

    def sample(self, sample_shape=()) -> Tensor:
        sample_shape = Size(sample_shape)
        rows = self.probs.reshape(-1, self._num_events)
        drawn = torch.multinomial(rows, sample_shape.numel(), True).T
        return drawn.reshape(self._extended_shape(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        value = self._validated(value).long().unsqueeze(-1)
        value, logits = torch.broadcast_tensors(value, self.logits)
        return logits.gather(-1, value[..., :1]).squeeze(-1)

    def entropy(self) -> Tensor:
        # 0 log(0) is 0.
        finite = self.logits.clamp(min=torch.finfo(self.logits.dtype).min)
        return -(finite * self.probs).sum(-1)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        values = torch.arange(
            self._num_events, dtype=torch.long, device=self._param.device
        )
        return self._all_values(values, expand)


class _OfCategorical(Distribution):
    """Made of a categorical distribution, whose parameters it has."""

    arg_constraints = _AmongN.arg_constraints
    _base_name = "_categorical"

    @property
    def _base(self):
        return getattr(self, self._base_name)

    @property
    def logits(self) -> Tensor:
        return self._base.logits

    @property
    def probs(self) -> Tensor:
        return self._base.probs

    @property
    def _param(self) -> Tensor:
        return self._base._param

    @property
    def param_shape(self) -> Size:
        return self._base.param_shape

    def _new(self, *args, **kwargs) -> Tensor:
        return self._base._new(*args, **kwargs)


class OneHotCategorical(_OfCategorical):
    """A vector of n with a 1 at the index that is chosen, else 0."""

    arg_constraints = _AmongN.arg_constraints
    support = constraints.one_hot
    has_enumerate_support = True

    def __init__(self, probs=None, logits=None, validate_args=None) -> None:
        self._categorical = Categorical(probs, logits)
        super().__init__(
            self._categorical.batch_shape,
            self._categorical.param_shape[-1:],
            validate_args=validate_args,
        )

    @property
    def mean(self) -> Tensor:
        return self.probs

    @property
    def mode(self) -> Tensor:
        return self._vectors(self.probs.argmax(dim=-1))

    @property
    def variance(self) -> Tensor:
        return self.probs * (1 - self.probs)

    def _vectors(self, indices: Tensor) -> Tensor:
        return one_hot(indices, self._event_shape[-1]).to(self.probs)

    def sample(self, sample_shape=()) -> Tensor:
        return self._vectors(self._categorical.sample(Size(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        index = self._validated(value).max(-1)[1]
        return self._categorical.log_prob(index)

    def entropy(self) -> Tensor:
        return self._categorical.entropy()

    def enumerate_support(self, expand: bool = True) -> Tensor:
        n, batch = self._event_shape[0], self._batch_shape
        values = torch.eye(n, dtype=self._param.dtype, device=self._param.device)
        values = values.view((n,) + (1,) * len(batch) + (n,))
        return values.expand((n,) + batch + (n,)) if expand else values


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """With gradients that are those of the probabilities (Bengio 2013)."""

    has_rsample = True

    def rsample(self, sample_shape=()) -> Tensor:
        samples = self.sample(sample_shape)
        return samples + (self.probs - self.probs.detach())


class Multinomial(_OfCategorical):
    """How often each of n is chosen in `total_count` independent choices.

    One `total_count`, an int, for the whole batch.
    """

    arg_constraints = _AmongN.arg_constraints

    def __init__(
        self, total_count: int = 1, probs=None, logits=None, validate_args=None
    ) -> None:
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported")
        self.total_count = total_count
        self._categorical = Categorical(probs=probs, logits=logits)
        super().__init__(
            self._categorical.batch_shape,
            self._categorical.param_shape[-1:],
            validate_args=validate_args,
        )

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self):
        return constraints.multinomial(self.total_count)

    @property
    def mean(self) -> Tensor:
        return self.probs * self.total_count

    @property
    def variance(self) -> Tensor:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape=()) -> Tensor:
        sample_shape = Size(sample_shape)
        chosen = self._categorical.sample((self.total_count,) + sample_shape)
        chosen = chosen.movedim(0, -1)
        counts = self.probs.new_zeros(self._extended_shape(sample_shape))
        counts.scatter_add_(-1, chosen, torch.ones_like(chosen).to(counts))
        return counts

    def log_prob(self, value: Tensor) -> Tensor:
        value = self._validated(value)
        logits, value = broadcast_all(self.logits, value)
        ways = torch.lgamma(value.sum(-1) + 1) - torch.lgamma(value + 1).sum(-1)
        # Impossible choices that did not happen count nothing.
        logits = logits.masked_fill((value == 0) & (logits == -inf), 0)
        return ways + (logits * value).sum(-1)

    def entropy(self) -> Tensor:
        n = torch.tensor(self.total_count)
        counts = self._categorical.param_shape
        # Each count is binomial: the mean of the log of its factorial.
        each = Binomial(self.total_count, self.probs.reshape(counts))
        values = each.enumerate_support(expand=False)[1:]
        weights = torch.lgamma(values + 1)
        log_factorials = (each.log_prob(values).exp() * weights).sum([0, -1])
        choices = n * self._categorical.entropy() - torch.lgamma(n + 1)
        return choices + log_factorials
