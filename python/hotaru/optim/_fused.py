"""Steps of many parameters by one kernel, `hotaru._fused_*_`.

They are taken unless `fused=False` or `foreach=False` asks for the parameters
one by one: one pass over each, all in one parallel region, or on a CUDA device
in launches of some dozen tensors.
"""

from __future__ import annotations

from .. import _C, Tensor, empty_like
from ._arithmetic import parts, value_of

_WIDE = {_C.float32, _C.float64}
# Options that the kernel may read from a device.
_TENSORS = {"lr", "grad_scale", "found_inf"}


def takes_fused(
    params,
    grads,
    fused: bool | None,
    foreach: bool | None = None,
    *,
    one_by_one: bool = False,
) -> bool:
    """Tells whether one kernel shall step these parameters.

    `one_by_one`: options that only the separate operators have.
    """
    if one_by_one or not params:
        return False
    if not fused and (fused is not None or foreach is False):
        return False
    if len(set(map(id, params))) < len(params):
        return False  # the second step of one goes on from its first
    return bool(fused) or all(map(_suits, (*params, *grads)))


def _suits(x: Tensor) -> bool:
    """Tells whether one kernel computes what the separate operators would, but
    for rounding: these round 16-bit floats after each of them.
    """
    if x.layout != _C.strided:
        return False
    return x.is_cuda or (x.is_cpu and x.dtype in _WIDE)


def _columns(*lists) -> list:
    """The lists, with complex tensors as pairs of reals."""
    if True not in [param.is_complex() for param in lists[0]]:
        return list(lists)
    return [parts(*column) for column in lists]


def _counted(steps, found_inf: Tensor | None) -> None:
    """Counts a step, unless gradients were not finite."""
    if found_inf is None:
        return _C.ops._foreach_add_(steps, 1)
    for step in steps:
        step.add_(1 - found_inf.to(step.device, step.dtype).squeeze())
    return None


def adam_step(
    params,
    grads,
    means,
    squares,
    largest,
    steps,
    *,
    decoupled: bool,
    found_inf: Tensor | None,
    beta1,
    beta2,
    weight_decay,
    amsgrad: bool,
    **options,
) -> None:
    """The step of Adam, or of AdamW if `decoupled`."""
    _counted(steps, found_inf)
    columns = _columns(params, grads, means, squares, largest if amsgrad else [], steps)
    step = _C.ops._fused_adamw_ if decoupled else _C.ops._fused_adam_
    step(
        *columns,
        beta1=value_of(beta1),
        beta2=value_of(beta2),
        weight_decay=value_of(weight_decay),
        amsgrad=amsgrad,
        found_inf=found_inf,
        **options,
    )


def sgd_step(params, grads, velocities: list, *, momentum, **options) -> None:
    """The step of SGD; a velocity that is None is put into the list."""
    begins = momentum != 0 and all(v is None for v in velocities)
    if momentum != 0:
        for i, velocity in enumerate(velocities):
            if velocity is None:
                velocities[i] = empty_like(params[i]).zero_()
        columns = _columns(params, grads, velocities)
    else:
        columns = [*_columns(params, grads), []]
    _C.ops._fused_sgd_(
        *columns,
        momentum=momentum,
        is_first_step=begins,
        **{k: v if k in _TENSORS else value_of(v) for k, v in options.items()},
    )


def adagrad_step(
    params, grads, sums, steps, *, found_inf: Tensor | None, **options
) -> None:
    """The step of Adagrad."""
    _counted(steps, found_inf)
    options = {k: v if k in _TENSORS else value_of(v) for k, v in options.items()}
    _C.ops._fused_adagrad_(
        *_columns(params, grads, sums, steps), found_inf=found_inf, **options
    )
