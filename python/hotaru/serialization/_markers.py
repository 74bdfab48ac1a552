"""The home of `Marker`: a pickler of another module finds each by its name."""

from .._own_names import no_attribute
from ._names import marker


def __getattr__(name: str):
    if not name.endswith("Storage"):
        raise no_attribute(__name__, name)
    return marker(name)
