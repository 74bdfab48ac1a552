"""Helpers that programs import from here: scalars repeated into tuples."""

from __future__ import annotations

from collections.abc import Callable

from ..functional._pooling import full_output_size
from ._arguments import ntuple


def _ntuple(n: int, name: str = "parse") -> Callable:
    """A function that repeats a scalar n times."""

    def parse(x) -> tuple:
        return ntuple(x, n)

    parse.__name__ = name
    return parse


def _single(value) -> tuple:
    return ntuple(value, 1)


def _pair(value) -> tuple:
    return ntuple(value, 2)


def _triple(value) -> tuple:
    return ntuple(value, 3)


def _quadruple(value) -> tuple:
    return ntuple(value, 4)


def _reverse_repeat_tuple(t, n: int) -> tuple:
    """The items from the last to the first, each n times: `F.pad`'s order."""
    return tuple(x for x in reversed(t) for _ in range(n))


def _list_with_default(out_size, defaults: list[int]) -> list[int]:
    """Sizes whose None are those of the input; a number stays as it is."""
    return full_output_size(out_size, defaults)


def consume_prefix_in_state_dict_if_present(state_dict, prefix: str) -> None:
    """Strips `prefix` of the names in a state that have it, in place, and of
    those in its metadata.
    """
    for name in list(state_dict):
        if name.startswith(prefix):
            state_dict[name[len(prefix) :]] = state_dict.pop(name)
    metadata = getattr(state_dict, "_metadata", {})
    module = prefix.replace(".", "")
    for name in list(metadata):
        # The module itself has the prefix as its name, without the dot.
        if name and (name == module or name.startswith(prefix)):
            metadata[name[len(prefix) :]] = metadata.pop(name)
