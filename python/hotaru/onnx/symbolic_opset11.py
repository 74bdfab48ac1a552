"""The operators of ONNX's version 11, which an exporter would write."""

from __future__ import annotations

from .._own_names import no_attribute


def __getattr__(name: str):
    if name.startswith("__"):
        raise no_attribute(__name__, name)
    raise no_attribute(__name__, name, ": hotaru's exporter has no symbolic functions")
