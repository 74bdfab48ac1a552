"""`backward` and `grad`: checks of their arguments, then the engine."""

from __future__ import annotations

import functools
import warnings

from .. import _C, Tensor, ones, stack
from .graph import GradientEdge


def _tuple(value) -> tuple:
    """Tensors and places of the graph, of which one alone is meant too."""
    if isinstance(value, (Tensor, GradientEdge)):
        return (value,)
    return tuple(value)


def _described(output: Tensor | GradientEdge):
    """What has the shape, dtype and device of an output."""
    if isinstance(output, GradientEdge):
        return output.node._input_metadata[output.output_nr]
    return output


def _first_gradients(outputs: tuple, grads: tuple) -> tuple:
    """The gradients to start from; ones for scalars that have none."""
    result = []
    for i, (output, grad) in enumerate(zip(outputs, grads)):
        if grad is None:
            if isinstance(output, GradientEdge) or output.requires_grad:
                grad = _one(_described(output))
        elif not isinstance(grad, Tensor):
            raise TypeError(
                "gradients can be either Tensors or None, but got "
                f"{type(grad).__name__}"
            )
        else:
            _check_gradient(i, _described(output), grad)
        result.append(grad)
    return tuple(result)


def _one(output) -> Tensor:
    if output.shape.numel() != 1:
        raise RuntimeError(
            "grad can be implicitly created only for scalar outputs"
        )
    if not output.dtype.is_floating_point:
        raise RuntimeError(
            "grad can be implicitly created only for real scalar outputs but "
            f"got {output.dtype}"
        )
    return ones(output.shape, dtype=output.dtype, device=output.device)


def _check_gradient(i: int, output, grad: Tensor) -> None:
    if grad.shape != output.shape:
        raise RuntimeError(
            f"Mismatch in shape: grad_output[{i}] has a shape of {grad.shape} "
            f"and output[{i}] has a shape of {output.shape}."
        )
    if grad.is_complex() != output.dtype.is_complex:
        raise RuntimeError(
            "For complex Tensors, both grad_output and output are required to "
            f"have the same dtype. Mismatch in dtype: grad_output[{i}] has a "
            f"dtype of {grad.dtype} and output[{i}] has a dtype of "
            f"{output.dtype}."
        )


def _gradients_for(outputs: tuple, grads) -> tuple:
    if grads is None:
        given = (None,) * len(outputs)
    elif isinstance(grads, Tensor):
        given = (grads,)
    else:
        given = tuple(grads)
    return given


def backward(
    tensors,
    grad_tensors=None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables=None,
    inputs=None,
) -> None:
    """Adds the gradients of `tensors` to the `.grad` of the graph's leaves.

    Args:
        tensors: a tensor or several; a `GradientEdge` counts as one here and
            in `inputs`.
        grad_tensors: one gradient a tensor, of its shape; None for scalars.
        retain_graph: keep the graph for another pass; `create_graph` if None.
        create_graph: record the pass itself, for higher derivatives.
        grad_variables: old name of `grad_tensors`.
        inputs: accumulate into these only, instead of into all leaves.

    Raises:
        RuntimeError: shapes that differ, a missing gradient of a non-scalar, a
            tensor without graph, or a graph that was already freed.
    """
    if grad_variables is not None:
        warnings.warn(
            "`grad_variables` is deprecated. Use `grad_tensors` instead.",
            FutureWarning,
            stacklevel=2,
        )
        if grad_tensors is not None:
            raise RuntimeError(
                "`grad_tensors` and `grad_variables` (deprecated) arguments "
                "both passed to `backward()`. Please only use `grad_tensors`."
            )
        grad_tensors = grad_variables
    if inputs is not None:
        inputs = _tuple(inputs)
        if not inputs:
            raise RuntimeError(
                "`inputs` argument to `backward()` cannot be empty."
            )
    tensors = _tuple(tensors)
    grads = _gradients_for(tensors, grad_tensors)
    grads = _first_gradients(tensors, grads)
    keep = create_graph if retain_graph is None else retain_graph
    _C._run_backward(
        tensors, grads, keep, create_graph, inputs or (), True, True
    )


def _each_slice(grad_of, outputs: tuple, grads: tuple, keep: bool) -> tuple:
    """One pass for each slice of the gradients; their results, stacked."""
    counts = set()
    for output, given in zip(outputs, grads):
        if given is None:
            raise RuntimeError(
                "grad: is_grads_batched needs a gradient for every output"
            )
        if given.dim() == 0 or given.shape[1:] != output.shape:
            raise RuntimeError(
                "If `is_grads_batched=True`, we interpret the first dimension "
                "of each grad_output as the batch dimension. The sizes of the "
                "remaining dimensions are expected to match the shape of "
                "corresponding output, but a mismatch was detected: "
                f"grad_output has a shape of {given.shape} and output has a "
                f"shape of {output.shape}."
            )
        counts.add(given.shape[0])
    if len(counts) != 1:
        raise ValueError(
            "grad: expected all grad_outputs to have the same size of the "
            f"batch dimension, got {sorted(counts)}"
        )
    count = counts.pop()
    if count == 0:
        raise ValueError("grad: the batch dimension of grad_outputs is empty")
    rows = [
        grad_of([g[i] for g in grads], retain_graph=keep or i + 1 < count)
        for i in range(count)
    ]
    return tuple(
        None if column[0] is None else stack(column) for column in zip(*rows)
    )


def grad(
    outputs,
    inputs,
    grad_outputs=None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Tensor | None, ...]:
    """Returns the gradients of `outputs` with respect to `inputs`.

    No tensor's `.grad` changes.

    Args:
        outputs: a tensor or several; a `GradientEdge` counts as one.
        inputs: the same.
        grad_outputs: one gradient an output, of its shape; None for scalars.
        retain_graph: as in `backward`.
        create_graph: as in `backward`.
        only_inputs: has no effect; kept for old callers.
        allow_unused: None instead of an error for an input that was not used.
        is_grads_batched: `grad_outputs` have a first dimension more, and so
            have the results: one backward pass for each of its slices.
        materialize_grads: zeros instead of None for such inputs.

    Raises:
        RuntimeError: as `backward`, or an input that was not used.
    """
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when "
            "materialize_grads=True, but got: allow_unused=False."
        )
    if not only_inputs:
        warnings.warn(
            "only_inputs argument is deprecated and is ignored now (defaults "
            "to True). To accumulate gradient for other parts of the graph, "
            "please use torch.autograd.backward.",
            FutureWarning,
            stacklevel=2,
        )
    outputs, inputs = _tuple(outputs), _tuple(inputs)
    if not inputs:
        raise RuntimeError("`inputs` argument to `grad()` cannot be empty.")
    if is_grads_batched:
        return _each_slice(
            functools.partial(
                grad,
                outputs,
                inputs,
                create_graph=create_graph,
                allow_unused=allow_unused,
                materialize_grads=materialize_grads,
            ),
            outputs,
            _gradients_for(outputs, grad_outputs),
            create_graph if retain_graph is None else retain_graph,
        )
    grads = _first_gradients(outputs, _gradients_for(outputs, grad_outputs))
    keep = create_graph if retain_graph is None else retain_graph
    unused = materialize_grads if allow_unused is None else allow_unused
    result = _C._run_backward(
        outputs, grads, keep, create_graph, inputs, unused, False
    )
    if materialize_grads:
        from .. import zeros_like

        if any(
            g is None and isinstance(i, GradientEdge)
            for g, i in zip(result, inputs)
        ):
            raise RuntimeError(
                "materialize_grads cannot be used when the given input is a "
                "GradientEdge"
            )
        result = tuple(
            zeros_like(i, requires_grad=create_graph) if g is None else g
            for g, i in zip(result, inputs)
        )
    return tuple(result)
