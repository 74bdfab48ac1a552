"""Names that programs take from `torch._jit_internal`."""

from __future__ import annotations

import contextlib
import inspect
import types
import typing

from .futures import Future
from .jit._marks import (
    Final,
    check_contained,
    check_empty_containers,
    export,
    ignore,
    is_scripting,
    unused,
)
from .jit._marks import copied as _copy_to_script_wrapper  # noqa: F401

__all__ = [
    "BroadcastingList1",
    "BroadcastingList2",
    "BroadcastingList3",
    "BroadcastingList4",
    "BroadcastingList5",
    "BroadcastingList6",
    "Final",
    "Future",
    "check_empty_containers",
    "export",
    "get_callable_argument_names",
    "ignore",
    "is_dict",
    "is_final",
    "is_future",
    "is_list",
    "is_optional",
    "is_scripting",
    "is_tuple",
    "is_union",
    "unused",
]


class BroadcastingListCls:
    """The annotation `BroadcastingListN[T]`: a list of N, or one T for all N.

    It says so to the compiler; to Python it is None.
    """

    def __init__(self, name: str) -> None:
        self.__name__ = name

    def __getitem__(self, item) -> None:
        return None


BroadcastingList1 = BroadcastingListCls("BroadcastingList1")
BroadcastingList2 = BroadcastingListCls("BroadcastingList2")
BroadcastingList3 = BroadcastingListCls("BroadcastingList3")
BroadcastingList4 = BroadcastingListCls("BroadcastingList4")
BroadcastingList5 = BroadcastingListCls("BroadcastingList5")
BroadcastingList6 = BroadcastingListCls("BroadcastingList6")


def is_union(ann) -> bool:
    """True if the annotation is a Union or `X | Y`."""
    return typing.get_origin(ann) in (typing.Union, types.UnionType)


def is_optional(ann) -> bool:
    """True if it is a Union of one type and None."""
    args = typing.get_args(ann)
    return is_union(ann) and len(args) == 2 and type(None) in args


def is_list(ann) -> bool:
    """True if it is List[T]. RuntimeError: List without T."""
    check_contained(ann)
    return typing.get_origin(ann) is list


def is_tuple(ann) -> bool:
    """True if it is Tuple[...]. RuntimeError: Tuple alone."""
    check_contained(ann)
    return typing.get_origin(ann) is tuple


def is_dict(ann) -> bool:
    """True if it is Dict[K, V]. RuntimeError: Dict alone."""
    check_contained(ann)
    return typing.get_origin(ann) is dict


def is_future(ann) -> bool:
    """True if it is Future[T]. RuntimeError: Future alone."""
    if ann is Future:
        raise RuntimeError(
            "Attempted to use Future without a contained type. "
            "Please add a contained type, e.g. Future[int]"
        )
    return typing.get_origin(ann) is Future


def is_final(ann) -> bool:
    """True if it is Final[T]."""
    return typing.get_origin(ann) is Final


def get_callable_argument_names(fn) -> list[str]:
    """The names of the arguments that can be given by place or by name; none
    for a callable whose signature Python does not know.
    """
    try:
        parameters = inspect.signature(fn).parameters.values()
    except (TypeError, ValueError):
        return []
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    return [p.name for p in parameters if p.kind is kind]


@contextlib.contextmanager
def _disable_emit_hooks():
    """A block in which compiling calls no hooks; there are none here."""
    yield
