"""Derivatives that are given as a dictionary of gradients."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable

from .. import Tensor, is_grad_enabled
from .._library.utils import is_tensor_like_type, is_tensorlist_like_type
from .._operators import arguments, keys
from .._trees import flat as _tree
from ..autograd.function import Function

tensors_in = arguments.tensors_in
_HALF = (
    "We found a '{}' registration for {} at {} but were unable to find a '{}' "
    "registration. To use the CustomOp API to register a backward formula, "
    "please provide us both a backward function and a 'save for backward' "
    "function via `impl_backward` and `impl_save_for_backward` respectively."
)
_KEYS = (
    "expected the returned grad_input dict to have keys {} but got {}. The "
    "backward function must return a gradient (can be None) for each arg to "
    "the CustomOp that may be a Tensor or Sequence[Tensor]. Args declared to "
    "be non-Tensor-like types should not appear in the grad_input dict"
)


def kernel(op) -> Callable:
    """The autograd kernel of a CustomOp: its formula, once it has one."""

    def run(*args, **kwargs):
        halves = [op._impls.get(k) for k in ("save_for_backward", "backward")]
        if all(halves):
            return _with_formula(op, args, kwargs)
        if any(halves):
            found = op._impls.get("backward")
            names = ["backward", "save_for_backward"]
            if found is None:
                found = op._impls["save_for_backward"]
                names.reverse()
            raise RuntimeError(_HALF.format(names[0], op, found.location, names[1]))
        wants = any(t.requires_grad for t in tensors_in(args, kwargs))
        if is_grad_enabled() and wants:
            raise RuntimeError("Autograd has not been implemented for operator")
        return _below(op, args, kwargs)

    return run


def _below(op, args, kwargs):
    with keys.AutoDispatchBelowAutograd():
        return op(*args, **kwargs)


def _with_formula(op, args: tuple, kwargs: dict):
    """Runs the operator in a Function of the arguments' tensors."""
    args, kwargs = arguments.filled(op._schema, args, kwargs)
    values = [*args, *kwargs.values()]
    leaves, spec = _tree.flatten(values)
    state = {}

    def forward(ctx, *flat):
        inside = _tree.unflatten(list(flat), spec)
        named = dict(zip(kwargs, inside[len(args) :]))
        result = _below(op, inside[: len(args)], named)
        inputs = _named(op, inside)
        saved = op._impls["save_for_backward"].func(inputs, result)
        _save(ctx, saved)
        _mark(ctx, op, result)
        flat_result, state["spec"] = _tree.flatten(result)
        return tuple(flat_result)

    def backward(ctx, *flat):
        grads = _tree.unflatten(list(flat), state["spec"])
        if not isinstance(grads, tuple):
            grads = (grads,)
        found = op._impls["backward"].func(object(), _saved(ctx), *grads)
        kinds = dict(zip(_names(op), _tree.mapped(type, values)))
        _check(op, found, kinds)
        return tuple(_flat_grads(found, kinds))

    made = type(
        f"{op._opname}_customop",
        (Function,),
        {"forward": staticmethod(forward), "backward": staticmethod(backward)},
    )
    return _tree.unflatten(list(made.apply(*leaves)), state["spec"])


def _names(op) -> list[str]:
    return [a.name for a in op._schema.arguments]


def _named(op, values):
    made = namedtuple(f"{op._opname}_args", _names(op))
    return made(*values)


def _save(ctx, saved) -> None:
    leaves, ctx._saved_spec = _tree.flatten(saved)
    ctx._saved_places = [isinstance(leaf, Tensor) for leaf in leaves]
    ctx._saved_others = [x for x in leaves if not isinstance(x, Tensor)]
    ctx.save_for_backward(*(x for x in leaves if isinstance(x, Tensor)))


def _saved(ctx):
    tensors, others = iter(ctx.saved_tensors), iter(ctx._saved_others)
    leaves = [next(tensors if is_tensor else others) for is_tensor in ctx._saved_places]
    return _tree.unflatten(leaves, ctx._saved_spec)


def _mark(ctx, op, result) -> None:
    which = op._differentiable
    if which is None:
        return
    results = result if isinstance(result, tuple) else (result,)
    constant = []
    for i, (differentiable, value) in enumerate(zip(which, results)):
        if isinstance(value, (Tensor, list)):
            if not differentiable:
                constant += tensors_in((value,), {})
        elif differentiable:
            raise RuntimeError(
                f"With output_differentiability={which}. "
                f"At idx {i}, we received an object of type {type(value)} that "
                "is not a Tensor, so it cannot have be marked as "
                "differentiable in output_differentiability."
            )
    if constant:
        ctx.mark_non_differentiable(*constant)


def _check(op, found, kinds: dict) -> None:
    """RuntimeError where the gradients are not those of the arguments."""

    def refuse(what: str):
        location = op._impls["backward"].location
        raise RuntimeError(
            f"In the backward function defined for {op} at {location} using "
            f"the CustomOp API, {what}"
        )

    if not isinstance(found, dict):
        refuse(
            "expected the output of the backward function to be a dict but "
            f"got {type(found)}"
        )
    expected = {
        a.name
        for a in op._schema.arguments
        if is_tensor_like_type(a.type) or is_tensorlist_like_type(a.type)
    }
    if expected != found.keys():
        refuse(_KEYS.format(expected, found.keys()))
    for name, grad in found.items():
        if isinstance(kinds[name], list):
            _check_list(refuse, name, grad, kinds[name])
        elif grad is not None:
            _check_one(refuse, name, grad, kinds[name])


def _check_list(refuse: Callable, name: str, grads, kinds: list) -> None:
    start = f"for input '{name}' expected the grad_input dict to hold a list of"
    if not isinstance(grads, (tuple, list)):
        refuse(f"{start} gradients but got object of type {type(grads)}.")
    if len(grads) != len(kinds):
        refuse(f"{start} {len(kinds)} gradients but got {len(grads)}")
    for i, (grad, kind) in enumerate(zip(grads, kinds)):
        if grad is None:
            continue
        if not isinstance(grad, Tensor):
            refuse(
                f"{start} None or Tensor gradients but got object of "
                f"{type(grad)} at index {i}"
            )
        if not issubclass(kind, Tensor):
            refuse(
                f"for input '{name}', got a Tensor as the gradient for the "
                f"{i}-th value but expected None because the {i}-th value was "
                f"not a Tensor (it was type {kinds}"
            )


def _check_one(refuse: Callable, name: str, grad, kind: type) -> None:
    if not isinstance(grad, Tensor):
        refuse(
            f"got object of type {type(grad)} as the gradient for input "
            f"'{name}', but expected the gradient to be either None or a Tensor"
        )
    if not issubclass(kind, Tensor):
        refuse(
            f"got a Tensor as the gradient for input '{name}' but expected "
            f"None as the gradient because input '{name}' was not a Tensor (it "
            f"was type {kind})."
        )


def _flat_grads(found: dict, kinds: dict) -> list:
    flat: list = []
    for name, kind in kinds.items():
        count = len(_tree.flatten(kind)[0])
        grad = found.get(name)
        if isinstance(kind, list):
            flat += [None] * count if grad is None else list(grad)
        else:
            flat += [grad] * count
    return flat
