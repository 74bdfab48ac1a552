"""Marks of captured kernels for profilers' traces, which are not kept.

PyTorch keeps them by numbers that CUPTI knows nodes by, and keeps nothing where
the driver does not tell these; that is always so here. `CUDAGraph.debug_dump`
writes a trace with the operators' names.
"""

from __future__ import annotations

import contextlib

__all__ = [
    "clear_kernel_annotations",
    "get_kernel_annotations",
    "is_available",
    "mark_kernels",
]


def is_available() -> bool:
    """False: nothing is kept."""
    return False


@contextlib.contextmanager
def mark_kernels(annotation, *, backward: bool = True):
    """A block whose captured kernels would be marked.

    Args:
        annotation: a text or a dict.
        backward: those of its backward, too.
    """
    if not isinstance(annotation, (str, dict)):
        raise TypeError(
            f"annotation must be a str or a dict, got {type(annotation).__name__}"
        )
    yield


def get_kernel_annotations() -> dict:
    """The marks by numbers of nodes: none."""
    return {}


def clear_kernel_annotations() -> None:
    """Forgets the marks."""
