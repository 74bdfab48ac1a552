"""Pickles whose globals are those of an importer.

Names of this library are written as PyTorch's, so it finds them, too.
"""

from __future__ import annotations

import pickle
from types import FunctionType

from ..serialization._names import Marker, check_found, written
from ..serialization._pickler import _Apart
from .importer import (
    Importer,
    ObjMismatchError,
    ObjNotFoundError,
    attribute,
    sys_importer,
)


class PackagePickler(_Apart, pickle._Pickler):
    """A pickler in Python that asks an importer for names.

    Attributes:
        entry: a function of an object, with what stands for it in the pickle,
            or None for those that are written whole.
    """

    def __init__(self, importer: Importer, *args, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        self.importer = importer

    def save_global(self, obj, name=None) -> None:
        module, name = self._name(obj, name)
        *owners, last = name.split(".")
        if self.proto >= 4:
            self.save(module)
            self.save(name)
            self.write(pickle.STACK_GLOBAL)
        elif owners:
            owner = self.importer.import_module(module)
            self.save_reduce(getattr, (attribute(owner, ".".join(owners)), last))
        else:
            self.write(pickle.GLOBAL + f"{module}\n{name}\n".encode())
        self.memoize(obj)

    def _name(self, obj, name) -> tuple[str, str]:
        """PicklingError: the importer does not find it."""
        if isinstance(obj, Marker):
            return written(obj)
        try:
            return self.importer.get_name(obj, name)
        except (ObjNotFoundError, ObjMismatchError) as error:
            raise pickle.PicklingError(f"Can't pickle {obj}: {error}") from error

    def save_type(self, obj) -> None:
        if obj in (type(None), type(NotImplemented), type(...)):
            pickle._Pickler.save_type(self, obj)
        else:
            self.save_global(obj)

    dispatch = dict(pickle._Pickler.dispatch)  # noqa: RUF012  (its protocol)
    dispatch[FunctionType] = save_global
    dispatch[type] = save_type


class _PlainPickler(PackagePickler):
    """As pickle says what fails, where names are the environment's."""

    def _name(self, obj, name) -> tuple[str, str]:
        if not isinstance(obj, Marker):
            name = name or getattr(obj, "__qualname__", None) or obj.__name__
            module = sys_importer.whichmodule(obj, name)
            try:
                found = attribute(sys_importer.import_module(module), name)
            except (ImportError, KeyError, AttributeError):
                raise pickle.PicklingError(
                    f"Can't pickle {obj!r}: it's not found as {module}.{name}"
                ) from None
            check_found(found, obj, module, name)
        return written(obj, name)


def create_pickler(data_buf, importer: Importer, protocol: int = 4):
    """A pickler into a file that is open for writing bytes."""
    kind = _PlainPickler if importer is sys_importer else PackagePickler
    return kind(importer, data_buf, protocol=protocol)
