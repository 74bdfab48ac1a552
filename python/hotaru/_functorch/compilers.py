"""Small compilers for `aot_function`."""

from __future__ import annotations

__all__ = ["nop", "print_compile", "ts_compile"]


def nop(fx_g, _):
    """Gives the graph as it is."""
    return fx_g


def print_compile(fx_g, _):
    """Prints the graph's code and gives the graph as it is."""
    print(fx_g.code)
    return fx_g


def ts_compile(fx_g, inps):
    """Compiles the graph by TorchScript, as it runs for these inputs.

    Args:
        fx_g: a graph of operators.
        inps: examples.
    """
    from ..jit import trace

    return trace(fx_g, tuple(inps), check_trace=False)
