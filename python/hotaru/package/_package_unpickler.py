"""Pickles whose globals an importer finds."""

from __future__ import annotations

import pickle

from ..serialization._names import storage_type
from .importer import Importer


class PackageUnpickler(pickle._Unpickler):
    """An unpickler in Python that asks an importer for modules."""

    def __init__(self, importer: Importer, *args, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        self._importer = importer

    def find_class(self, module: str, name: str):
        if module in ("torch", "torch.storage"):
            known = storage_type(name)
            if known is not None:
                return known
        value = self._importer.import_module(module)
        for part in name.split("."):
            value = getattr(value, part)
        return value
