"""Python's rules for names of modules in import statements.

Language reference, sections 5.4 to 5.7 and 7.11.
"""

from __future__ import annotations

import os.path


def _resolve_name(name: str | None, package: str, level: int) -> str:
    """The absolute name of a relative one with `level` dots.

    ValueError where the dots lead beyond the outermost package.
    """
    parts = package.split(".")
    if level > len(parts):
        raise ValueError("attempted relative import beyond top-level package")
    base = parts[: len(parts) - level + 1]
    return ".".join([*base, name] if name else base)


def _sanity_check(name, package, level: int) -> None:
    """Raises what an import with such arguments raises."""
    if not isinstance(name, str):
        raise TypeError(f"module name must be str, not {type(name)}")
    if level < 0:
        raise ValueError("level must be >= 0")
    if level == 0:
        if not name:
            raise ValueError("Empty module name")
        return
    if not isinstance(package, str):
        raise TypeError("__package__ not set to a string")
    if not package:
        raise ImportError("attempted relative import with no known parent package")


def _package_of(names: dict) -> str:
    """The package that relative imports of a module are relative to."""
    package = names.get("__package__")
    if package is not None:
        return package
    spec = names.get("__spec__")
    if spec is not None:
        return spec.parent
    name = names["__name__"]
    return name if "__path__" in names else name.rpartition(".")[0]


def _normalize_path(path: str) -> str:
    """A name of a file. ValueError for one with folders."""
    folder, name = os.path.split(path)
    if folder:
        raise ValueError(f"{path!r} must be only a file name")
    return name
