"""Updates of the rows alone that a sparse gradient has.

Of a gradient in coordinates a "place" is what indexes those elements (rows) of
a dense tensor; each is there once, since the updates are not linear.
"""

from __future__ import annotations

from .. import Tensor


def places(grad: Tensor) -> tuple[tuple[Tensor, ...], Tensor]:
    """Where a sparse gradient has elements, and which."""
    grad = grad.coalesce()
    return tuple(grad._indices()), grad._values()


def at(target: Tensor, place: tuple[Tensor, ...]) -> Tensor:
    """A copy of what a dense tensor has there."""
    return target[place] if place else target.clone().unsqueeze(0)


def put(target: Tensor, place: tuple[Tensor, ...], values: Tensor) -> None:
    """Writes what a dense tensor has there."""
    if place:
        target.index_put_(place, values)
    elif values.shape[0]:
        target.copy_(values[0])


def adagrad_sparse(
    param: Tensor, grad: Tensor, total: Tensor, rate: float, eps: float
) -> None:
    """One update of `Adagrad` by a sparse gradient, `rate` after its decay."""
    place, values = places(grad)
    square = at(total, place) + values * values
    put(total, place, square)
    change = values / square.sqrt().add_(eps)
    put(param, place, at(param, place).add_(change, alpha=-rate))


def sparse_adam(
    params: list[Tensor],
    grads: list[Tensor],
    exp_avgs: list[Tensor],
    exp_avg_sqs: list[Tensor],
    state_steps: list[int],
    *,
    eps: float,
    beta1: float,
    beta2: float,
    lr: float,
    maximize: bool,
) -> None:
    """The update of `SparseAdam`, in place, for lists of parameters and state.

    What a gradient has no elements for keeps its means and is not moved.
    """
    rows = zip(params, grads, exp_avgs, exp_avg_sqs, state_steps)
    for param, grad, mean, square, step in rows:
        place, values = places(grad)
        if values.numel() == 0:
            continue
        values = -values if maximize else values
        first = _averaged(mean, place, values, beta1)
        second = _averaged(square, place, values * values, beta2)
        scale = lr * (1 - beta2**step) ** 0.5 / (1 - beta1**step)
        change = first.div_(second.sqrt_().add_(eps)).mul_(-scale)
        put(param, place, change.add_(at(param, place)))


def _averaged(mean: Tensor, place, values: Tensor, decay: float) -> Tensor:
    """Moves a running mean towards the values; a copy of what is there then."""
    old = at(mean, place)
    new = (values - old).mul_(1 - decay).add_(old)
    put(mean, place, new)
    return new
