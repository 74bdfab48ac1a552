"""Count of a call of an operator: calls of those with a formula."""

from __future__ import annotations

from dataclasses import dataclass

from .. import _C, empty
from .._C import Tensor
from .._dispatch.derivative import Derivative
from .._function_schema.signatures import signature
from .._ops import OpOverloadPacket, aten
from . import _flop_products, _pytree
from ._python_dispatch import _disable_current_modes


@dataclass(frozen=True)
class Part:
    """A call, by its arguments, and what it gives."""

    packet: OpOverloadPacket
    args: tuple
    out: object
    kwargs: dict


def of(func, args: tuple, kwargs: dict, out, known) -> list[Part]:
    """The parts of a call that are `known`; that is the call itself if it is.

    Of products of matrices and convolutions tensors are of the meta device.
    """
    if isinstance(func, Derivative):
        return _of_derivative(func.function, out, *args)
    packet = func.overloadpacket
    if packet in known:
        return [Part(packet, args, out, kwargs)]
    if not hasattr(func, "_text"):  # a question about the tensor
        return []
    name = packet.__name__
    with _disable_current_modes():
        if name in _CONVOLUTIONS:
            return [_convolution(func, args, kwargs, out)]
        return [
            _product(p.name, p.shapes(), p.out)
            for p in _flop_products.of(name, func, args, kwargs)
        ]


def _of_derivative(func, out, grads, wanted, args, kwargs) -> list[Part]:
    if isinstance(func, Derivative):  # PyTorch's formulas of these are its own
        return _of_second(func, wanted, args)
    name = func.overloadpacket.__name__
    with _disable_current_modes():
        if name in _CONVOLUTIONS:
            return _convolution_backward(func, grads, wanted, args, kwargs)
        found = []
        for made in _flop_products.of(name, func, args, kwargs):
            for a, b in made.gradients(set(wanted)):
                shape = (*a[:-1], b[-1])
                found.append(_product(made.backward_name, (a, b), shape))
        return found


def _of_second(func, wanted, args) -> list[Part]:
    """Every product of the first derivative has two factors to derive by."""
    found: list[Part] = []
    inner = func.function
    if not isinstance(inner, Derivative):
        for part in _of_derivative(inner, None, *args):
            found += [part, part]
    return found if wanted else []


def _product(name: str, shapes, out) -> Part:
    packet = getattr(aten, name)
    args = tuple(empty(shape, device="meta") for shape in shapes)
    return Part(packet, args, empty(out, device="meta"), {})


_CONVOLUTIONS = frozenset(
    ["convolution", "_convolution"]
    + [f"conv{kind}{n}d" for kind in ("", "_transpose") for n in (1, 2, 3)]
)


def _convolution(func, args, kwargs, out) -> Part:
    x, weight, rest, transposed = _arguments(func, args, kwargs)
    stride, padding, dilation, output_padding, groups = rest
    shapes = [empty(x, device="meta"), empty(weight, device="meta")]
    after = (stride, padding, dilation, transposed, output_padding, groups)
    batched = tuple(out.shape)
    if len(batched) < len(weight):
        batched = (1, *batched)
    made = empty(batched, device="meta")
    return Part(aten.convolution, (*shapes, None, *after), made, {})


def _convolution_backward(func, grads, wanted, args, kwargs) -> list[Part]:
    x, weight, rest, transposed = _arguments(func, args, kwargs)
    stride, padding, dilation, output_padding, groups = rest
    if grads[0] is None:
        return []
    grad = tuple(grads[0].shape)
    if len(grad) < len(weight):
        grad = (1, *grad)
    mask = [place in wanted for place in range(3)]
    made = [empty(s, device="meta") for s in (grad, x, weight)]
    after = (stride, padding, dilation, transposed, output_padding, groups)
    out = (made[1] if mask[0] else None, made[2] if mask[1] else None, None)
    packet = aten.convolution_backward
    return [Part(packet, (*made, None, *after, mask), out, {})]


def _arguments(func, args, kwargs):
    """Shapes of picture (batched) and weight, the rest, whether transposed."""
    parameters = signature(func._text).parameters.values()
    given = {p.name: p.default for p in parameters}
    given.update(zip(given, args))
    given.update(kwargs)
    weight = tuple(given["weight"].shape)
    x = tuple(given["input"].shape)
    if len(x) < len(weight):
        x = (1, *x)
    transposed = given.get("transposed", "transpose" in func.overloadpacket.__name__)
    none = [0] * (len(weight) - 2)
    rest = [given[n] for n in ("stride", "padding", "dilation")]
    rest += [given.get("output_padding", none), given["groups"]]
    return x, weight, rest, transposed


def shapes_of(tree):
    """A structure with shapes in place of tensors."""
    return _pytree.tree_map(lambda x: x.shape if isinstance(x, Tensor) else x, tree)


def is_question(func) -> bool:
    """Tells whether it is about a tensor and gives no tensor."""
    return not isinstance(func, Derivative) and not hasattr(func, "_text")


assert _C.Op  # operators are those of the native registry
