"""Versions of modules that pickle, and folders for files."""

from __future__ import annotations

import contextlib
import warnings

__all__ = ["check_module_version_greater_or_equal", "mkdtemp"]


@contextlib.contextmanager
def mkdtemp():
    """The path of a new folder, which is removed at the end."""
    import shutil
    import tempfile

    path = tempfile.mkdtemp()
    try:
        yield path
    finally:
        shutil.rmtree(path)


def check_module_version_greater_or_equal(
    module, req_version_tuple: tuple, error_if_malformed: bool = True
) -> bool:
    """True if a module's `__version__` is that of the tuple, or a later one.

    Each part is compared as what the tuple has there. One that cannot be is a
    RuntimeError, or a warning and True.
    """
    try:
        parts = module.__version__.split(".")
        version = tuple(
            type(wanted)(part) for wanted, part in zip(req_version_tuple, parts)
        )
        return version >= req_version_tuple
    except Exception as error:
        text = (
            f"'{module.__name__}' module version string is malformed "
            f"'{module.__version__}' and cannot be compared with tuple "
            f"{req_version_tuple}"
        )
        if error_if_malformed:
            raise RuntimeError(text) from error
        warnings.warn(
            f"{text}, but continuing assuming that requirement is met", stacklevel=2
        )
        return True
