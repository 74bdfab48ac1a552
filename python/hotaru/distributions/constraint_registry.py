"""From a constraint to a transform of all numbers into it.

`biject_to(constraint)` gives a bijection, for densities;
`transform_to(constraint)` a map that may be cheaper, or the only one there
is, for optimization. Both take constraints of users: `register`.
"""

from __future__ import annotations

from numbers import Number

from . import constraints, transforms

__all__ = ["ConstraintRegistry", "biject_to", "transform_to"]


class ConstraintRegistry:
    """A table of factories `constraint -> Transform` by constraints' types."""

    def __init__(self) -> None:
        self._registry: dict = {}
        super().__init__()

    def register(self, constraint, factory=None):
        """Adds a factory for a type of constraint, or for that of an object.

        A decorator without `factory`. TypeError for what is no constraint.
        """
        if factory is None:
            return lambda factory: self.register(constraint, factory)
        if isinstance(constraint, constraints.Constraint):
            constraint = type(constraint)
        if not (
            isinstance(constraint, type)
            and issubclass(constraint, constraints.Constraint)
        ):
            raise TypeError(
                "Expected constraint to be either a Constraint subclass or "
                f"instance, but got {constraint}"
            )
        self._registry[constraint] = factory
        return factory

    def __call__(self, constraint) -> transforms.Transform:
        """The transform; NotImplementedError for a type not registered."""
        try:
            factory = self._registry[type(constraint)]
        except KeyError:
            raise NotImplementedError(
                f"Cannot transform {type(constraint).__name__} constraints"
            ) from None
        return factory(constraint)


biject_to = ConstraintRegistry()
transform_to = ConstraintRegistry()


def _half_line(bound: str, direction: int):
    def factory(constraint):
        affine = transforms.AffineTransform(getattr(constraint, bound), direction)
        return transforms.ComposeTransform([transforms.ExpTransform(), affine])

    return factory


def _to_interval(constraint):
    low, high = constraint.lower_bound, constraint.upper_bound
    sigmoid = transforms.SigmoidTransform()
    if all(isinstance(b, Number) for b in (low, high)) and (low, high) == (0, 1):
        return sigmoid
    affine = transforms.AffineTransform(low, high - low)
    return transforms.ComposeTransform([sigmoid, affine])


def _always(transform: type):
    return lambda constraint: transform()


_ABOVE = _half_line("lower_bound", 1)
_CORRELATION = _always(transforms.CorrCholeskyTransform)
_DEFINITE = _always(transforms.PositiveDefiniteTransform)
# Constraint; bijection, or None; transform, or None.
for _constraint, _bijection, _transform in (
    (constraints.real, *[lambda c: transforms.identity_transform] * 2),
    (constraints.less_than, *[_half_line("upper_bound", -1)] * 2),
    (constraints.interval, _to_interval, _to_interval),
    (constraints.half_open_interval, _to_interval, _to_interval),
    (
        constraints.simplex,
        _always(transforms.StickBreakingTransform),
        _always(transforms.SoftmaxTransform),
    ),
    (constraints.lower_cholesky, None, _always(transforms.LowerCholeskyTransform)),
    (constraints.positive_definite, None, _DEFINITE),
    (constraints.positive_semidefinite, None, _DEFINITE),
    (constraints.corr_cholesky, _CORRELATION, _CORRELATION),
    # Types decide: `positive` and `nonnegative`, too.
    (constraints.greater_than, _ABOVE, _ABOVE),
    (constraints.greater_than_eq, _ABOVE, _ABOVE),
):
    if _bijection is not None:
        biject_to.register(_constraint, _bijection)
    transform_to.register(_constraint, _transform)


def _register_composites(registry: ConstraintRegistry) -> None:
    """Constraints made of others: transforms made of the others'."""

    @registry.register(constraints.independent)
    def of_independent(constraint):
        return transforms.IndependentTransform(
            registry(constraint.base_constraint), constraint.reinterpreted_batch_ndims
        )

    @registry.register(constraints.cat)
    def of_cat(constraint):
        return transforms.CatTransform(
            [registry(c) for c in constraint.cseq], constraint.dim, constraint.lengths
        )

    @registry.register(constraints.stack)
    def of_stack(constraint):
        return transforms.StackTransform(
            [registry(c) for c in constraint.cseq], constraint.dim
        )


_register_composites(biject_to)
_register_composites(transform_to)
