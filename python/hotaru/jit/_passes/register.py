"""Operators and what they are made of, in graphs: `_register_decomposition`."""

from __future__ import annotations


def _register_decomposition(op, graph) -> None:
    """Says what an operator is made of: see `_jit_pass_run_decompositions`.

    Args:
        op: an overload: `torch.ops.aten.square.default`.
        graph: takes what the operator takes and gives what it gives.
    """
    from .decompositions import register_decomposition

    register_decomposition(op, graph)
