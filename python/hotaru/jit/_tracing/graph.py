"""A trace as a graph alone, with a module's tensors as parameters."""

from __future__ import annotations

import typing

from ... import _C
from ..._trees.flat import flatten
from ...nn import Module
from .._trace import trace

if typing.TYPE_CHECKING:
    from .._ir import Graph


def _unique_state_dict(module, keep_vars: bool = False) -> dict:
    """The module's state_dict with each tensor once, under its first name."""
    seen, out = set(), {}
    for name, tensor in module.state_dict(keep_vars=True).items():
        if id(tensor) not in seen:
            seen.add(id(tensor))
            out[name] = tensor if keep_vars else tensor.detach()
    return out


def _get_trace_graph(
    f,
    args=(),
    kwargs=None,
    strict: bool = True,
    _force_outplace: bool = False,
    return_inputs: bool = False,
    _return_inputs_states: bool = False,
):
    """The graph of what `f` does with the example inputs, and its results.

    Calls are inlined; the tensors of a module's state_dict that the program
    takes, and all others of it, follow the inputs as parameters.

    Args:
        f: a function or a module, run twice: to be traced and for its results.
        args, kwargs: as for `trace`.
        strict: as for `trace`.
        return_inputs: whether to give the flat inputs, state included, too.
        _force_outplace: as for `trace`.
        _return_inputs_states: must be False.

    Returns:
        (graph, results), or (graph, results, inputs). The graph can be
        changed, and does not run.
    """
    if _return_inputs_states:
        raise NotImplementedError(
            "_get_trace_graph: _return_inputs_states is not implemented; "
            "return_inputs gives the inputs"
        )
    args = args if isinstance(args, tuple) else (args,)
    kwargs = kwargs or {}
    draws = _C.get_rng_state()
    traced = trace(
        f,
        args,
        check_trace=False,
        strict=strict,
        _force_outplace=_force_outplace,
        example_kwarg_inputs=kwargs or None,
    )
    graph = traced.inlined_graph.copy()
    state = {}
    if isinstance(f, Module):
        state = _unique_state_dict(f, keep_vars=True)
        _lift(graph, f, state)
    _C.set_rng_state(draws)  # the results are those that were traced
    results = f(*args, **kwargs)
    if not return_inputs:
        return graph, results
    return graph, results, (*flatten((args, kwargs))[0], *state.values())


def _lift(graph: Graph, module: Module, state: dict) -> None:
    """Makes parameters of the tensors of `state`, in place of `self`."""
    values = {id(tensor): graph.addInput() for tensor in state.values()}
    known = {id(next(graph.inputs())): module}

    def lift(block) -> None:
        for node in block.nodes():
            owner = known.get(id(node.inputsAt(0))) if node._inputs else None
            if node.kind() == "prim::GetAttr" and owner is not None:
                held = getattr(owner, node.s("name"))
                known[id(node.output())] = held
                if isinstance(held, _C.Tensor) and id(held) in values:
                    node.output().replaceAllUsesWith(values[id(held)])
            for inner in node.blocks():
                lift(inner)

    lift(graph.block())
    for node in reversed(graph.findAllNodes("prim::GetAttr")):
        if not node.hasUses():
            node.destroy()
    first = next(graph.inputs())
    if not first.uses():
        graph.eraseInput(0)
