"""Graphs whose calls become kernels that are compiled in the background."""

from __future__ import annotations

from captured import captured, same

from hotaru import _C


def fused(f, *args):
    """A graph of f whose kernels are there, and its results' memory."""
    g, out = captured(f, *args)
    g.replay()
    _C._cuda_finish_compiling()
    return g, out


def check(f, *args):
    """Replays before and after the kernels came equal the separate calls;
    how many there are of these, and kernels in the end.
    """
    apart, _ = captured(f, *args, without=["fuse_pointwise"])
    before = apart._launches()[0]
    g, out = captured(f, *args)
    for _ in range(2):
        g.replay()
        want = f(*args)
        for a, b in zip(out, want):
            same(a, b)
        _C._cuda_finish_compiling()
    g.replay()
    for a, b in zip(out, want):
        same(a, b)
    # Another one, in whose memory the separate calls have left nothing.
    alone, out = captured(f, *args)
    _C._cuda_finish_compiling()
    alone.replay()
    for a, b in zip(out, want):
        same(a, b)
    return before, g._launches()[0]
