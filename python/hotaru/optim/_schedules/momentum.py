"""Momentum as schedules set it: an option, or the first of the betas."""

from __future__ import annotations

from ..optimizer import Optimizer


def has_beta1(optimizer: Optimizer) -> bool:
    """Tells whether the momentum is the first of the betas.

    Raises:
        ValueError: the optimizer has neither.
    """
    if "momentum" not in optimizer.defaults and "betas" not in (optimizer.defaults):
        raise ValueError(
            "optimizer must support momentum or beta1 with `cycle_momentum` "
            "option enabled"
        )
    return "betas" in optimizer.defaults


def put_momentum(group: dict, value: float) -> None:
    """Sets the momentum of a group."""
    if "betas" in group:
        group["betas"] = (value, *group["betas"][1:])
    else:
        group["momentum"] = value
