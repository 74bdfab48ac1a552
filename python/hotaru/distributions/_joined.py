"""Transforms of parts of a tensor, along one of its dimensions."""

from __future__ import annotations

import hotaru as torch

from .. import Tensor
from . import constraints
from ._transform import Transform
from .utils import _sum_rightmost


class _Joined(Transform):
    def __init__(self, tseq, dim: int, cache_size: int) -> None:
        if not all(isinstance(t, Transform) for t in tseq):
            raise AssertionError("All elements of tseq must be Transform instances")
        super().__init__(cache_size=cache_size)
        self.transforms = [t.with_cache(cache_size) if cache_size else t for t in tseq]
        self.dim = dim

    @property
    def bijective(self) -> bool:
        return all(t.bijective for t in self.transforms)

    def _need(self, value: Tensor, size: int, told: str, name="tensor", short="x"):
        if not -value.dim() <= self.dim < value.dim():
            raise AssertionError(
                f"dim {self.dim} out of range for {name} with {value.dim()} dimensions"
            )
        if value.size(self.dim) != size:
            raise AssertionError(
                f"{short}.size({self.dim}) = {value.size(self.dim)} must "
                f"equal {told} {size}"
            )


class CatTransform(_Joined):
    """Slices along `dim`, of lengths `lengths` (1), a transform for each."""

    def __init__(self, tseq, dim: int = 0, lengths=None, cache_size: int = 0) -> None:
        super().__init__(tseq, dim, cache_size)
        self.lengths = list(lengths or [1] * len(self.transforms))
        if len(self.lengths) != len(self.transforms):
            raise AssertionError(
                f"lengths ({len(self.lengths)}) must match transforms "
                f"({len(self.transforms)})"
            )

    def _arguments(self) -> tuple:
        return self.transforms, self.dim, self.lengths

    @property
    def length(self) -> int:
        return sum(self.lengths)

    @property
    def event_dim(self) -> int:
        return max(t.event_dim for t in self.transforms)

    @constraints.dependent_property
    def domain(self):
        return constraints.cat(
            [t.domain for t in self.transforms], self.dim, self.lengths
        )

    @constraints.dependent_property
    def codomain(self):
        return constraints.cat(
            [t.codomain for t in self.transforms], self.dim, self.lengths
        )

    def _parts(self, value: Tensor):
        return value.split(self.lengths, self.dim)

    def _call(self, x: Tensor) -> Tensor:
        self._need(x, self.length, "length")
        parts = zip(self.transforms, self._parts(x))
        return torch.cat([t(part) for t, part in parts], self.dim)

    def _inverse(self, y: Tensor) -> Tensor:
        self._need(y, self.length, "length", short="y")
        parts = zip(self.transforms, self._parts(y))
        return torch.cat([t.inv(part) for t, part in parts], self.dim)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        self._need(x, self.length, "length", "x", "x")
        self._need(y, self.length, "length", "y", "y")
        terms = []
        for t, u, v in zip(self.transforms, self._parts(x), self._parts(y)):
            term = t.log_abs_det_jacobian(u, v)
            terms.append(_sum_rightmost(term, self.event_dim - t.event_dim))
        # A dimension inside of events is one that the terms have not.
        dim = self.dim - x.dim() if self.dim >= 0 else self.dim
        dim += self.event_dim
        return torch.cat(terms, dim) if dim < 0 else sum(terms)


class StackTransform(_Joined):
    """Transform of what `unbind` along `dim` gives, by one for each."""

    def __init__(self, tseq, dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(tseq, dim, cache_size)

    def _arguments(self) -> tuple:
        return self.transforms, self.dim

    @constraints.dependent_property
    def domain(self):
        return constraints.stack([t.domain for t in self.transforms], self.dim)

    @constraints.dependent_property
    def codomain(self):
        return constraints.stack([t.codomain for t in self.transforms], self.dim)

    def _parts(self, value: Tensor):
        return zip(self.transforms, value.unbind(self.dim))

    def _check(self, value: Tensor, name: str = "tensor", short: str = "x"):
        self._need(value, len(self.transforms), "len(transforms)", name, short)

    def _call(self, x: Tensor) -> Tensor:
        self._check(x)
        return torch.stack([t(p) for t, p in self._parts(x)], self.dim)

    def _inverse(self, y: Tensor) -> Tensor:
        self._check(y, short="y")
        return torch.stack([t.inv(p) for t, p in self._parts(y)], self.dim)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        self._check(x, "x", "x")
        self._check(y, "y", "y")
        terms = [
            t.log_abs_det_jacobian(u, v)
            for (t, u), v in zip(self._parts(x), y.unbind(self.dim))
        ]
        return torch.stack(terms, dim=self.dim)
