"""Facts that are known of the size of a ragged dimension."""

from __future__ import annotations


def _indeterminate() -> ValueError:
    return ValueError("ge: relation is indeterminate")


class NestedIntNode:
    """`coeff` times the size that `t_id` stands for: equal to itself alone,
    and at least 2. ValueError for a comparison that this does not answer.
    """

    def __init__(self, t_id: int, coeff: int) -> None:
        self.t_id, self.coeff = t_id, coeff

    def nested_int(self) -> int:
        """Which size it is."""
        return self.t_id

    def nested_int_coeff(self) -> int:
        """How often it is taken."""
        return self.coeff

    def is_nested_int(self) -> bool:
        """True."""
        return True

    def eq(self, other) -> bool:
        """Tells whether it is the same multiple of the same size."""
        known = isinstance(other, NestedIntNode)
        return known and (self.t_id, self.coeff) == (other.t_id, other.coeff)

    def ne(self, other) -> bool:
        """The opposite."""
        return not self.eq(other)

    def ge(self, other) -> bool:
        """Tells whether it is at least that."""
        if isinstance(other, NestedIntNode):
            if self.t_id == other.t_id:
                return self.coeff >= other.coeff
        elif other <= 2:
            return True
        raise _indeterminate()

    def lt(self, other) -> bool:
        """The opposite of `ge`."""
        return not self.ge(other)

    def le(self, other) -> bool:
        """Tells whether it is at most that."""
        if isinstance(other, NestedIntNode):
            return other.ge(self)
        if other < 2:
            return False
        raise _indeterminate()

    def gt(self, other) -> bool:
        """The opposite of `le`."""
        return not self.le(other)

    def mul(self, factor) -> NestedIntNode:
        """A multiple by a number."""
        if isinstance(factor, NestedIntNode):
            raise ValueError("mul: products of nested ints are unknown")
        return NestedIntNode(self.t_id, self.coeff * factor)

    def __hash__(self) -> int:
        return hash((self.t_id, self.coeff))

    def __eq__(self, other) -> bool:
        return self.eq(other)

    def __str__(self) -> str:
        factor = "" if self.coeff == 1 else f"{self.coeff}*"
        return f"{factor}j{self.t_id}"

    __repr__ = __str__
