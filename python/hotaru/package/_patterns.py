"""Patterns that say what is to be done with which modules."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from .glob_group import GlobGroup


class _ModuleProviderAction(Enum):
    """Fate of a module that the package needs."""

    INTERN = 1  # its source is written
    EXTERN = 2  # the environment that loads the package has it
    MOCK = 3  # anything asked of it is an object that cannot be used
    DENY = 4  # needing it is an error
    REPACKAGED_MOCK_MODULE = 5  # what mocks are made of, from a package
    SKIP = 6  # every importer has its own


@dataclass
class _PatternInfo:
    """One of the exporter's rules.

    Attributes:
        allow_empty: whether it may match nothing.
        was_matched: whether it has matched something.
    """

    action: _ModuleProviderAction
    allow_empty: bool
    was_matched: bool = False


class Patterns(dict):
    """Rules by their patterns; the first that matches counts."""

    def first(self, module_name: str) -> _PatternInfo | None:
        """The rule of a module, or None."""
        for pattern, rule in self.items():
            if pattern.matches(module_name):
                return rule
        return None

    def unmatched(self) -> GlobGroup | None:
        """A pattern that had to match and has not, or None."""
        for pattern, rule in self.items():
            if not (rule.allow_empty or rule.was_matched):
                return pattern
        return None
