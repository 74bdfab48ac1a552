"""Caches of compiled code: hotaru's graphs write none, what writes files does."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator

from .runtime.cache_dir_utils import temporary_cache_dir

__all__ = ["fresh_cache", "fresh_inductor_cache"]


@contextlib.contextmanager
def fresh_cache(
    cache_entries: dict | None = None, dir: str | None = None, delete: bool = True
) -> Iterator[None]:
    """A block in which the folder of caches is a new one.

    Args:
        cache_entries: an empty dict that gets names and sizes of what kernels of
            Triton were written to the folder's `triton`.
        dir: where the folder is made.
        delete: whether it is removed at the end; after an error it is not.
    """
    folder = tempfile.mkdtemp(dir=dir)
    kernels = os.path.join(folder, "triton")
    before = os.environ.get("TRITON_CACHE_DIR")
    os.environ["TRITON_CACHE_DIR"] = kernels
    try:
        with temporary_cache_dir(folder):
            yield
    finally:
        if before is None:
            os.environ.pop("TRITON_CACHE_DIR", None)
        else:
            os.environ["TRITON_CACHE_DIR"] = before
    if isinstance(cache_entries, dict) and os.path.isdir(kernels):
        for name in os.listdir(kernels):
            if ".lock" not in name:
                cache_entries[name] = os.path.getsize(os.path.join(kernels, name))
    if delete:
        shutil.rmtree(folder, ignore_errors=True)


fresh_inductor_cache = fresh_cache
