"""Full backward hooks: identity nodes around a module's forward."""

from __future__ import annotations

import warnings

from .... import Tensor, is_grad_enabled
from ....autograd import Function


class BackwardHookFunction(Function):
    """Identity whose backward hands the gradients to `seen(grads)`."""

    @staticmethod
    def forward(ctx, seen, *tensors):
        ctx.seen = seen
        ctx.set_materialize_grads(False)
        views = tuple(t.view_as(t) for t in tensors)
        ctx.mark_non_differentiable(
            *[v for v, t in zip(views, tensors) if not t.requires_grad]
        )
        return views

    @staticmethod
    def backward(ctx, *grads):
        return (None, *ctx.seen(grads))


class BackwardWatch:
    """One call of a module with full backward hooks.

    Inputs and outputs pass through identity nodes; the output's node sees
    `grad_output` first, the input's node sees `grad_input` last.
    """

    def __init__(self, module, hooks: list, pre_hooks: list) -> None:
        self._module = module
        self._hooks = hooks
        self._pre_hooks = pre_hooks
        self._grad_output = None
        self._input_places = None
        self._input_count = 0
        self._output_places = None
        self._output_count = 0

    def wrap_inputs(self, args: tuple) -> tuple:
        args, places, count = self._wrap(args, self._see_input)
        self._input_places, self._input_count = places, count
        return args

    def wrap_outputs(self, result):
        is_tuple = isinstance(result, tuple)
        outputs = result if is_tuple else (result,)
        if not is_tuple and not isinstance(result, Tensor):
            warnings.warn(
                "For backward hooks to be called, module output should be a "
                f"Tensor or a tuple of Tensors but received {type(result)}",
                stacklevel=2,
            )
            return result
        outputs, places, count = self._wrap(outputs, self._see_output)
        self._output_places, self._output_count = places, count
        return outputs if is_tuple else outputs[0]

    @staticmethod
    def _wrap(values: tuple, seen):
        """Passes the tensors of `values` through one identity node.

        Returns (values, places of the tensors or None without gradient, count).
        """
        places = [i for i, v in enumerate(values) if isinstance(v, Tensor)]
        needs = any(values[i].requires_grad for i in places)
        if not needs or not is_grad_enabled():
            return values, None, len(values)
        wrapped = list(values)
        outputs = BackwardHookFunction.apply(seen, *[values[i] for i in places])
        for place, output in zip(places, outputs):
            wrapped[place] = output
        if type(values) is not tuple and hasattr(values, "_fields"):
            return type(values)(*wrapped), places, len(values)
        return tuple(wrapped), places, len(values)

    def _see_output(self, grads: tuple) -> tuple:
        grad_output = _spread(grads, self._output_places, self._output_count)
        for hook in self._pre_hooks:
            changed = hook(self._module, grad_output)
            grad_output = _accept(changed, grad_output, "Backward pre hook", "output")
        self._grad_output = grad_output
        if self._input_places is None:
            # No input needs a gradient: nothing will arrive there, so the
            # hooks run now.
            if self._hooks:
                warnings.warn(
                    "Full backward hook is firing when gradients are computed "
                    "with respect to module outputs since no inputs require "
                    "gradients.",
                    stacklevel=5,
                )
            empty = (None,) * self._input_count
            for hook in self._hooks:
                changed = hook(self._module, empty, grad_output)
                if changed is not None and any(g is not None for g in _tupled(changed)):
                    raise RuntimeError(
                        "Backward hook for Modules where no input requires "
                        "gradient should always return None or None for all "
                        "gradients."
                    )
        return tuple(grad_output[i] for i in self._output_places)

    def _see_input(self, grads: tuple) -> tuple:
        if self._grad_output is None:
            return grads
        grad_input = _spread(grads, self._input_places, self._input_count)
        for hook in self._hooks:
            changed = hook(self._module, grad_input, self._grad_output)
            grad_input = _accept(changed, grad_input, "Backward hook", "input")
        self._grad_output = None
        return tuple(grad_input[i] for i in self._input_places)


def hook_output_node(module, args: tuple, result, hooks: list) -> None:
    """Puts hooks `(module, grad_input, grad_output)` on the output's node."""
    tensors = tensors_in(result)
    node = tensors[0].grad_fn if tensors else None
    if node is None:
        return
    for hook in hooks:

        def run(grad_input, grad_output, hook=hook):
            return hook(module, grad_input, grad_output)

        node.register_hook(run)
    problem = _missed_by_node(args, result, node)
    if problem:
        warnings.warn(problem, FutureWarning, stacklevel=5)


_NOT_FULL = "Using non-full backward hooks on a Module that does not "
_SOON = " is deprecated and will be removed in future versions."
_USE_FULL = " Please use register_full_backward_hook to get the documented behavior."


def _missed_by_node(args: tuple, result, node) -> str | None:
    """Says which of the module's gradients hooks of that node miss."""
    results = result if isinstance(result, tuple) else (result,)
    if not all(isinstance(each, Tensor) for each in results):
        return (
            f"{_NOT_FULL}return a single Tensor or a tuple of Tensors{_SOON} "
            f"This hook will be missing some of the grad_output.{_USE_FULL}"
        )
    if not all(isinstance(each, Tensor) for each in args):
        return (
            f"{_NOT_FULL}take as input a single Tensor or a tuple of Tensors"
            f"{_SOON} This hook will be missing some of the grad_input."
            f"{_USE_FULL}"
        )
    nodes = {each.grad_fn for each in results} - {None}
    if not nodes or (len(nodes) == 1 and node not in nodes):
        return (
            "Using a non-full backward hook when outputs are nested in python "
            f"data structure{_SOON} This hook will be missing some grad_output."
        )
    if len(nodes) > 1:
        return (
            "Using a non-full backward hook when outputs are generated by "
            f"different autograd Nodes{_SOON} This hook will be missing some "
            f"grad_output.{_USE_FULL}"
        )
    above = {each.grad_fn for each in args} - {None}
    if above != {edge[0] for edge in node.next_functions}:
        return (
            "Using a non-full backward hook when the forward contains multiple "
            f"autograd Nodes{_SOON} This hook will be missing some grad_input."
            f"{_USE_FULL}"
        )
    return None


def _spread(grads: tuple, places: list, count: int) -> tuple:
    full = [None] * count
    for place, grad in zip(places, grads):
        full[place] = grad
    return tuple(full)


def _tupled(value) -> tuple:
    return value if isinstance(value, tuple) else (value,)


def _accept(changed, current: tuple, who: str, what: str) -> tuple:
    if changed is None:
        return current
    changed = _tupled(changed)
    if len(changed) != len(current):
        raise RuntimeError(
            f"{who} returned an invalid number of grad_{what}, got "
            f"{len(changed)}, but expected {len(current)}"
        )
    return changed


def tensors_in(value) -> list:
    """The tensors of a nested result, in order."""
    if isinstance(value, Tensor):
        return [value]
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, (list, tuple)):
        return []
    return [tensor for item in value for tensor in tensors_in(item)]
