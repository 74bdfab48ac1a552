"""Helpers that programs import from here: scalars repeated into tuples."""

from __future__ import annotations

from ._arguments import ntuple


def _single(value) -> tuple:
    return ntuple(value, 1)


def _pair(value) -> tuple:
    return ntuple(value, 2)


def _triple(value) -> tuple:
    return ntuple(value, 3)


def _quadruple(value) -> tuple:
    return ntuple(value, 4)


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
