"""Names of modules that come from packages: `<torch_package_N>.name`.

No module that is installed can have such a name, and those of two packages
differ by the number.
"""

from __future__ import annotations

import itertools
import re

_PREFIX = re.compile(r"<torch_package_\d+>")
_numbers = itertools.count()


class PackageMangler:
    """Gives names of one package its prefix, and takes it away."""

    def __init__(self) -> None:
        self._prefix = f"<torch_package_{next(_numbers)}>"

    def mangle(self, name: str) -> str:
        """The name with the prefix. AssertionError for an empty one."""
        if not name:
            raise AssertionError("name must not be empty")
        return f"{self._prefix}.{name}"

    def demangle(self, mangled: str) -> str:
        """The name without this prefix; others stay as they are."""
        return mangled.removeprefix(f"{self._prefix}.")

    def parent_name(self) -> str:
        """The prefix."""
        return self._prefix


def is_mangled(name: str) -> bool:
    """Tells whether a name has the prefix of some package."""
    return _PREFIX.match(name) is not None


def demangle(name: str) -> str:
    """The name without its package's prefix, "" for the prefix alone."""
    return name.partition(".")[2] if is_mangled(name) else name


def get_mangle_prefix(name: str) -> str:
    """The prefix of a name, or the name where it has none."""
    return name.partition(".")[0] if is_mangled(name) else name
