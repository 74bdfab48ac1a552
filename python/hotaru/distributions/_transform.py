"""Maps with an inverse and the logarithm of their Jacobian's determinant."""

from __future__ import annotations

import operator
import weakref
from functools import reduce

from .. import Size, Tensor, zeros_like
from . import constraints
from .utils import _sum_rightmost

_TOO_FEW = "Too few dimensions on input"


class Transform:
    """A map from `domain` to `codomain`, applied by a call.

    `inv` is the inverse, which `bijective` transforms have exactly and others
    up to a choice. `sign` tells whether a bijection of numbers rises (1) or
    falls (-1). With `cache_size=1` the last pair of argument and result is
    kept, so that inverting a result gives the very argument: this saves work
    and, where inverses are not stable, accuracy.
    """

    bijective = False
    domain: constraints.Constraint
    codomain: constraints.Constraint
    # Arguments that equal transforms have in common; None: only itself.
    _compared: tuple[str, ...] | None = None

    def __init__(self, cache_size: int = 0) -> None:
        self._cache_size = cache_size
        self._inv = None
        if cache_size not in (0, 1):
            raise ValueError("cache_size must be 0 or 1")
        self._cached_x_y = None, None
        super().__init__()

    def __getstate__(self) -> dict:
        """Returns what is pickled: the inverse is made again when needed."""
        return {**self.__dict__, "_inv": None}

    @property
    def event_dim(self) -> int:
        if self.domain.event_dim == self.codomain.event_dim:
            return self.domain.event_dim
        raise ValueError("Please use either .domain.event_dim or .codomain.event_dim")

    @property
    def inv(self) -> Transform:
        """The inverse; the inverse of that is this transform."""
        inverse = self._inv() if self._inv is not None else None
        if inverse is None:
            inverse = _InverseTransform(self)
            self._inv = weakref.ref(inverse)
        return inverse

    @property
    def sign(self) -> int:
        raise NotImplementedError

    def _arguments(self) -> tuple | None:
        """Constructor's arguments but cache_size; None: not known."""
        return () if type(self).__init__ is Transform.__init__ else None

    def with_cache(self, cache_size: int = 1) -> Transform:
        """The same transform with a cache of that size."""
        if self._cache_size == cache_size:
            return self
        arguments = self._arguments()
        if arguments is None:
            raise NotImplementedError(f"{type(self)}.with_cache is not implemented")
        return type(self)(*arguments, cache_size=cache_size)

    def __eq__(self, other: object) -> bool:
        if self is other or self._compared is None:
            return self is other
        return isinstance(other, type(self)) and all(
            _same(getattr(self, name), getattr(other, name)) for name in self._compared
        )

    def __ne__(self, other: object) -> bool:
        return not self.__eq__(other)

    def __call__(self, x: Tensor) -> Tensor:
        if self._cache_size == 0:
            return self._call(x)
        known, y = self._cached_x_y
        if x is not known:
            y = self._call(x)
            self._cached_x_y = x, y
        return y

    def _inv_call(self, y: Tensor) -> Tensor:
        if self._cache_size == 0:
            return self._inverse(y)
        x, known = self._cached_x_y
        if y is not known:
            x = self._inverse(y)
            self._cached_x_y = x, y
        return x

    def _call(self, x: Tensor) -> Tensor:
        raise NotImplementedError

    def _inverse(self, y: Tensor) -> Tensor:
        raise NotImplementedError

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        """The log of |dy / dx| of each event of `x`, whose result is `y`."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return type(self).__name__ + "()"

    def forward_shape(self, shape):
        """The shape of results for arguments of `shape`."""
        return shape

    def inverse_shape(self, shape):
        """The shape of arguments for results of `shape`."""
        return shape


def _same(a, b) -> bool:
    if isinstance(a, Tensor) or isinstance(b, Tensor):
        return a is b or bool((a == b).all())
    return a == b


class _InverseTransform(Transform):
    """The inverse of a transform, which it keeps alive."""

    _compared = ("_inv",)

    def __init__(self, transform: Transform) -> None:
        super().__init__(cache_size=transform._cache_size)
        self._inv = transform

    def __getstate__(self) -> dict:
        return self.__dict__

    @constraints.dependent_property(is_discrete=False)
    def domain(self):
        return self._inv.codomain

    @constraints.dependent_property(is_discrete=False)
    def codomain(self):
        return self._inv.domain

    @property
    def bijective(self) -> bool:
        return self._inv.bijective

    @property
    def sign(self) -> int:
        return self._inv.sign

    @property
    def inv(self) -> Transform:
        return self._inv

    def with_cache(self, cache_size: int = 1) -> Transform:
        return self._inv.with_cache(cache_size).inv

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._inv!r})"

    def __call__(self, x: Tensor) -> Tensor:
        return self._inv._inv_call(x)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -self._inv.log_abs_det_jacobian(y, x)

    def forward_shape(self, shape):
        return self._inv.inverse_shape(shape)

    def inverse_shape(self, shape):
        return self._inv.forward_shape(shape)


def _widened(constraint, event_dim: int):
    """The constraint with events of at least `event_dim` dimensions."""
    missing = event_dim - constraint.event_dim
    return constraints.independent(constraint, missing) if missing else constraint


def _end_of_chain(parts, near: str, far: str):
    """The set of the last part's `far` side, its events as wide as the chain's.

    `parts` are in the order in which one walks towards that side.
    """
    if not parts:
        return constraints.real
    dim = getattr(parts[0], near).event_dim
    for part in parts:
        start, end = getattr(part, near), getattr(part, far)
        dim = max(dim + end.event_dim - start.event_dim, end.event_dim)
    return _widened(getattr(parts[-1], far), dim)


class ComposeTransform(Transform):
    """Transforms applied one after the other, the first of `parts` first."""

    _compared = ("parts",)

    def __init__(self, parts: list[Transform], cache_size: int = 0) -> None:
        if cache_size:
            parts = [part.with_cache(cache_size) for part in parts]
        super().__init__(cache_size=cache_size)
        self.parts = parts

    def _arguments(self) -> tuple:
        return (self.parts,)

    @constraints.dependent_property(is_discrete=False)
    def domain(self):
        return _end_of_chain(self.parts[::-1], "codomain", "domain")

    @constraints.dependent_property(is_discrete=False)
    def codomain(self):
        return _end_of_chain(self.parts, "domain", "codomain")

    @property
    def bijective(self) -> bool:
        return all(part.bijective for part in self.parts)

    @property
    def sign(self) -> int:
        return reduce(operator.mul, (part.sign for part in self.parts), 1)

    @property
    def inv(self) -> Transform:
        inverse = self._inv() if self._inv is not None else None
        if inverse is None:
            inverse = ComposeTransform([part.inv for part in self.parts[::-1]])
            self._inv = weakref.ref(inverse)
            inverse._inv = weakref.ref(self)
        return inverse

    def __call__(self, x: Tensor) -> Tensor:
        for part in self.parts:
            x = part(x)
        return x

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        if not self.parts:
            return zeros_like(x)
        dim, terms = self.domain.event_dim, []
        for i, part in enumerate(self.parts):
            last = i == len(self.parts) - 1
            result = y if last else part(x)
            term = part.log_abs_det_jacobian(x, result)
            terms.append(_sum_rightmost(term, dim - part.domain.event_dim))
            dim += part.codomain.event_dim - part.domain.event_dim
            x = result
        return reduce(operator.add, terms)

    def forward_shape(self, shape):
        for part in self.parts:
            shape = part.forward_shape(shape)
        return shape

    def inverse_shape(self, shape):
        for part in reversed(self.parts):
            shape = part.inverse_shape(shape)
        return shape

    def __repr__(self) -> str:
        parts = ",\n    ".join(repr(part) for part in self.parts)
        return f"{type(self).__name__}(\n    {parts}\n)"


identity_transform = ComposeTransform([])


class IndependentTransform(Transform):
    """A transform whose events have that many more batch dimensions in them.

    Values are the same; `log_abs_det_jacobian` is summed over the dimensions.
    """

    def __init__(
        self,
        base_transform: Transform,
        reinterpreted_batch_ndims: int,
        cache_size: int = 0,
    ) -> None:
        super().__init__(cache_size=cache_size)
        self.base_transform = base_transform.with_cache(cache_size)
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    def _arguments(self) -> tuple:
        return self.base_transform, self.reinterpreted_batch_ndims

    @constraints.dependent_property(is_discrete=False)
    def domain(self):
        return constraints.independent(
            self.base_transform.domain, self.reinterpreted_batch_ndims
        )

    @constraints.dependent_property(is_discrete=False)
    def codomain(self):
        return constraints.independent(
            self.base_transform.codomain, self.reinterpreted_batch_ndims
        )

    @property
    def bijective(self) -> bool:
        return self.base_transform.bijective

    @property
    def sign(self) -> int:
        return self.base_transform.sign

    def _call(self, x: Tensor) -> Tensor:
        if x.dim() < self.domain.event_dim:
            raise ValueError(_TOO_FEW)
        return self.base_transform(x)

    def _inverse(self, y: Tensor) -> Tensor:
        if y.dim() < self.codomain.event_dim:
            raise ValueError(_TOO_FEW)
        return self.base_transform.inv(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return _sum_rightmost(
            self.base_transform.log_abs_det_jacobian(x, y),
            self.reinterpreted_batch_ndims,
        )

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}({self.base_transform!r}, "
            f"{self.reinterpreted_batch_ndims})"
        )

    def forward_shape(self, shape):
        return self.base_transform.forward_shape(shape)

    def inverse_shape(self, shape):
        return self.base_transform.inverse_shape(shape)


class ReshapeTransform(Transform):
    """Events of `in_shape` become events of `out_shape`, elements in order."""

    bijective = True

    def __init__(self, in_shape, out_shape, cache_size: int = 0) -> None:
        self.in_shape = Size(in_shape)
        self.out_shape = Size(out_shape)
        if self.in_shape.numel() != self.out_shape.numel():
            raise ValueError("in_shape, out_shape have different numbers of elements")
        super().__init__(cache_size=cache_size)

    def _arguments(self) -> tuple:
        return self.in_shape, self.out_shape

    @constraints.dependent_property
    def domain(self):
        return constraints.independent(constraints.real, len(self.in_shape))

    @constraints.dependent_property
    def codomain(self):
        return constraints.independent(constraints.real, len(self.out_shape))

    def _call(self, x: Tensor) -> Tensor:
        batch = x.shape[: x.dim() - len(self.in_shape)]
        return x.reshape(batch + self.out_shape)

    def _inverse(self, y: Tensor) -> Tensor:
        batch = y.shape[: y.dim() - len(self.out_shape)]
        return y.reshape(batch + self.in_shape)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return x.new_zeros(x.shape[: x.dim() - len(self.in_shape)])

    def forward_shape(self, shape):
        return _replaced(shape, self.in_shape, self.out_shape)

    def inverse_shape(self, shape):
        return _replaced(shape, self.out_shape, self.in_shape)


def _replaced(shape, old: Size, new: Size):
    """The shape with `new` instead of `old` at its end."""
    if len(shape) < len(old):
        raise ValueError(_TOO_FEW)
    cut = len(shape) - len(old)
    if shape[cut:] != old:
        raise ValueError(f"Shape mismatch: expected {shape[cut:]} but got {old}")
    return shape[:cut] + new
