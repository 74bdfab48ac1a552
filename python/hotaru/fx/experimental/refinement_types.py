"""Conditions that have to hold between sizes."""

from __future__ import annotations


class Equality:
    """Two sizes, or variables for them, that are one."""

    def __init__(self, lhs: object, rhs: object) -> None:
        self.lhs = lhs
        self.rhs = rhs

    def __repr__(self) -> str:
        return f"{self.lhs} = {self.rhs}"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Equality):
            return False
        return (self.lhs, self.rhs) == (other.lhs, other.rhs)

    __hash__ = None
