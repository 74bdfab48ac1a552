"""Parts of the extension for `distributed`: made when this is imported, as it
takes modules of Python that are slow to import.
"""

from __future__ import annotations

from .. import _C
from .._own_names import no_attribute

_C._make_distributed()


def __getattr__(name: str):
    if name in vars(_C):
        return vars(_C)[name]
    raise no_attribute(__name__, name)
