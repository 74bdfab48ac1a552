"""Patterns for names of modules and files."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Union

GlobPattern = Union[str, Iterable[str]]


class GlobGroup:
    """Names that fit one of some patterns and none of some others.

    A pattern is made of parts as names are: `*` stands for any characters
    within a part, `**` for any number of whole parts.

    Args:
        include: a pattern or several, one of which a name must fit.
        exclude: a pattern or several, none of which it may fit.
        separator: what stands between parts, one character.

    Raises:
        ValueError: `**` beside other characters.
    """

    def __init__(
        self, include: GlobPattern, *, exclude: GlobPattern = (), separator: str = "."
    ) -> None:
        self._text = f"GlobGroup(include={include}, exclude={exclude})"
        self.include = self._glob_list(include, separator)
        self.exclude = self._glob_list(exclude, separator)
        self.separator = separator

    def __repr__(self) -> str:
        return self._text

    def matches(self, candidate: str) -> bool:
        """Tells whether a name fits."""
        name = self.separator + candidate  # so all its parts begin alike
        if not any(pattern.fullmatch(name) for pattern in self.include):
            return False
        return not any(pattern.fullmatch(name) for pattern in self.exclude)

    @staticmethod
    def _glob_list(elems: GlobPattern, separator: str = ".") -> list:
        patterns = [elems] if isinstance(elems, str) else elems
        return [GlobGroup._glob_to_re(one, separator) for one in patterns]

    @staticmethod
    def _glob_to_re(pattern: str, separator: str = ".") -> re.Pattern:
        between = re.escape(separator)
        within = f"[^{between}]"

        def part(text: str) -> str:
            if text == "**":
                return f"(?:{between}{within}+)*"
            if "**" in text:
                raise ValueError("** can only appear as an entire path segment")
            pieces = (re.escape(piece) for piece in text.split("*"))
            return between + f"{within}*".join(pieces)

        return re.compile("".join(map(part, pattern.split(separator))))
