"""The operators of ONNX's version 11, which an exporter would write."""

from __future__ import annotations


def __getattr__(name: str):
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    raise AttributeError(
        f"module {__name__!r} has no attribute {name!r}: hotaru's exporter "
        "has no symbolic functions"
    )
