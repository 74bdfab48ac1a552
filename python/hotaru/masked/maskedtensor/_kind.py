"""Who answers for MaskedTensors, and what is done where nobody does."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any

from ..._answering.base import Kind
from ..._answering.names import words
from ..._answering.table import Table
from ..._overrides import WithoutAnswers


@contextmanager
def asked():
    """Inside, other kinds of tensors answer again, within a handler."""
    before = WithoutAnswers._switch(False)
    try:
        yield
    finally:
        WithoutAnswers._switch(before)


def refused(name: str) -> TypeError:
    """The error of what masks mean nothing to."""
    (cls,) = MASKED.classes
    return TypeError(
        f"Multiple dispatch failed for 'torch._ops.aten.{name}.default'; all "
        "__torch_dispatch__ handlers returned NotImplemented:\n\n  - tensor "
        f"subclass {cls}\n\nFor more information, try re-running with "
        "TORCH_LOGS=not_implemented"
    )


def _is_sparse(args: tuple, kwargs: dict) -> bool:
    """Tells whether an argument has data and mask in a sparse layout."""
    return any(type(x) in MASKED.classes and x.is_sparse for x in args)


def _is_strided(args: tuple, kwargs: dict) -> bool:
    return not _is_sparse(args, kwargs)


# Functions in Python that are run as they are: what they call is asked for.
# Others make tensors without masks, or are of other kinds of tensors.
_COMPOSED = frozenset(
    words(
        "__array__ __contains__ __rdiv__ __rtruediv__ _rdiv "
        "_typed_storage storage typed_storage untyped_storage"
    )
)


class _Masked(Kind):
    attributes = frozenset(["data", "grad"])
    passes_out = True
    writes_back = False

    def answer(self, function, args: tuple, kwargs: dict) -> Any:
        """As of every kind; but what handlers call is not asked for."""
        name = function.__name__
        if name == "backward":
            # Sparse gradients are answered by their own kind.
            return super().answer(function, args, kwargs)
        if name in _COMPOSED:
            return function.__wrapped__(*args, **kwargs)
        with WithoutAnswers():
            return super().answer(function, args, kwargs)

    def plain(self, function, *args, **kwargs) -> Any:
        return function(*args, **kwargs)

    def body(self, function, name, args, kwargs):
        raise refused(name)

    def refuse(self, function, name, args, kwargs):
        raise refused(name)

    def finish(self, name, args, result):
        if result is NotImplemented:
            raise refused(name)
        return result


STRIDED = Table(_is_strided)
SPARSE = Table(_is_sparse)
MASKED = _Masked("masked", SPARSE, STRIDED)
