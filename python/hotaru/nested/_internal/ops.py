"""Parts of a jagged tensor, as what makes another one like it."""

from __future__ import annotations

__all__ = ["extract_kwargs"]


def extract_kwargs(arg) -> dict:
    """All but the values: arguments of NestedTensor, by name."""
    return {
        "offsets": arg.offsets(),
        "lengths": arg.lengths(),
        "_metadata_cache": arg._metadata_cache,
        "_ragged_idx": arg._ragged_idx,
    }
