"""Tensors in a folder, their memory by what is in it: equal ones once."""

from __future__ import annotations

import ctypes
import hashlib
import os
import weakref

import hotaru

__all__ = ["ContentStoreReader", "ContentStoreWriter", "hash_storage"]


def hash_storage(storage, *, stable_hash: bool = False) -> str:
    """The SHA-1 of the bytes, in hexadecimal.

    Args:
        storage: an `UntypedStorage`, of any device.
        stable_hash: whether it must be the same in other processes, which it
            is either way.
    """
    on_cpu = storage.cpu()
    digest = hashlib.sha1(usedforsecurity=False)
    if on_cpu.nbytes():
        kind = ctypes.c_byte * on_cpu.nbytes()
        digest.update(kind.from_address(on_cpu.data_ptr()))
    return digest.hexdigest()


def _metadata(tensor) -> dict:
    """Marks beside dtype and sizes: lazily conjugated or negated."""
    marks = {"conj": tensor.is_conj(), "neg": tensor.is_neg()}
    return {name: True for name, is_set in marks.items() if is_set}


class ContentStoreWriter:
    """Writes tensors to a folder: `storages/HASH`, `tensors/NAME`.

    Args:
        loc: the folder; made if need be.
        stable_hash: as of `hash_storage`.
    """

    def __init__(self, loc: str, stable_hash: bool = False) -> None:
        self.loc = loc
        self.seen_storage_hashes: set[str] = set()
        self.stable_hash = stable_hash

    def write_storage(self, storage) -> str:
        """Writes the bytes unless they are there; gives their hash."""
        name = hash_storage(storage, stable_hash=self.stable_hash)
        if name in self.seen_storage_hashes:
            return name
        folder = os.path.join(self.loc, "storages")
        os.makedirs(folder, exist_ok=True)
        target = os.path.join(folder, name)
        if not os.path.exists(target):
            hotaru.save(storage, target)
            self.seen_storage_hashes.add(name)
        return name

    def compute_tensor_metadata(self, t, h=None) -> tuple:
        """The dtype, the hash of its memory, offset, sizes, strides, marks."""
        if h is None:
            h = hash_storage(t.untyped_storage(), stable_hash=self.stable_hash)
        return t.dtype, h, t.storage_offset(), tuple(t.shape), t.stride(), _metadata(t)

    def write_tensor(self, name: str, t) -> None:
        """Writes the tensor by that name, which may have slashes."""
        h = self.write_storage(t.untyped_storage())
        folder, file = os.path.split(name)
        folder = os.path.join(self.loc, "tensors", folder)
        os.makedirs(folder, exist_ok=True)
        parts = self.compute_tensor_metadata(t, h=h)
        hotaru.save(parts, os.path.join(folder, file))


class ContentStoreReader:
    """Reads what `ContentStoreWriter` wrote.

    Args:
        loc: the folder.
        cache: whether tensors of equal memory share it as long as one lives.
    """

    def __init__(self, loc: str, *, cache: bool = True) -> None:
        self.loc = loc
        self.storage_cache = {} if cache else None

    def read_storage(self, h: str, *, device=None):
        """The bytes of that hash, as an `UntypedStorage`."""
        device = None if device is None else hotaru.device(device)
        key = None if device is None else str(device), h
        if self.storage_cache is not None and key in self.storage_cache:
            found = self.storage_cache[key]()
            if found is not None:
                return found
        path = os.path.join(self.loc, "storages", h)
        storage = hotaru.load(path, weights_only=True, map_location=device)
        storage = getattr(storage, "_untyped_storage", storage)
        if self.storage_cache is not None:
            self.storage_cache[key] = weakref.ref(storage)
        return storage

    def read_tensor_metadata(self, name: str) -> tuple:
        """As `compute_tensor_metadata`. FileNotFoundError: none of that name."""
        path = os.path.join(self.loc, "tensors", name)
        if not os.path.exists(path):
            raise FileNotFoundError(path)
        return hotaru.load(path, weights_only=True)

    def read_tensor(self, name: str, *, device=None):
        """The tensor of that name, on the device that it was on or another."""
        dtype, h, offset, size, stride, marks = self.read_tensor_metadata(name)
        storage = self.read_storage(h, device=device)
        out = hotaru.tensor([], dtype=dtype, device=storage.device)
        out.set_(storage, offset, size, stride)
        out = out.conj() if marks.get("conj") else out
        return out._neg_view() if marks.get("neg") else out
