"""The history of what classes and modes answer."""

from __future__ import annotations

from .. import _C
from .._C import Tensor
from .._ops import aten
from .._own_names import no_member
from .._tensor.refusals import check_written
from ..autograd import Function
from ..utils import _pytree
from . import stack
from .calls import Call, types
from .derivative import OVERWRITING, RANDOM, Derivative, Overwriting, inputs_that_matter
from .stack import native

# Operators whose results are apart from the history of their arguments.
_WITHOUT = frozenset(
    [
        "detach",
        "empty_like",
        "full_like",
        "ones_like",
        "rand_like",
        "randint_like",
        "randn_like",
        "zeros_like",
        "new_empty",
        "new_full",
        "new_ones",
        "new_zeros",
    ]
)
# Overloads that are called otherwise where they are not in place.
_FORMS = {
    "pow.Tensor": "Tensor_Tensor",
    "pow.Scalar": "Tensor_Scalar",
    "float_power.Tensor": "Tensor_Tensor",
    "float_power.Scalar": "Tensor_Scalar",
    "ldexp.default": "Tensor",
    "transpose.default": "int",
}


# They change the sizes of what they are given, whose history they keep.
_SHAPES = frozenset(
    [
        "as_strided_",
        "squeeze_",
        "swapaxes_",
        "swapdims_",
        "t_",
        "transpose_",
        "unsqueeze_",
    ]
)


def run(call: Call):
    """The answer to an operator's call, with its history.

    NotImplementedError for the derivative of a draw of random numbers,
    RuntimeError where a leaf would be written.
    """
    with stack.asked():
        return _run(call)


def _run(call: Call):
    if stack.modes() and getattr(stack.modes()[-1], "_keeps_history", False):
        with stack.without_last() as mode:
            found = mode.__torch_dispatch__(
                call.function, types(call.tensors), call.args, call.kwargs
            )
        return call.finish(found)
    places = _recorded(call)
    if not places:
        return call.finish(call.below())
    name = _name(call)
    if call.outs:
        raise RuntimeError(
            f"{name}(): functions with out=... arguments don't support "
            "automatic differentiation, but one of the arguments requires grad."
        )
    if name in RANDOM:
        raise NotImplementedError(
            f"{name}: __torch_dispatch__ does not derive draws of random "
            "numbers; draw a mask under no_grad() and multiply by it"
        )
    if call.in_place:
        check_written(call.args[0])
        if name in _SHAPES and not types(call.args[:1]):
            return call.finish(call.below())
    shape: list = []
    tensors = call.tensors
    # With the history of what will be overwritten, for second derivatives.
    kept = _out_of_place(call)
    inputs = (tensors[i] for i in places)
    found = _Answer.apply(call, kept, shape, places, *inputs)
    if call.in_place:
        return call.args[0]
    leaves = found if isinstance(found, tuple) else (found,)
    return _pytree.tree_unflatten(leaves, shape[0])


def _recorded(call: Call) -> list[int]:
    """Which tensors of the call its derivative may be asked by."""
    if not _C.is_grad_enabled() or _name(call) in _WITHOUT:
        return []
    places = [i for i, t in enumerate(call.tensors) if t.requires_grad]
    if places and isinstance(call.function, Derivative):
        return inputs_that_matter(call, places)
    return places


def _name(call: Call) -> str:
    return getattr(call.function, "overloadpacket", call.function).__name__


class _Answer(Function):
    @staticmethod
    def forward(ctx, call, kept, shape, places, *inputs):
        ctx.set_materialize_grads(False)
        ctx.call, ctx.places = kept, places
        ctx.save_for_backward(*kept.tensors)
        result = call.below()
        if call.in_place:
            ctx.mark_dirty(call.args[0])
            return call.args[0]
        leaves, spec = _pytree.tree_flatten(result)
        shape.append(spec)
        ctx.mark_non_differentiable(*filter(_has_no_gradient, leaves))
        return tuple(leaves)

    @staticmethod
    def backward(ctx, *grads):
        call = ctx.call.with_tensors(ctx.saved_tensors)
        needed = ctx.needs_input_grad[4:]
        wanted = [p for p, need in zip(ctx.places, needed) if need]
        arguments = (list(grads), wanted, call.args, call.kwargs)
        found = iter(run(Call(Derivative(call.function), arguments, {})))
        return (None,) * 4 + tuple(next(found) if n else None for n in needed)


def _saved(node, name: str):
    """Returns what the node of an answer has of the call: `_saved_<argument>`,
    or `_saved_<argument>_sym_sizes` for the sizes of a tensor.

    AttributeError for any other name, RuntimeError once it is freed.
    """
    wanted = name.removeprefix("_saved_")
    call = node.__dict__.get("call")
    if call is not None and wanted != name:
        saved = node.saved_tensors
        if len(saved) != len(call.tensors):
            raise RuntimeError(f"{name}: the graph of this node was freed")
        call = call.with_tensors(saved)
        given = call.by_name()
        if wanted in given:
            return given[wanted]
        wanted = wanted.removesuffix("_sym_sizes")
        if isinstance(given.get(wanted), Tensor):
            return list(native(given[wanted].size, (), {}))
    raise no_member(type(node), name)


_Answer._backward_cls.__getattr__ = _saved


def _has_no_gradient(x) -> bool:
    return isinstance(x, Tensor) and not (x.is_floating_point() or x.is_complex())


def _out_of_place(call: Call) -> Call:
    """The call whose derivative to take: of an operator in place the other
    form, with a copy of what is about to be overwritten.
    """
    if not call.in_place:
        return call
    name = call.function.overloadpacket.__name__[:-1]
    if name in OVERWRITING:
        function = Overwriting(name)
    else:
        packet = getattr(aten, name, None)
        form = call.function._overloadname
        form = _FORMS.get(f"{name}.{form}", form)
        if packet is None or form not in packet.overloads():
            raise NotImplementedError(
                f"{name}_: no operator gives what it does in place, so "
                "__torch_dispatch__ knows no derivative"
            )
        function = getattr(packet, form)
    tensors = [t.clone() if t is call.args[0] else t for t in call.tensors]
    other = Call(function, call.args, call.kwargs)
    return other.with_tensors(tensors)
