"""Base of all distributions, with what they promise."""

from __future__ import annotations

import warnings

import hotaru as torch

from .. import Size, Tensor
from .._own_names import is_own
from . import constraints
from .utils import lazy_property

__all__ = ["Distribution"]


class Distribution:
    """A batch of distributions: `batch_shape` of them over `event_shape`.

    `arg_constraints` says what parameters must satisfy, `support` where
    samples lie. With `validate_args` both are checked (ValueError).
    `has_rsample`: samples have gradients in the parameters;
    `has_enumerate_support`: `enumerate_support` gives all values.
    """

    has_rsample = False
    has_enumerate_support = False
    _validate_args = __debug__

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Sets if distributions validate that are not told to or not to."""
        if value not in (True, False):
            raise ValueError
        Distribution._validate_args = value

    def __init__(
        self,
        batch_shape: Size = (),
        event_shape: Size = (),
        validate_args: bool | None = None,
    ) -> None:
        self._batch_shape = Size(batch_shape)
        self._event_shape = Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._check_parameters()
        super().__init__()

    def _check_parameters(self) -> None:
        try:
            table = self.arg_constraints
        except NotImplementedError:
            table = {}
            warnings.warn(
                f"{type(self)} does not define `arg_constraints`. Please set "
                "`arg_constraints = {}` or initialize the distribution with "
                "`validate_args=False` to turn off validation.",
                stacklevel=3,
            )
        for name, constraint in table.items():
            computed = name not in self.__dict__ and isinstance(
                getattr(type(self), name), lazy_property
            )
            if computed or constraints.is_dependent(constraint):
                continue
            value = getattr(self, name)
            if not bool(constraint.check(value).all()):
                raise ValueError(
                    f"Expected parameter {name} ({_told(value)}) of "
                    f"distribution {self!r} to satisfy the constraint "
                    f"{constraint!r}, but found invalid values:\n{value}"
                )

    def expand(self, batch_shape, _instance=None) -> Distribution:
        """The same distributions, their batch expanded to `batch_shape`.

        Parameters are views. NotImplementedError for a subclass that neither
        has the constructor of a class of this package nor this method.
        """
        batch_shape = Size(batch_shape)
        family = self._family()
        if family is None:
            raise NotImplementedError
        new = self._get_checked_instance(family, _instance)
        event_dims = self._event_dims()
        for name, value in self.__dict__.items():
            if isinstance(value, Tensor) and event_dims.get(name) is not None:
                event = value.shape[value.dim() - event_dims[name] :]
                value = value.expand(batch_shape + event)
            elif name in event_dims and event_dims[name] is None:
                continue
            elif isinstance(value, Distribution):
                value = value.expand(self._batch_of_part(name, batch_shape))
            elif name in new.__dict__:
                continue
            new.__dict__[name] = value
        new._batch_shape, new._event_shape = batch_shape, self._event_shape
        new._validate_args = self._validate_args
        return new

    def _batch_of_part(self, name: str, batch_shape: Size) -> Size:
        """The batch shape of a distribution that this one is made of."""
        return batch_shape

    @classmethod
    def _families(cls) -> list[type]:
        """Classes of this package that say what their parameters are."""
        return [
            c
            for c in cls.__mro__
            if _is_ours(c) and c is not Distribution and "arg_constraints" in c.__dict__
        ]

    @classmethod
    def _family(cls) -> type | None:
        """The class of this package that it is, None for one of a user's."""
        ours = next(c for c in cls.__mro__ if _is_ours(c))
        return ours if cls._families() else None

    def _event_dims(self) -> dict[str, int | None]:
        """How many dimensions of each parameter are not of the batch.

        None for what is computed of parameters when needed.
        """
        cls = type(self)
        if "_known_event_dims" not in cls.__dict__:
            dims: dict[str, int | None] = {
                name: None
                for base in cls.__mro__
                for name, value in base.__dict__.items()
                if isinstance(value, lazy_property)
            }
            for base in reversed(self._families()):
                table = base.__dict__["arg_constraints"]
                if isinstance(table, property):
                    table = table.fget(self)
                dims.update((name, c.event_dim) for name, c in table.items())
            cls._known_event_dims = dims
        return cls._known_event_dims

    def _get_checked_instance(self, cls: type, _instance=None):
        if _instance is not None:
            return _instance
        if type(self).__init__ != cls.__init__:
            raise NotImplementedError(
                f"Subclass {type(self).__name__} of {cls.__name__} that "
                "defines a custom __init__ method must also define a custom "
                ".expand() method."
            )
        return self.__new__(type(self))

    @property
    def batch_shape(self) -> Size:
        """The shape over which parameters are batched."""
        return self._batch_shape

    @property
    def event_shape(self) -> Size:
        """The shape of a single sample, without batching."""
        return self._event_shape

    @property
    def arg_constraints(self) -> dict[str, constraints.Constraint]:
        """Constraints that parameters of those names satisfy."""
        raise NotImplementedError

    @property
    def support(self) -> constraints.Constraint | None:
        """The constraint that samples satisfy."""
        raise NotImplementedError

    @property
    def mean(self) -> Tensor:
        raise NotImplementedError

    @property
    def mode(self) -> Tensor:
        raise NotImplementedError(f"{type(self)} does not implement mode")

    @property
    def variance(self) -> Tensor:
        raise NotImplementedError

    @property
    def stddev(self) -> Tensor:
        return self.variance.sqrt()

    def sample(self, sample_shape=()) -> Tensor:
        """Samples of shape `sample_shape + batch_shape + event_shape`."""
        with torch.no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape=()) -> Tensor:
        """Samples whose gradients reach the parameters."""
        raise NotImplementedError

    def sample_n(self, n: int) -> Tensor:
        """Deprecated: `sample((n,))`."""
        warnings.warn(
            "`sample_n(n)` will be deprecated. Use `sample((n,))` instead.",
            FutureWarning,
            stacklevel=2,
        )
        return self.sample(Size((n,)))

    def log_prob(self, value: Tensor) -> Tensor:
        """The logarithm of the density, or of the probability, at `value`."""
        raise NotImplementedError

    def cdf(self, value: Tensor) -> Tensor:
        """The probability of at most `value`."""
        raise NotImplementedError

    def icdf(self, value: Tensor) -> Tensor:
        """The inverse of `cdf`."""
        raise NotImplementedError

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """All values along a new first dimension, for each of the batch.

        With `expand=False` the batch's dimensions are of size 1.
        """
        raise NotImplementedError

    def entropy(self) -> Tensor:
        """The entropy in nats, of shape `batch_shape`."""
        raise NotImplementedError

    def perplexity(self) -> Tensor:
        return torch.exp(self.entropy())

    def _extended_shape(self, sample_shape=()) -> Size:
        return Size(sample_shape) + self._batch_shape + self._event_shape

    def _all_values(self, values: Tensor, expand: bool) -> Tensor:
        """Scalar values, for `enumerate_support`."""
        batch = self._batch_shape
        values = values.view((-1,) + (1,) * len(batch))
        return values.expand((-1,) + batch) if expand else values

    def _validate_sample(self, value: Tensor) -> None:
        """ValueError unless shape and values of a sample are possible."""
        if not isinstance(value, Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        actual = value.size()
        event = actual[len(actual) - len(self._event_shape) :]
        if event != self._event_shape:
            raise ValueError(
                "The right-most size of value must match event_shape: "
                f"{actual} vs {self._event_shape}."
            )
        expected = self._batch_shape + self._event_shape
        for i, j in zip(reversed(actual), reversed(expected)):
            if i != j and 1 not in (i, j):
                raise ValueError(
                    "Value is not broadcastable with batch_shape+event_shape: "
                    f"{actual} vs {expected}."
                )
        try:
            support = self.support
        except NotImplementedError:
            warnings.warn(
                f"{type(self)} does not define `support` to enable sample "
                "validation. Please initialize the distribution with "
                "`validate_args=False` to turn off validation.",
                stacklevel=3,
            )
            return
        if support is None:
            raise AssertionError("support is unexpectedly None")
        if not bool(support.check(value).all()):
            raise ValueError(
                f"Expected value argument ({_told(value)}) to be within the "
                f"support ({support!r}) of the distribution {self!r}, but "
                f"found invalid values:\n{value}"
            )

    def _validated(self, value: Tensor) -> Tensor:
        """The value, which is checked where this one validates."""
        if self._validate_args:
            self._validate_sample(value)
        return value

    def __repr__(self) -> str:
        given = {
            name: self.__dict__[name]
            for name in self.arg_constraints
            if name in self.__dict__
        }
        shown = (
            f"{name}: {value if value.numel() == 1 else value.size()}"
            for name, value in given.items()
        )
        return f"{type(self).__name__}({', '.join(shown)})"


class Centered(Distribution):
    """Distributions whose mean and mode are their parameter `loc`."""

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc


def _is_ours(cls: type) -> bool:
    return is_own(getattr(cls, "__module__", ""), "distributions")


def _told(value) -> str:
    return f"{type(value).__name__} of shape {tuple(value.shape)}"
