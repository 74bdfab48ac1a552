"""The history of what classes and modes answer."""

from __future__ import annotations

from .. import _C
from .._C import Tensor
from ..autograd import Function
from ..utils import _pytree
from .calls import Call
from .derivative import RANDOM, Derivative


def wanted(call: Call) -> bool:
    """Whether the call has a derivative that somebody may ask for."""
    return (
        _C.is_grad_enabled()
        and any(t.requires_grad for t in call.tensors)
        and _name(call) not in _WITHOUT
    )


# What they give is apart from the history of what they are given.
_WITHOUT = frozenset(
    ["detach", "empty_like", "full_like", "ones_like", "rand_like",
     "randint_like", "randn_like", "zeros_like", "new_empty", "new_full",
     "new_ones", "new_zeros"]
)  # fmt: skip


def _name(call: Call) -> str:
    return getattr(call.function, "overloadpacket", call.function).__name__


def run(call: Call):
    """The answer with its history. NotImplementedError for a draw of random
    numbers, RuntimeError where a leaf would be written.
    """
    name = _name(call)
    if name in RANDOM:
        raise NotImplementedError(
            f"{name}: __torch_dispatch__ does not derive draws of random "
            "numbers; draw a mask under no_grad() and multiply by it"
        )
    if call.in_place and call.args[0].requires_grad and call.args[0].is_leaf:
        raise RuntimeError(
            "a leaf Variable that requires grad is being used in an in-place "
            "operation."
        )
    shape: list = []
    found = _Answer.apply(call, shape, *call.tensors)
    if call.in_place:
        return call.args[0]
    leaves = found if isinstance(found, tuple) else (found,)
    return _pytree.tree_unflatten(leaves, shape[0])


class _Answer(Function):
    @staticmethod
    def forward(ctx, call, shape, *tensors):
        ctx.set_materialize_grads(False)
        ctx.call, kept = _out_of_place(call)
        ctx.save_for_backward(*kept)
        result = call.below()
        if call.in_place:
            ctx.mark_dirty(call.args[0])
            return call.args[0]
        leaves, spec = _pytree.tree_flatten(result)
        shape.append(spec)
        ctx.mark_non_differentiable(*(x for x in leaves if _has_no_gradient(x)))
        return tuple(leaves)

    @staticmethod
    def backward(ctx, *grads):
        from . import run as run_call

        tensors = ctx.saved_tensors
        call = ctx.call.with_tensors(tensors)
        places = [
            i for i, t in enumerate(tensors) if ctx.needs_input_grad[i + 2]
        ]
        derivative = Call(
            Derivative(call.function),
            (list(grads), places, call.args, call.kwargs),
            {},
        )
        found = dict(zip(places, run_call(derivative)))
        return (None, None, *(found.get(i) for i in range(len(tensors))))


def _has_no_gradient(x) -> bool:
    return isinstance(x, Tensor) and not (
        x.is_floating_point() or x.is_complex()
    )


def _out_of_place(call: Call) -> tuple[Call, list[Tensor]]:
    """The call whose derivative to take, and its tensors: of an operator in
    place the other form, of what it is about to overwrite a copy.
    """
    if not call.in_place:
        return call, call.tensors
    from .._ops import aten

    name = call.function.overloadpacket.__name__[:-1]
    packet = getattr(aten, name, None)
    form = call.function._overloadname
    if packet is None or form not in packet.overloads():
        raise NotImplementedError(
            f"{name}_: no operator gives what it does in place, so "
            "__torch_dispatch__ knows no derivative"
        )
    tensors = [t.clone() if t is call.args[0] else t for t in call.tensors]
    other = Call(getattr(packet, form), call.args, call.kwargs)
    return other.with_tensors(tensors), tensors
