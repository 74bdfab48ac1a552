"""Capturing on CUDA streams, for tests."""

from __future__ import annotations

import hotaru as torch


def same(a, b):
    assert a.device == b.device
    assert a.cpu().equal(b.cpu())


def captured(f, *args, bitwise=True, without=(), **options):
    """A graph of f, and its results' memory."""
    g = torch.cuda.CUDAGraph(bitwise=bitwise, without=without)
    with torch.cuda.graph(g, **options):
        out = f(*args)
    return g, out
