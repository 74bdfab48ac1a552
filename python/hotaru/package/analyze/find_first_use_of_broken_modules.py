"""Where a package that could not be written first needed what was missing."""

from __future__ import annotations

__all__ = ["find_first_use_of_broken_modules"]


def find_first_use_of_broken_modules(exc) -> dict[str, list[str]]:
    """The ways by which the modules that an error is about were first met.

    Args:
        exc: a PackagingError; AssertionError for anything else.

    Returns:
        For each such module the names on the way to it, itself the last.
    """
    from ..package_exporter import PackagingError

    if not isinstance(exc, PackagingError):
        raise AssertionError(
            f"exception must be a PackagingError, got {type(exc).__name__}"
        )
    graph = exc.dependency_graph
    return {
        name: graph.first_path(name)
        for name, attributes in graph.nodes.items()
        if attributes.get("error")
    }
