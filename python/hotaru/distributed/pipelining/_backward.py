"""Backward passes of a stage: whole, to its inputs alone, to its weights alone."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

from ... import Tensor, autograd, ones_like
from ...autograd.graph import GradientEdge
from ...fx.node import map_aggregate
from ...nn import Parameter

__all__ = ["stage_backward", "stage_backward_input", "stage_backward_weight"]


def shown(values):
    """Tensors by their shapes, for errors."""

    def one(x):
        if isinstance(x, Tensor):
            return f"Tensor({x.shape}, grad={x.requires_grad}, dtype={x.dtype})"
        return str(x)

    return map_aggregate(values, one)


@contextlib.contextmanager
def _explained(called: str, output, grads, inputs):
    """RuntimeErrors that say what a pass was given."""
    try:
        yield
    except Exception as error:
        raise RuntimeError(
            f"\n        Failed to run {called}:\n"
            f"        Stage output: {shown(output)}\n"
            f"        Output gradient: {shown(grads)}\n"
            f"        Input: {shown(inputs)}\n        "
        ) from error


def _differentiable(tensor: Tensor) -> bool:
    return tensor.requires_grad or tensor.grad_fn is not None


def _pairs(output, grad) -> Iterator[tuple]:
    """Tensors of an output that have gradients, with those."""
    if isinstance(output, Tensor):
        if not _differentiable(output):
            return
        if not isinstance(grad, (Tensor, type(None))):
            raise AssertionError(
                f"Expected Tensor or None gradient but got {type(grad)}"
            )
        yield output, grad
    elif isinstance(output, (tuple, list)) and grad is not None:
        if not isinstance(grad, (tuple, list)):
            raise AssertionError(
                f"grad_value expected to have type {type(output)} but got {type(grad)}"
            )
        if len(output) != len(grad):
            raise AssertionError(
                "Expected len(output_val) == len(grad_val), got "
                f"{len(output)} != {len(grad)}"
            )
        for one, its in zip(output, grad):
            yield from _pairs(one, its)
    elif isinstance(output, dict) and grad is not None:
        if not isinstance(grad, dict):
            raise AssertionError(f"Expected dict, got {type(grad)}")
        if set(output) != set(grad):
            raise AssertionError(f"Expected keys {set(output)}, got {set(grad)}")
        for key in output:
            yield from _pairs(output[key], grad[key])


def stage_backward(
    stage_output,
    output_grads,
    input_values,
    outputs_with_grads_idxs: list[int] | None = None,
) -> tuple:
    """Adds the gradients of a stage's parameters to theirs, and returns those of
    its inputs, None for each that has none.

    Args:
        stage_output: tensors, in containers.
        output_grads: their gradients in the same containers; None for a loss.
        input_values: what the stage was given: leaves.
        outputs_with_grads_idxs: which outputs have gradients, None: all.

    RuntimeError: the pass fails; it says what the stage had.
    """
    if outputs_with_grads_idxs is not None:
        stage_output = [stage_output[i] for i in outputs_with_grads_idxs]
        output_grads = [output_grads[i] for i in outputs_with_grads_idxs]
    with _explained("stage backward", stage_output, output_grads, input_values):
        pairs = list(_pairs(stage_output, output_grads))
        if pairs or not isinstance(stage_output, (tuple, list, dict)):
            autograd.backward([x for x, _ in pairs], grad_tensors=[g for _, g in pairs])
        grads = []
        for value in input_values:
            grads.append(value.grad if isinstance(value, Tensor) else None)
            if isinstance(value, Tensor):
                # Gradients that go back to the stage before are no longer needed.
                value.grad = None
    return tuple(grads)


# --- in two passes ---


def _node_of(tensor: Tensor):
    """The node that a tensor's gradient goes to; None if there is none."""
    if tensor.requires_grad and tensor.grad_fn is None:
        view = tensor.view_as(tensor).grad_fn
        if view is None:
            raise RuntimeError(
                "Attempted to get grad_fn, but got None."
                "Is this being created in a no-grad context?"
            )
        return view.next_functions[0][0]
    return tensor.grad_fn


def _users(roots: Sequence) -> dict:
    """For each node below `roots` the nodes that give it a gradient."""
    found: dict = {root: [] for root in roots}
    left = list(found)
    while left:
        node = left.pop()
        for below, _ in node.next_functions:
            if below is None:
                continue
            if below not in found:
                found[below] = []
                left.append(below)
            found[below].append(node)
    return found


def _above(starts: Sequence, users: dict, until=frozenset()) -> tuple[set, list]:
    """The nodes above `starts`, and those of `until` where that ends."""
    found, met = set(starts), []
    left = list(starts)
    while left:
        for node in users.get(left.pop(), ()):
            if node in until:
                if node not in met:
                    met.append(node)
            elif node not in found:
                found.add(node)
                left.append(node)
    return found, met


def _groups(inputs: Sequence, weights: Sequence, users: dict, roots) -> tuple:
    """Weights that meet the way to the inputs at the same nodes, and those that
    reach an output beside it.
    """
    way, _ = _above(inputs, users)
    by_node: dict = {}
    beside = []
    for weight in dict.fromkeys(weights):
        passed, met = _above([weight], users, way)
        if not passed.isdisjoint(roots):
            beside.append(weight)
            continue
        groups = {id(by_node[n]): by_node[n] for n in met if n in by_node}
        joined: dict = {"params": [weight], "intermediates": list(met)}
        for group in groups.values():
            joined["params"] = list(
                dict.fromkeys([*group["params"], *joined["params"]])
            )
            joined["intermediates"] = list(
                dict.fromkeys([*group["intermediates"], *joined["intermediates"]])
            )
        for node in joined["intermediates"]:
            by_node[node] = joined
    return list({id(group): group for group in by_node.values()}.values()), beside


def stage_backward_input(
    stage_outputs_or_loss: list,
    output_grads: list | None,
    input_values: list,
    weights: Iterator[Parameter],
) -> tuple[tuple, list[dict]]:
    """Gradients of a stage's inputs, and what `stage_backward_weight` takes.

    Where the way to a weight leaves that to the inputs, the gradient is kept:
    the pass to the weights begins there.

    Args:
        stage_outputs_or_loss: tensors, which are detached afterwards.
        output_grads: their gradients; None: ones.
        input_values: the inputs; their `grad` is added to.
        weights: the parameters.
    """
    outputs, grads = [], []
    for i, output in enumerate(stage_outputs_or_loss):
        if _differentiable(output):
            outputs.append(output)
            grads.append(ones_like(output) if output_grads is None else output_grads[i])
    inputs = [x for x in input_values if isinstance(x, Tensor) and x.requires_grad]
    roots = list(dict.fromkeys(filter(None, map(_node_of, outputs))))
    users = _users(roots)
    by_node = {_node_of(w): w for w in weights if w.requires_grad}
    starts = list(filter(None, map(_node_of, inputs)))
    groups, beside = _groups(starts, list(by_node), users, roots)
    # Weights that are on no way to an input have their gradients at once.
    others = [by_node[node] for node in beside]
    handles = []
    with _explained(
        "stage backward input", stage_outputs_or_loss, output_grads, input_values
    ):
        try:
            for group in groups:
                group["grads"] = [None] * len(group["intermediates"])
                for place, node in enumerate(group["intermediates"]):
                    handles.append(node.register_prehook(_keeper(group, place)))
            found: dict[int, Tensor | None] = {}
            if outputs and (inputs or others):
                made = autograd.grad(
                    outputs,
                    [*inputs, *others],
                    grad_outputs=grads,
                    retain_graph=True,
                    allow_unused=True,
                )
                found = {id(x): grad for x, grad in zip([*inputs, *others], made)}
        finally:
            for handle in handles:
                handle.remove()
        given = tuple(found.get(id(x)) for x in input_values)
        for value in (*inputs, *others):
            grad = found.get(id(value))
            if grad is not None:
                value.grad = grad if value.grad is None else value.grad + grad
        for output in stage_outputs_or_loss:
            if not output._is_view():
                output.detach_()
    return given, groups


def _keeper(group: dict, place: int):
    def keep(grads) -> None:
        group["grads"][place] = grads

    return keep


def _giver(grads):
    return lambda given: grads


def stage_backward_weight(
    weights: Iterator[Parameter], param_groups: list[dict], retain_graph: bool = False
) -> tuple:
    """Adds the gradients of weights to theirs, from what `stage_backward_input`
    kept. Returns their gradients from before.

    Args:
        weights: the parameters.
        param_groups: what was kept; it is used up.
        retain_graph: taken; the graph lasts as long as something has it.
    """
    by_node, before = {}, []
    for weight in weights:
        before.append(weight.grad)
        if weight.requires_grad:
            by_node[_node_of(weight)] = weight
    for group in param_groups:
        edges, given = [], []
        nodes, kept = group.pop("intermediates"), group.pop("grads")
        for node, grads in zip(nodes, kept):
            for place, grad in enumerate(grads or ()):
                if grad is not None:
                    edges.append(GradientEdge(node, place))
                    given.append(grad)
        if not edges:
            continue
        handles = []
        try:
            if len(nodes) > 1:
                # A node below another one would get its gradient a second time.
                for node, grads in zip(nodes, kept):
                    if grads is not None:
                        handles.append(node.register_prehook(_giver(grads)))
            made = autograd.grad(
                edges,
                tuple(GradientEdge(node, 0) for node in group["params"]),
                grad_outputs=given,
                # Groups may share nodes, and all go when they are forgotten.
                retain_graph=True,
                allow_unused=True,
            )
        finally:
            for handle in handles:
                handle.remove()
        for node, grad in zip(group["params"], made):
            weight = by_node[node]
            if grad is not None:
                weight.grad = grad if weight.grad is None else weight.grad + grad
    return tuple(before)


def _null_coalesce_accumulate(lhs, rhs):
    """The sum of two values, of which either may be None."""
    if lhs is None:
        return rhs
    return lhs if rhs is None else lhs + rhs
