"""Derivatives of operators defined in Python, as `autograd.Function`s."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .. import is_grad_enabled
from .._operators import arguments, keys
from .._operators.dispatch import run
from .._trees import flat as _tree
from ..autograd.function import Function
from .utils import has_kwarg_only_args, is_tensorlist_like_type


@dataclass
class Info:
    """Parts of a formula; without `backward`, a backward pass is refused."""

    backward: Callable | None
    setup_context: Callable | None


class _Holder:
    """Carries what is no tensor through `apply`."""

    def __init__(self, value) -> None:
        self.value = value


def make_autograd_impl(operator, info: Info) -> Callable:
    """The kernel for the key Autograd that a formula gives.

    Args:
        operator: the operator of the table.
        info: the formula.
    """
    schema = operator.schema
    by_name = has_kwarg_only_args(schema)

    def forward(ctx, *args):
        # The last one, so that the others have their own places in `ctx`.
        kwargs, args = args[-1].value, args[:-1]
        result = _below(operator, args, kwargs)
        if info.setup_context is not None:
            args, kwargs = arguments.filled(schema, args, kwargs)
            named = {"keyword_only_inputs": kwargs} if by_name else {}
            info.setup_context(ctx=ctx, inputs=args, output=result, **named)
        return result

    def backward(ctx, *grads):
        if info.backward is None:
            raise RuntimeError(
                f"Trying to backward through {operator} but no autograd "
                "formula was registered. "
                "Please use register_autograd to add one."
            )
        found = info.backward(ctx, *grads)
        return (*(found if isinstance(found, tuple) else (found,)), None)

    name = operator.qualname.replace("::", "_").replace(".", "_")
    made = type(
        f"GeneratedBackwardFor_{name}",
        (Function,),
        {"forward": staticmethod(forward), "backward": staticmethod(backward)},
    )
    if any(
        is_tensorlist_like_type(a.type) for a in (*schema.arguments, *schema.returns)
    ):
        made = supports_tensorlist(made)

    def kernel(*args, **kwargs):
        tensors = arguments.tensors_in(args, kwargs)
        if is_grad_enabled() and any(t.requires_grad for t in tensors):
            return made.apply(*args, _Holder(kwargs))
        return _below(operator, args, kwargs)

    return kernel


def _below(operator, args: tuple, kwargs: dict):
    with keys.AutoDispatchBelowAutograd():
        return run(operator, args, kwargs)


_DIRECTLY = (
    "NYI: calling supports_tensorlist autograd.Function.{} directly. You "
    "should probably be calling .apply instead. Please file an issue if not."
)
_STRUCTURE = (
    "Expected the return from backward to be of the same structure as the "
    "inputs. Got: {} (return from backward), {} (inputs)"
)


def supports_tensorlist(cls: type[Function]) -> type[Function]:
    """Lets a Function take and return lists of tensors.

    Their tensors count as inputs and outputs; `backward` gets and returns
    lists of gradients in the same places, and `ctx.needs_input_grad` has
    lists there too. Returns the class, whose `apply` is changed.
    """
    original = cls.forward, cls.backward

    def refused(name: str):
        def direct(*args, **kwargs):
            raise NotImplementedError(_DIRECTLY.format(name))

        return staticmethod(direct)

    inner = type(
        cls.__name__,
        (Function,),
        {
            "forward": staticmethod(_flat_forward(original[0])),
            "backward": staticmethod(_flat_backward(original[1])),
        },
    )

    @classmethod
    def apply(cls, *args):
        leaves, spec = _tree.flatten(list(args))
        holder = _Holder((spec, None))
        result = inner.apply(holder, *leaves)
        return _tree.unflatten(list(result), holder.value[1])

    cls.forward, cls.backward = refused("forward"), refused("backward")
    cls.apply = apply
    return cls


def _flat_forward(forward: Callable) -> Callable:
    def flat(ctx, holder, *leaves):
        spec, _ = holder.value
        ctx._list_inputs = spec
        ctx._list_count = len(leaves)
        result = forward(ctx, *_tree.unflatten(list(leaves), spec))
        values, ctx._list_outputs = _tree.flatten(result)
        holder.value = spec, ctx._list_outputs
        return tuple(values)

    return flat


def _flat_backward(backward: Callable) -> Callable:
    def flat(ctx, *grads):
        needed = ctx.needs_input_grad
        nested = _tree.unflatten(list(needed[1:]), ctx._list_inputs)
        ctx.needs_input_grad = tuple(nested)
        given = _tree.unflatten(list(grads), ctx._list_outputs)
        if not isinstance(given, tuple):
            given = (given,)
        try:
            found = backward(ctx, *given)
        finally:
            ctx.needs_input_grad = needed
        found = list(found) if isinstance(found, tuple) else [found]
        return (None, *_grads(found, ctx))

    return flat


def _grads(found: list, ctx) -> list:
    """One gradient for each leaf; None stands for a whole list of them."""
    places = _tree.unflatten(list(range(ctx._list_count)), ctx._list_inputs)
    flat: list = [None] * ctx._list_count
    fits = len(found) == len(places)
    for place, grad in zip(places, found):
        inside = _tree.flatten(place)[0]
        values = [grad]
        if not isinstance(place, int):
            values = [None] * len(inside) if grad is None else list(grad)
        fits = fits and len(values) == len(inside)
        for i, value in zip(inside, values):
            flat[i] = value
    if not fits:
        raise RuntimeError(_STRUCTURE.format(_tree.flatten(found)[1], ctx._list_inputs))
    return flat
