"""The home of `Marker`: a pickler of another module finds each by its name."""

from ._names import marker


def __getattr__(name: str):
    if not name.endswith("Storage"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return marker(name)
