"""NCCL, by which tensors of several GPUs are reduced: see `distributed`."""

from __future__ import annotations

from ..backends._libraries import library_on_gpu

__all__ = ["is_available", "version"]


def version() -> tuple[int, ...]:
    """NCCL's version, as (2, 28, 9); RuntimeError where it is not found."""
    number, why_not = library_on_gpu("NCCL")
    if why_not:
        raise RuntimeError(f"NCCL is not found: {why_not}")
    return tuple(map(int, number.split(".")))


def is_available(tensors) -> bool:
    """Tells whether NCCL takes these: dense ones on GPUs, one on each."""
    places = set()
    for t in tensors:
        if t.is_sparse or not t.is_cuda or not t.is_contiguous():
            return False
        if t.device in places:
            return False
        places.add(t.device)
    return not library_on_gpu("NCCL")[1]
