"""Modules as functions of their parameters and buffers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from .. import Tensor, nn, stack
from ..nn.utils.stateless import _functional_call

__all__ = ["functional_call", "replace_all_batch_norm_modules_", "stack_module_state"]


def functional_call(
    module,
    parameter_and_buffer_dicts: dict[str, Tensor] | Sequence[dict],
    args=None,
    kwargs: dict | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
):
    """Calls a module with other tensors in place of its own.

    Args:
        module: is afterwards as before. What it did to the tensors in place,
            or put in their place, is in the dict.
        parameter_and_buffer_dicts: tensors by name; or several dicts without a
            name in common. `weight` of a parametrized module takes the place of
            what is computed, `parametrizations.weight.original` of what it is
            computed from.
        args: a tuple, or the one argument.
        kwargs: further arguments.
        tie_weights: a tensor of several names is replaced under all of them.
        strict: all tensors of the module have to be given, and no others.

    Raises:
        ValueError: names twice; different values for one tensor.
        RuntimeError: names that are missing or unknown; a scripted module.
    """
    return _functional_call(
        module,
        _merged(parameter_and_buffer_dicts),
        args,
        kwargs,
        tie_weights=tie_weights,
        strict=strict,
    )


def _merged(dicts) -> dict:
    if isinstance(dicts, dict):
        return dicts
    if not isinstance(dicts, Sequence):
        raise ValueError(
            "Expected parameter_and_buffer_dicts to be a dict, or a list/tuple "
            f"of dicts, but got {type(dicts)}"
        )
    if not all(isinstance(each, dict) for each in dicts):
        raise ValueError(
            "Expected all elements of parameter_and_buffer_dicts to be dictionaries"
        )
    counts = Counter(name for each in dicts for name in each)
    repeated = [name for name, count in counts.items() if count > 1]
    if repeated:
        raise ValueError(
            f"{repeated} appeared in multiple dictionaries; behavior of "
            "functional call is ambiguous"
        )
    return {name: value for each in dicts for name, value in each.items()}


def stack_module_state(models) -> tuple[dict, dict]:
    """Parameters and buffers of models alike, by name, stacked along a new
    first axis. Parameters that take gradients give leaves that do.

    Raises:
        RuntimeError: no models, or models of different kinds.
    """
    if len(models) == 0:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if len({model.training for model in models}) > 1:
        raise RuntimeError(
            "stack_module_state: Expected all models to have the same "
            "training/eval mode."
        )
    if len({type(model) for model in models}) > 1:
        raise RuntimeError(
            "stack_module_state: Expected all models to be of the same class."
        )
    parameters = [dict(model.named_parameters()) for model in models]
    buffers = [dict(model.named_buffers()) for model in models]
    return _stacked(parameters), _stacked(buffers)


def _stacked(states: list[dict]) -> dict:
    found = {}
    for name in states[0]:
        tensors = [state[name] for state in states]
        needs = {tensor.requires_grad for tensor in tensors}
        if len(needs) > 1:
            raise RuntimeError(
                f"Expected {name} from each model to have the same .requires_grad"
            )
        stacked = stack(tensors)
        if needs == {True}:
            stacked = stacked.detach().requires_grad_()
        found[name] = stacked
    return found


def replace_all_batch_norm_modules_(root):
    """Takes the running statistics off all batch norms below `root`, in place.

    They then use those of each batch, and write nothing. Returns `root`.
    """
    for module in root.modules():
        if isinstance(module, nn.modules.batchnorm._BatchNorm):
            module.running_mean = None
            module.running_var = None
            module.num_batches_tracked = None
            module.track_running_stats = False
    return root
