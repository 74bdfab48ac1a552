"""Helpers that the rules for gradients of each sample share."""

from __future__ import annotations

from collections.abc import Callable

from .... import Tensor, autograd
from ...._extension.grad_mode import enable_grad
from .expanded_weights_impl import ExpandedWeight


def per_sample(function: Callable, args: tuple, kwargs: dict, rules):
    """Calls a function so that `backward` gives each sample's gradients.

    Args:
        function: computes one tensor of which each sample depends on the same
            sample of the first argument alone.
        args, kwargs: its arguments, ExpandedWeights among them.
        rules: pairs of a weight, of any kind or None, and a function of the
            result's gradient, with the weight's gradients by sample.

    Raises:
        RuntimeError: of `forward_helper`; and behind `backward`, a weight that
            wants a gradient of the usual kind.
    """
    plain, named = _check_and_unexpand_args(function, args, kwargs)
    call = _Call(lambda x: function(x, *plain[1:], **named), plain[0], rules)
    weights = (value for value in (*args, *kwargs.values()))
    originals = [w.orig_weight for w in weights if isinstance(w, ExpandedWeight)]
    return _PerSampleGrad.apply(call, plain[0], *originals)


class _Call:
    """One call: its graph, for the input's gradient, and its rules."""

    def __init__(self, function, input, rules) -> None:
        self._function = function
        self._rules = rules
        self._wanted = input.requires_grad
        self._input = input.detach().requires_grad_(self._wanted)

    def run(self) -> Tensor:
        with enable_grad():
            self._output = self._function(self._input)
        return self._output.detach()

    def go_back(self, gradient):
        """The input's gradient, or None; the weights get theirs."""
        wanted = None
        if self._wanted:
            (wanted,) = autograd.grad(
                self._output, self._input, gradient, retain_graph=True
            )
        for weight, rule in self._rules:
            set_grad_sample_if_exists(weight, lambda _, rule=rule: rule(gradient))
        return wanted


class _PerSampleGrad(autograd.Function):
    @staticmethod
    def forward(ctx, call: _Call, *tensors):
        ctx.call, ctx.count = call, len(tensors)
        return call.run()

    @staticmethod
    def backward(ctx, gradient):
        return (None, ctx.call.go_back(gradient), *[None] * (ctx.count - 1))


def standard_kwargs(kwarg_names, expanded_args) -> tuple[tuple, dict]:
    """Parts arguments whose last ones belong to these names."""
    first = len(expanded_args) - len(kwarg_names)
    named = dict(zip(kwarg_names, expanded_args[first:]))
    return expanded_args[:first], named


def forward_helper(func: Callable, expanded_args, expanded_kwargs):
    """The result of a function with the weights that are stood for.

    Args:
        expanded_args: with the input, whose first dimension is the batch, as
            the first.

    Raises:
        RuntimeError: an input without such a dimension or of another size than
            the weights were told, or weights that are told of several losses.
    """
    args, kwargs = _check_and_unexpand_args(func, expanded_args, expanded_kwargs)
    return func(*args, **kwargs)


def _check_and_unexpand_args(func, args: tuple, kwargs: dict):
    name = getattr(func, "__name__", str(func))
    input = args[0]
    _check_input(input, name)
    weights = [
        value
        for value in (*args, *kwargs.values())
        if isinstance(value, ExpandedWeight)
    ]
    for weight in weights:
        if weight.batch_size != input.shape[0]:
            raise RuntimeError(
                "Expected ExpandedWeights to have batch size matching input "
                f"but got input batch size of {input.shape[0]} with "
                f"ExpandedWeight of batch size {weight.batch_size}"
            )
        if weight.loss_reduction != weights[0].loss_reduction:
            raise RuntimeError(
                "Expected ExpandedWeights to all have the same loss_reduction "
                f"argument but got onewith {weights[0].loss_reduction} and one "
                f"with {weight.loss_reduction}"
            )
    return (
        tuple(map(_original, args)),
        {key: _original(value) for key, value in kwargs.items()},
    )


def _check_input(input, name: str) -> None:
    if isinstance(input, ExpandedWeight):
        raise RuntimeError(
            "Expanded Weights do not support inputs that are also "
            "ExpandedWeights. Input must be a Tensor, got "
            f"{type(input).__name__} in function {name}"
        )
    if not isinstance(input, Tensor):
        raise RuntimeError(
            "Expanded Weights requires a Tensor as the first input to get the "
            f"batch dimension, got {type(input).__name__} in function {name}"
        )
    if input.dim() == 0:
        raise RuntimeError(
            "Expanded Weights requires a batch dimension but got an input of "
            f"size 0 in function {name}"
        )
    if input.shape[0] == 0:
        raise RuntimeError(
            "0 is not a valid batch size for Expanded Weights but got input "
            f"tensor of {input} in function {name}"
        )


def _original(value):
    return value.orig_weight.detach() if isinstance(value, ExpandedWeight) else value


def set_grad_sample_if_exists(
    maybe_expanded_weight, per_sample_grad_fn: Callable
) -> None:
    """Adds to `grad_sample` of the weight that an ExpandedWeight stands for.

    Args:
        maybe_expanded_weight: anything; else nothing happens.
        per_sample_grad_fn: gives what is added, of that weight.

    Raises:
        RuntimeError: a tensor that wants a gradient of the usual kind.
    """
    weight = unpack_expanded_weight_or_tensor(maybe_expanded_weight)
    if not isinstance(maybe_expanded_weight, ExpandedWeight):
        return
    added = per_sample_grad_fn(weight)
    if maybe_expanded_weight.loss_reduction == "mean":
        added = added * maybe_expanded_weight.batch_size
    known = getattr(weight, "grad_sample", None)
    weight.grad_sample = added if known is None else known + added


def unpack_expanded_weight_or_tensor(
    maybe_expanded_weight, func: Callable = lambda x: x
):
    """`func` of the weight that is stood for, or of a tensor; None for others.

    RuntimeError: a tensor that wants a gradient of the usual kind.
    """
    if isinstance(maybe_expanded_weight, ExpandedWeight):
        return func(maybe_expanded_weight.orig_weight)
    if not isinstance(maybe_expanded_weight, Tensor):
        return None
    if maybe_expanded_weight.requires_grad:
        raise RuntimeError(
            "ExpandedWeights currently does not support a mixture of "
            "ExpandedWeight parameters and normal Parameters. "
            "Please file and issue with pytorch/pytorch"
        )
    return func(maybe_expanded_weight)


def sum_over_all_but_batch_and_last_n(tensor: Tensor, n_dims: int) -> Tensor:
    """Sums ``[B, ..., *last]`` to ``[B, *last]``, with `n_dims` last ones."""
    between = list(range(1, tensor.dim() - n_dims))
    return tensor.sum(between) if between else tensor
