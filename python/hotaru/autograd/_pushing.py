"""Functions' own `jvp` where tangents come of backward passes.

A product of a Jacobian and a vector is the derivative of the backward pass by
the gradients that it starts from. In such a pass the gradients of a `Function`
with a `jvp` of its own are those of that `jvp`, by the tangents that it is
given: what comes out in the end is what `jvp` says.
"""

from __future__ import annotations

import contextlib
import threading

from .. import Tensor, enable_grad, zeros


class _Passes(threading.local):
    """Tells whether this thread's backward pass is one for tangents."""

    active = False


_passes = _Passes()


@contextlib.contextmanager
def pushing(active: bool = True):
    """The scope of a backward pass for tangents, or of an ordinary one."""
    before, _passes.active = _passes.active, active
    try:
        yield
    finally:
        _passes.active = before


def is_pushing() -> bool:
    """True if this thread's backward pass is one for tangents."""
    return _passes.active


def described(args: tuple) -> tuple:
    """Returns what `gradients` needs to know of a call's arguments."""
    return tuple(
        (a.shape, a.dtype, a.device, a.requires_grad)
        if isinstance(a, Tensor) and (a.is_floating_point() or a.is_complex())
        else None
        for a in args
    )


def gradients(ctx, arguments: tuple, grads: tuple) -> tuple:
    """One gradient (or None) an argument: those of `jvp` by its tangents.

    Args:
        ctx: the context of the call.
        arguments: what `described` gave.
        grads: one (or None) an output.

    RuntimeError: `jvp` does not give one tangent an output.
    """
    from . import _tangent_rules
    from ._entry import grad

    with enable_grad(), pushing(False):
        leaves = [
            None
            if known is None or not (known[3] or ctx.materialize_grads)
            else zeros(known[0], dtype=known[1], device=known[2], requires_grad=True)
            for known in arguments
        ]
        # No leaves, as `jvp` may write into what it is given.
        given = [t if t is None else t.clone() for t in leaves]
        found = ctx.apply_jvp(*given)
        found = found if isinstance(found, tuple) else (found,)
        _tangent_rules.check_count(found, grads)
        pairs = [
            (tangent, g)
            for tangent, g in zip(found, grads)
            if g is not None and isinstance(tangent, Tensor) and tangent.requires_grad
        ]
        wanted = [
            (place, leaf)
            for place, (leaf, known) in enumerate(zip(leaves, arguments))
            if leaf is not None and known[3]
        ]
        result: list = [None] * len(arguments)
        if pairs and wanted:
            values = grad(
                [tangent for tangent, _ in pairs],
                [leaf for _, leaf in wanted],
                [g for _, g in pairs],
                create_graph=True,
                allow_unused=True,
            )
            for (place, _), value in zip(wanted, values):
                result[place] = value
    return tuple(result)
