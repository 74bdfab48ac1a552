"""ONNX: the version that files would name. There is no exporter here."""

from __future__ import annotations

from .. import __version__

__all__ = ["producer_version"]

#: The version of this package without what was built in, as "2.13.0".
producer_version = __version__.partition("+")[0]


def __getattr__(name: str):
    raise AttributeError(
        f"module {__name__!r} has no attribute {name!r}: hotaru does not "
        "export to ONNX; torch.jit.save keeps programs"
    )
