"""`backward` and `grad`: checks of their arguments, then the engine."""

from __future__ import annotations

import threading
import warnings

from .. import _C, Tensor, ones, ones_like
from .._late import lent
from .._tensor.nested_names import jagged
from .graph import GradientEdge


class _Pass(threading.local):
    """Tells whether every leaf gets its gradient in this thread's passes."""

    for_all = True


_current = _Pass()


def _is_checkpoint_valid() -> bool:
    """False inside of passes that look only for the gradients of some inputs.

    What runs a backward pass of its own inside of one can't tell these.
    """
    return _current.for_all


def _run(outputs, grads, keep, create_graph, inputs, unused, accumulate):
    """One pass of the engine, with `_current` as it is meant during it."""
    if not inputs:  # as it is
        return _C._run_backward(
            outputs, grads, keep, create_graph, inputs, unused, accumulate
        )
    before = _current.for_all
    _current.for_all = False
    try:
        return _C._run_backward(
            outputs, grads, keep, create_graph, inputs, unused, accumulate
        )
    finally:
        _current.for_all = before


def _tuple(value) -> tuple:
    """Tensors and places of the graph, of which one alone is meant too."""
    if isinstance(value, (Tensor, GradientEdge)):
        return (value,)
    if (
        not isinstance(value, (tuple, list))
        and _C._overridden(value)
        and not _is_nested(value)
    ):
        return (value,)
    return tuple(value)


def _described(output: Tensor | GradientEdge):
    """Finds what has the shape, dtype and device of an output."""
    if isinstance(output, GradientEdge):
        return output.node._input_metadata[output.output_nr]
    return output


def _calculate_shape(output, grad: Tensor, is_grads_batched: bool) -> tuple:
    """The shapes of an output and of a gradient, or of one of a batch's; of
    nested tensors in rows the shapes of their elements.

    RuntimeError: a batch of gradients for a place of the graph, or for a
    nested tensor.
    """
    if getattr(output, "is_nested", False) and output.layout is _C.strided:
        if is_grads_batched:
            raise RuntimeError("Batched grads are not supported with Nested Tensor.")
        return output._nested_tensor_size(), grad._nested_tensor_size()
    if is_grads_batched and isinstance(output, GradientEdge):
        raise RuntimeError("Batched grads are not supported with GradientEdge")
    shape = grad.shape[1:] if is_grads_batched else grad.shape
    return _described(output).shape, shape


def _first_gradients(outputs: tuple, grads: tuple) -> tuple:
    """The gradients to start from; ones for scalars that have none."""
    result = []
    for i, (output, grad) in enumerate(zip(outputs, grads)):
        if not isinstance(output, (Tensor, GradientEdge)):
            raise AssertionError("Expected output to be a torch.Tensor")
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
    # The usual case, with as few questions as there can be.
    plain = _C._answering_class(output) is Tensor and output.numel() == 1
    if plain and output.is_floating_point():
        return ones_like(output)
    if _is_nested(output) or output.shape.numel() != 1:
        raise RuntimeError("grad can be implicitly created only for scalar outputs")
    if not output.dtype.is_floating_point:
        raise RuntimeError(
            "grad can be implicitly created only for real scalar outputs but "
            f"got {output.dtype}"
        )
    return ones(output.shape, dtype=output.dtype, device=output.device)


def _is_nested(x) -> bool:
    """Asked of the class: an attribute would ask who answers for `x`."""
    return isinstance(x, Tensor) and _C._answering_class(x).is_nested is True


def _mismatch(i: int, grad, output) -> RuntimeError:
    return RuntimeError(
        f"Mismatch in shape: grad_output[{i}] has a shape of {grad} "
        f"and output[{i}] has a shape of {output}."
    )


def _check_nested(i: int, output, grad: Tensor) -> None:
    """A nested tensor has a nested gradient of its sizes."""
    kinds = ["nested" if _is_nested(x) else "not nested" for x in (output, grad)]
    if "not nested" in kinds:
        raise RuntimeError(
            "Expected both self and other to be nested tensors. "
            f"Self is {kinds[0]}. While Other is {kinds[1]}."
        )
    if not output.is_same_size(grad):
        sizes = [
            x.shape if x.layout is jagged else x._nested_tensor_size()
            for x in (grad, output)
        ]
        raise _mismatch(i, *sizes)


def _check_gradient(i: int, output, grad: Tensor) -> None:
    if _is_nested(output) or _is_nested(grad):
        return _check_nested(i, output, grad)
    if grad.shape != output.shape:
        raise _mismatch(i, grad.shape, output.shape)
    if grad.is_complex() != output.dtype.is_complex:
        raise RuntimeError(
            "For complex Tensors, both grad_output and output are required to "
            "have the same dtype. "
            f"Mismatch in dtype: grad_output[{i}] has a dtype of {grad.dtype} "
            f"and output[{i}] has a dtype of {output.dtype}."
        )


def _gradients_for(outputs: tuple, grads) -> tuple:
    if grads is None:
        given = (None,) * len(outputs)
    elif isinstance(grads, Tensor):
        given = (grads,)
    else:
        given = tuple(grads)
    if len(given) < len(outputs):
        raise RuntimeError(f"got {len(outputs)} tensors and {len(given)} gradients")
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
            raise RuntimeError("`inputs` argument to `backward()` cannot be empty.")
    tensors = _tuple(tensors)
    grads = _gradients_for(tensors, grad_tensors)
    grads = _first_gradients(tensors, grads)
    keep = create_graph if retain_graph is None else retain_graph
    _run(tensors, grads, keep, create_graph, inputs or (), True, True)


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
) -> tuple[Tensor, ...]:
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
        is_grads_batched: gradients have a dimension in front, and the results
            as well: one backward pass for each slice of it.
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
    if _C._overridden(*outputs, *inputs) and not any(
        _is_nested(x) for x in (*outputs, *inputs)
    ):
        return _C._handle_torch_function(
            grad,
            (*outputs, *inputs),
            (outputs, inputs),
            {
                "grad_outputs": grad_outputs,
                "retain_graph": retain_graph,
                "create_graph": create_graph,
                "only_inputs": only_inputs,
                "allow_unused": allow_unused,
                "is_grads_batched": is_grads_batched,
                "materialize_grads": materialize_grads,
            },
        )
    return gradients(
        outputs,
        inputs,
        grad_outputs,
        retain_graph,
        create_graph,
        allow_unused=allow_unused,
        is_grads_batched=is_grads_batched,
        materialize_grads=materialize_grads,
    )


def gradients(
    outputs: tuple,
    inputs: tuple,
    grad_outputs=None,
    retain_graph=None,
    create_graph=False,
    only_inputs=True,
    allow_unused=None,
    is_grads_batched=False,
    materialize_grads=False,
) -> tuple:
    """Computes what `grad` gives, whatever classes the tensors are of."""
    if not inputs:
        raise RuntimeError("`inputs` argument to `grad()` cannot be empty.")
    given = _gradients_for(outputs, grad_outputs)
    if is_grads_batched:
        return _batched(
            outputs, inputs, given, create_graph, allow_unused, materialize_grads
        )
    grads = _first_gradients(outputs, given)
    keep = create_graph if retain_graph is None else retain_graph
    unused = materialize_grads if allow_unused is None else allow_unused
    result = _run(outputs, grads, keep, create_graph, inputs, unused, False)
    if materialize_grads:
        from .. import zeros_like

        if any(
            g is None and isinstance(i, GradientEdge) for g, i in zip(result, inputs)
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


def _batched(
    outputs, inputs, given, create_graph, allow_unused, zeros
) -> tuple[Tensor | None, ...]:
    """One backward pass for each slice of the gradients, results stacked."""
    given = [
        _first_gradients((output,), (None,))[0] if slices is None else slices
        for output, slices in zip(outputs, given)
    ]
    for i, (output, slices) in enumerate(zip(outputs, given)):
        # PyTorch's text tells the shape of a slice's slice.
        if isinstance(slices, Tensor) and slices[0].shape != output.shape:
            raise RuntimeError(
                "If `is_grads_batched=True`, we interpret the first dimension "
                "of each grad_output as the batch dimension. "
                "The sizes of the remaining dimensions are expected to match "
                "the shape of corresponding output, but a mismatch was "
                f"detected: grad_output[{i}] has a shape of {slices.shape[2:]} "
                f"and output[{i}] has a shape of {output.shape}. "
                "If you only want some tensors in `grad_output` to be "
                "considered batched, consider using vmap."
            )

    def vjp(*grads):
        # Every slice walks the same graph.
        return grad(
            outputs,
            inputs,
            grads,
            True,
            create_graph,
            allow_unused=allow_unused,
            materialize_grads=zeros,
        )

    mapped = lent("map_slices")(vjp, 0, 0, allow_none_pass_through=True)
    return mapped(*given)
