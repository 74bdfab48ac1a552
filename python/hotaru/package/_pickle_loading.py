"""Reading a package's pickles: what their references stand for."""

from __future__ import annotations

import io

from ..serialization._names import check_reference, text_of
from ..serialization._places import placement
from ..storage._typed import TypedStorage, UntypedStorage


class Loading:
    """One call that loads a pickle; storages are read once for all of it.

    Args:
        importer: a PackageImporter.
        map_location: as `torch.load` takes it.
    """

    def __init__(self, importer, map_location) -> None:
        self._importer = importer
        self._place = placement(map_location)
        self._read: dict[str, UntypedStorage] = {}
        self._placed: dict[tuple[str, str], UntypedStorage] = {}
        self._made: dict[int, object] = {}
        self.map_location = map_location

    def load(self, record: str):
        """The object of a record."""
        data = io.BytesIO(self._importer.zip_reader.get_record(record))
        unpickler = self._importer.Unpickler(data)
        unpickler.persistent_load = self._referred
        before = self._importer.storage_context
        self._importer.storage_context = self
        try:
            return unpickler.load()
        finally:
            self._importer.storage_context = before

    def storage(self, name: str, nbytes: int) -> UntypedStorage:
        """The storage of a name like "0.storage", on the CPU."""
        if name not in self._read:
            from .. import uint8

            tensor = self._importer.zip_reader.get_storage_from_record(
                f".data/{name}", nbytes, uint8
            )
            self._read[name] = tensor.untyped_storage()
        return self._read[name]

    def _referred(self, saved):
        """AssertionError: a reference of a kind that packages do not have."""
        check_reference(saved)
        kind, *what = saved
        kind = text_of(kind)
        if kind == "storage":
            return self._typed(*what)
        if kind == "reduce_package":
            return self._reduced(*what)
        raise AssertionError(
            "Unknown typename for persistent_load, expected 'storage' or "
            f"'reduce_package' but got '{kind}'"
        )

    def _typed(self, stands_for, key, location, count: int) -> TypedStorage:
        from .. import uint8

        dtype = uint8 if stands_for is UntypedStorage else stands_for.dtype
        name, location = f"{key}.storage", text_of(location)
        if (name, location) not in self._placed:
            plain = self.storage(name, count * dtype.itemsize)
            self._placed[name, location] = self._place(plain, location)
        return TypedStorage(
            wrap_storage=self._placed[name, location], dtype=dtype, _internal=True
        )

    def _reduced(self, *what):
        """Calls what an object's `__reduce_package__` gave, once for each."""
        if len(what) == 2:  # as older packages have it, without a number
            function, arguments = what
            return function(self._importer, *arguments)
        number, function, arguments = what
        if number not in self._made:
            self._made[number] = function(self._importer, *arguments)
        return self._made[number]
