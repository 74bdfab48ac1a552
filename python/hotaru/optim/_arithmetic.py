"""Arithmetic that the updates of most optimizers have in common.

An option (rate, decay) is a number, or a tensor where its gradient or its value
on a device counts (`differentiable`, `capturable`).
"""

from __future__ import annotations

from itertools import repeat
from operator import neg

from .. import Tensor, view_as_real
from ._options import check_capturable, check_steps


def value_of(x):
    """The number in a tensor; anything else as it is."""
    return x.item() if isinstance(x, Tensor) else x


def numbers(exact: bool, *options):
    """The options for updates that are `exact` (with tensors), or numbers."""
    if exact:
        return [
            x.squeeze() if isinstance(x, Tensor) and x.dim() else x for x in options
        ]
    return [x.item() if isinstance(x, Tensor) else x for x in options]


def plus_(target: Tensor, x: Tensor, scale) -> None:
    """`target += scale * x`, in place."""
    if isinstance(scale, Tensor):
        target += x * scale
    else:
        target.add_(x, alpha=scale)


def plus_product_(target: Tensor, a: Tensor, b: Tensor, scale) -> None:
    """`target += scale * a * b`, in place."""
    if isinstance(scale, Tensor):
        target += a * b * scale
    else:
        target.addcmul_(a, b, value=scale)


def plus_quotient_(target: Tensor, a: Tensor, b: Tensor, scale) -> None:
    """`target += scale * a / b`, in place."""
    if isinstance(scale, Tensor):
        target += a / b * scale
    else:
        target.addcdiv_(a, b, value=scale)


def root(square: Tensor, eps: float, differentiable: bool) -> Tensor:
    """`sqrt(square) + eps`."""
    result = square.sqrt()
    if differentiable:  # of the root its result is kept for the gradient
        return result + eps
    result += eps  # operators are called faster than methods
    return result


def decayed(grad: Tensor, param: Tensor, weight_decay) -> Tensor:
    """The gradient of the loss with a penalty on the parameter's square."""
    if isinstance(weight_decay, Tensor):
        # A copy: the parameter changes before gradients are computed.
        return grad + param.clone() * weight_decay
    return grad.add(param, alpha=weight_decay)


def parts(*tensors) -> list:
    """Views of complex tensors as pairs of reals, and all else as it is.

    Squares and roots are of the parts of a complex parameter, as if they were
    two parameters.
    """
    return [
        view_as_real(t) if isinstance(t, Tensor) and t.is_complex() else t
        for t in tensors
    ]


def check_lists(
    params,
    steps,
    *,
    foreach: bool | None = None,
    capturable: bool = False,
    differentiable: bool = False,
    what: str = "params and state_steps",
    supports_xla: bool = True,
) -> None:
    """Errors for lists and options that do not go together.

    Raises:
        AssertionError: `capturable` on a device whose work cannot be captured;
            `foreach` and `differentiable`.
        RuntimeError: counts of steps that are no tensors.
    """
    check_steps(steps)
    if not params:
        return
    if foreach and differentiable:
        raise AssertionError("_foreach ops don't support autograd")
    if capturable:
        check_capturable(params, steps, what, supports_xla)


def updates(
    params,
    grads,
    steps,
    *kept,
    maximize: bool,
    weight_decay=0,
    decoupled=None,
    capturable: bool = False,
):
    """Yields what each update works on, one after the other, as needed.

    That is (parameter, gradient, step, *state): gradients are those to descend,
    with weight decay (which is taken from the parameter itself if `decoupled`
    is the rate), the step is counted, complex tensors are pairs of reals, and
    state that is absent is None.
    """
    moved = params
    if decoupled is not None and not _is_zero(weight_decay):
        moved = _shrunk(params, 1 - decoupled * weight_decay)
        weight_decay = 0
    rows = zip(
        moved,
        descents(params, grads, maximize, weight_decay),
        _counted(steps, capturable),
        *[states or repeat(None) for states in kept],
    )
    if True in [param.is_complex() for param in params]:
        return (parts(*row) for row in rows)
    return rows


def descents(params, grads, maximize: bool, weight_decay):
    """The gradients to descend, with weight decay, one after the other."""
    if maximize:
        grads = map(neg, grads)
    if _is_zero(weight_decay):
        return grads
    return map(decayed, grads, params, repeat(weight_decay))


def _is_zero(weight_decay) -> bool:
    return not isinstance(weight_decay, Tensor) and weight_decay == 0


def _shrunk(params, factor):
    for param in params:
        param.mul_(factor)
        yield param


def _counted(steps, capturable: bool) -> list:
    """Counts a step; the counts as numbers, or on the device as tensors."""
    if capturable:
        counts = [step.add_(1) for step in steps]
        # On the CPU powers of the count are as exact as with numbers.
        return [count.double() if count.is_cpu else count for count in counts]
    counts = []
    for step in steps:
        count = step.item() + 1
        step.fill_(count)
        counts.append(count)
    return counts


def unscaled(grads, grad_scale, found_inf) -> bool:
    """Divides gradients by a loss's scale; False if they are not finite.

    What `GradScaler` leaves to optimizers with `fused=True`.
    """
    if found_inf is not None and found_inf.item():
        return False
    if grad_scale is not None:
        for grad in grads:
            grad.div_(grad_scale.to(device=grad.device))
    return True
