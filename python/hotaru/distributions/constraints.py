"""Sets that values lie in: `constraint.check(value)`, one bool per event.

An event is made of the last `event_dim` dimensions of a value; `is_discrete`
says whether the set is one of separate points. Constraints of distributions'
parameters and supports may depend on other parameters: `dependent`.
"""

from __future__ import annotations

import hotaru as torch

__all__ = [
    "Constraint",
    "MixtureSameFamilyConstraint",
    "boolean",
    "cat",
    "corr_cholesky",
    "dependent",
    "dependent_property",
    "greater_than",
    "greater_than_eq",
    "half_open_interval",
    "independent",
    "integer_interval",
    "interval",
    "is_dependent",
    "less_than",
    "lower_cholesky",
    "lower_triangular",
    "multinomial",
    "nonnegative",
    "nonnegative_integer",
    "one_hot",
    "positive",
    "positive_definite",
    "positive_integer",
    "positive_semidefinite",
    "real",
    "real_vector",
    "simplex",
    "square",
    "stack",
    "symmetric",
    "unit_interval",
]


class Constraint:
    """A set. `check(value)` tells for each event of `value` if it is inside."""

    is_discrete = False
    event_dim = 0
    # Attributes that the text shows, which are the arguments, too.
    _shown: tuple[str, ...] = ()

    def check(self, value):
        raise NotImplementedError

    def __repr__(self) -> str:
        shown = ", ".join(f"{n}={getattr(self, n)}" for n in self._shown)
        return f"{type(self).__name__[1:]}({shown})"


class _Dependent(Constraint):
    """A set that only other variables determine."""

    def __init__(self, *, is_discrete=NotImplemented, event_dim=NotImplemented) -> None:
        self._is_discrete = is_discrete
        self._event_dim = event_dim
        super().__init__()

    def _known(self, name: str):
        value = getattr(self, "_" + name)
        if value is NotImplemented:
            raise NotImplementedError(f".{name} cannot be determined statically")
        return value

    @property
    def is_discrete(self) -> bool:
        return self._known("is_discrete")

    @property
    def event_dim(self) -> int:
        return self._known("event_dim")

    def _told(self, given: dict) -> dict:
        """Returns what is known, the given ones before this one's."""
        mine = {"is_discrete": self._is_discrete, "event_dim": self._event_dim}
        return {**mine, **given}

    def __call__(self, **given):
        """The same with `is_discrete` or `event_dim` told."""
        return _Dependent(**self._told(given))

    def check(self, value):
        raise ValueError("Cannot determine validity of dependent constraint")


class _DependentProperty(property, _Dependent):
    """A property of a distribution that gives a constraint.

    On the class it is a dependent constraint. A decorator, with or without
    arguments `is_discrete` and `event_dim`.
    """

    def __init__(
        self, fn=None, *, is_discrete=NotImplemented, event_dim=NotImplemented
    ) -> None:
        super().__init__(fn)
        self._is_discrete = is_discrete
        self._event_dim = event_dim

    def __call__(self, fn):
        return _DependentProperty(
            fn, is_discrete=self._is_discrete, event_dim=self._event_dim
        )


def is_dependent(constraint) -> bool:
    """True if it is a constraint that other variables determine."""
    return isinstance(constraint, _Dependent)


def _need_dims(value, event_dim: int) -> None:
    if value.dim() < event_dim:
        raise ValueError(f"Expected value.dim() >= {event_dim} but got {value.dim()}")


class _IndependentConstraint(Constraint):
    """The last `reinterpreted_batch_ndims` batch dimensions are one event."""

    def __init__(self, base_constraint, reinterpreted_batch_ndims) -> None:
        self.base_constraint = base_constraint
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    @property
    def is_discrete(self) -> bool:
        return self.base_constraint.is_discrete

    @property
    def event_dim(self) -> int:
        return self.base_constraint.event_dim + self.reinterpreted_batch_ndims

    def check(self, value):
        result = self.base_constraint.check(value)
        kept = result.dim() - self.reinterpreted_batch_ndims
        if kept < 0:
            _need_dims(value, self.event_dim)
        return result.reshape(result.shape[:kept] + (-1,)).all(-1)

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__[1:]}({self.base_constraint!r}, "
            f"{self.reinterpreted_batch_ndims})"
        )


class MixtureSameFamilyConstraint(Constraint):
    """Values inside the support of every component of a mixture."""

    def __init__(self, base_constraint) -> None:
        if not isinstance(base_constraint, Constraint):
            raise AssertionError(
                "base_constraint must be a Constraint, got "
                f"{type(base_constraint).__name__}"
            )
        self.base_constraint = base_constraint

    is_discrete = _IndependentConstraint.is_discrete

    @property
    def event_dim(self) -> int:
        return self.base_constraint.event_dim

    def check(self, value):
        inside = self.base_constraint.check(value.unsqueeze(-1 - self.event_dim))
        _need_dims(value, self.event_dim)
        kept = value.dim() - self.event_dim
        return inside.reshape(inside.shape[:kept] + (-1,)).all(-1)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_constraint!r})"


class _Bounded(Constraint):
    """Numbers between bounds, which are arguments in the order shown."""

    def __init__(self, *bounds, **named) -> None:
        given = dict(zip(self._shown, bounds))
        if (
            len(bounds) > len(self._shown)
            or given.keys() & named.keys()
            or set(self._shown) != {*given, *named}
        ):
            raise TypeError(f"{type(self).__name__}() takes {', '.join(self._shown)}")
        self.__dict__.update(given, **named)

    def check(self, value):
        inside = self._inside(value, *(getattr(self, n) for n in self._shown))
        return (value % 1 == 0) & inside if self.is_discrete else inside


def _bounded(name: str, inside, *shown: str, integer: bool = False) -> type[_Bounded]:
    members = {
        "_shown": shown,
        "_inside": staticmethod(inside),
        "is_discrete": integer,
        "__module__": __name__,
    }
    return type(name, (_Bounded,), members)


_GreaterThan = _bounded("_GreaterThan", lambda v, low: low < v, "lower_bound")
_GreaterThanEq = _bounded("_GreaterThanEq", lambda v, low: low <= v, "lower_bound")
_LessThan = _bounded("_LessThan", lambda v, high: v < high, "upper_bound")
_Interval = _bounded(
    "_Interval",
    lambda v, low, high: (low <= v) & (v <= high),
    "lower_bound",
    "upper_bound",
)
_HalfOpenInterval = _bounded(
    "_HalfOpenInterval",
    lambda v, low, high: (low <= v) & (v < high),
    "lower_bound",
    "upper_bound",
)
_IntegerInterval = _bounded(
    "_IntegerInterval", _Interval._inside, *_Interval._shown, integer=True
)
_IntegerLessThan = _bounded(
    "_IntegerLessThan", lambda v, high: v <= high, "upper_bound", integer=True
)
_IntegerGreaterThan = _bounded(
    "_IntegerGreaterThan", lambda v, low: v >= low, "lower_bound", integer=True
)


def _lower_triangular(value):
    return (value.tril() == value).flatten(-2).all(-1)


def _lower_cholesky(value):
    positive_diagonal = (value.diagonal(dim1=-2, dim2=-1) > 0).all(-1)
    return _lower_triangular(value) & positive_diagonal


def _corr_cholesky(value):
    # Norms of n squares are off by rounding of each.
    tolerance = torch.finfo(value.dtype).eps * value.size(-1) * 10
    norms = torch.linalg.norm(value.detach(), dim=-1)
    unit_rows = ((norms - 1).abs() <= tolerance).all(-1)
    return _lower_cholesky(value) & unit_rows


def _square(value):
    rows, columns = value.shape[-2:]
    return torch.full(
        value.shape[:-2], rows == columns, dtype=torch.bool, device=value.device
    )


def _symmetric(value):
    inside = _square(value)
    if not inside.all():
        return inside
    return torch.isclose(value, value.mT, atol=1e-6).all(-2).all(-1)


def _if_symmetric(test):
    """The test where all are symmetric; else what says which are not."""

    def inside(value):
        symmetric = _symmetric(value)
        return test(value) if symmetric.all() else symmetric

    return inside


def _set(name: str, inside, event_dim: int = 0, discrete: bool = False):
    """The class of a set without arguments."""
    members = {
        "check": lambda self, value: inside(value),
        "event_dim": event_dim,
        "is_discrete": discrete,
        "__module__": __name__,
    }
    return type(name, (Constraint,), members)


_Boolean = _set("_Boolean", lambda v: (v == 0) | (v == 1), discrete=True)
_OneHot = _set(
    "_OneHot",
    lambda v: ((v == 0) | (v == 1)).all(-1) & v.sum(-1).eq(1),
    event_dim=1,
    discrete=True,
)
_Real = _set("_Real", lambda v: v == v)  # all but NaN
_Simplex = _set(
    "_Simplex", lambda v: (v >= 0).all(-1) & ((v.sum(-1) - 1).abs() < 1e-6), event_dim=1
)
_LowerTriangular = _set("_LowerTriangular", _lower_triangular, 2)
_LowerCholesky = _set("_LowerCholesky", _lower_cholesky, 2)
_CorrCholesky = _set("_CorrCholesky", _corr_cholesky, 2)
_Square = _set("_Square", _square, 2)
_Symmetric = _set("_Symmetric", _symmetric, 2)
_PositiveSemidefinite = _set(
    "_PositiveSemidefinite",
    _if_symmetric(lambda v: torch.linalg.eigvalsh(v).ge(0).all(-1)),
    2,
)
_PositiveDefinite = _set(
    "_PositiveDefinite",
    _if_symmetric(lambda v: torch.linalg.cholesky_ex(v).info.eq(0)),
    2,
)


class _Multinomial(Constraint):
    """Counts that sum up to at most `upper_bound`."""

    is_discrete = True
    event_dim = 1

    def __init__(self, upper_bound) -> None:
        self.upper_bound = upper_bound

    def check(self, x):
        return (x >= 0).all(-1) & (x.sum(-1) <= self.upper_bound)


class _Joined(Constraint):
    """One constraint for each part of a value along a dimension."""

    def __init__(self, cseq, dim: int = 0) -> None:
        if not all(isinstance(c, Constraint) for c in cseq):
            raise AssertionError("All elements of cseq must be Constraint instances")
        self.cseq = list(cseq)
        self.dim = dim

    @property
    def is_discrete(self) -> bool:
        return any(c.is_discrete for c in self.cseq)

    def _checked(self, value, parts) -> list:
        return [c.check(part) for c, part in zip(self.cseq, parts(value))]

    def _need_dim(self, value) -> None:
        if not -value.dim() <= self.dim < value.dim():
            raise AssertionError(
                f"dim {self.dim} out of range for value with {value.dim()} dimensions"
            )


class _Cat(_Joined):
    """Parts are slices, of the lengths given (1 each)."""

    def __init__(self, cseq, dim: int = 0, lengths=None) -> None:
        super().__init__(cseq, dim)
        self.lengths = list(lengths or [1] * len(self.cseq))
        if len(self.lengths) != len(self.cseq):
            raise AssertionError(
                f"lengths ({len(self.lengths)}) must match cseq ({len(self.cseq)})"
            )

    @property
    def event_dim(self) -> int:
        return max(c.event_dim for c in self.cseq)

    def check(self, value):
        self._need_dim(value)
        return torch.cat(self._checked(value, self._slices), self.dim)

    def _slices(self, value):
        start = 0
        for length in self.lengths:
            yield value.narrow(self.dim, start, length)
            start += length


class _Stack(_Joined):
    """Parts are those that `unbind` gives."""

    @property
    def event_dim(self) -> int:
        dim = max(c.event_dim for c in self.cseq)
        return dim + 1 if self.dim + dim < 0 else dim

    def check(self, value):
        self._need_dim(value)
        checked = self._checked(value, lambda v: v.unbind(self.dim))
        return torch.stack(checked, self.dim)


dependent = _Dependent()
dependent_property = _DependentProperty
independent = _IndependentConstraint
boolean = _Boolean()
one_hot = _OneHot()
nonnegative_integer = _IntegerGreaterThan(0)
positive_integer = _IntegerGreaterThan(1)
integer_interval = _IntegerInterval
real = _Real()
real_vector = independent(real, 1)
positive = _GreaterThan(0.0)
nonnegative = _GreaterThanEq(0.0)
greater_than = _GreaterThan
greater_than_eq = _GreaterThanEq
less_than = _LessThan
multinomial = _Multinomial
unit_interval = _Interval(0.0, 1.0)
interval = _Interval
half_open_interval = _HalfOpenInterval
simplex = _Simplex()
lower_triangular = _LowerTriangular()
lower_cholesky = _LowerCholesky()
corr_cholesky = _CorrCholesky()
square = _Square()
symmetric = _Symmetric()
positive_semidefinite = _PositiveSemidefinite()
positive_definite = _PositiveDefinite()
cat = _Cat
stack = _Stack
