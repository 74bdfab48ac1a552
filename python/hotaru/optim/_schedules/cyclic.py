"""The schedule that goes up and down."""

from __future__ import annotations

import math

from ..optimizer import Optimizer
from .base import LRScheduler, check_optimizer, each, put, warn_outside_step
from .momentum import has_beta1, put_momentum

# Height of a cycle in each mode, and whether it depends on cycles or steps.
_MODES = {
    "triangular": ("_triangular_scale_fn", "cycle"),
    "triangular2": ("_triangular2_scale_fn", "cycle"),
    "exp_range": ("_exp_range_scale_fn", "iterations"),
}


class CyclicLR(LRScheduler):
    """From `base_lr` to `max_lr` and back, again and again, after each batch.

    "Cyclical Learning Rates for Training Neural Networks" (Smith 2015, arXiv
    1506.01186).

    Args:
        optimizer: whose rates to set.
        base_lr: lowest rate, one or a list of one for each group.
        max_lr: highest rate, likewise.
        step_size_up: steps of the way up (2000).
        step_size_down: steps of the way down (as many).
        mode: "triangular"; "triangular2": half as high each time; "exp_range":
            by `gamma` lower each step.
        gamma: see there (1.0).
        scale_fn: function of the cycle, or of the step if `scale_mode` is
            "iterations", that gives the height, in place of a mode.
        cycle_momentum: momentum, or the first of the betas, goes the other way,
            between `base_momentum` (0.8) and `max_momentum` (0.9).
        last_epoch: the step to go on from, -1 for the start.

    Raises:
        TypeError, ValueError: no optimizer, one without momentum, an unknown
            mode, a list of another length.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: float | list[float],
        max_lr: float | list[float],
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        scale_fn=None,
        scale_mode: str = "cycle",
        cycle_momentum: bool = True,
        base_momentum: float = 0.8,
        max_momentum: float = 0.9,
        last_epoch: int = -1,
    ) -> None:
        check_optimizer(optimizer)
        self.optimizer = optimizer
        base_lrs = each("base_lr", optimizer, base_lr)
        if last_epoch == -1:
            for group, rate in zip(optimizer.param_groups, base_lrs):
                put(group, "lr", rate)
        self.max_lrs = each("max_lr", optimizer, max_lr)
        up = float(step_size_up)
        down = up if step_size_down is None else float(step_size_down)
        self.total_size = up + down
        self.step_ratio = up / self.total_size
        if mode not in _MODES and scale_fn is None:
            raise ValueError("mode is invalid and scale_fn is None")
        self.mode = mode
        self.gamma = gamma
        self._scale_fn_custom = scale_fn
        self.scale_mode = scale_mode
        self._init_scale_fn()
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._set_momenta(base_momentum, max_momentum, last_epoch)
        super().__init__(optimizer, last_epoch)
        self.base_lrs = base_lrs

    def _set_momenta(self, base_momentum, max_momentum, last_epoch) -> None:
        optimizer = self.optimizer
        self.use_beta1 = has_beta1(optimizer)
        self.base_momentums = each("base_momentum", optimizer, base_momentum)
        self.max_momentums = each("max_momentum", optimizer, max_momentum)
        if last_epoch != -1:
            return
        for group, low, high in zip(
            optimizer.param_groups, self.base_momentums, self.max_momentums
        ):
            put_momentum(group, high)
            group["max_momentum"] = high
            group["base_momentum"] = low

    def _init_scale_fn(self) -> None:
        if self._scale_fn_custom is None:
            name, self.scale_mode = _MODES[self.mode]
            # From the class: a method of the schedule would keep it alive.
            self._scale_fn_ref = getattr(type(self), name)

    def scale_fn(self, x) -> float:
        """The height of cycle or step `x`, as a share of the first."""
        if self._scale_fn_custom is not None:
            return self._scale_fn_custom(x)
        return self._scale_fn_ref(self, x)

    def _triangular_scale_fn(self, x: float) -> float:
        return 1.0

    def _triangular2_scale_fn(self, x: float) -> float:
        return 1 / (2.0 ** (x - 1))

    def _exp_range_scale_fn(self, x: float) -> float:
        return self.gamma**x

    def get_lr(self) -> list:
        """The rates of this step; sets the momenta of it."""
        warn_outside_step(self)
        cycles = 1 + self.last_epoch / self.total_size
        cycle = math.floor(cycles)
        share = cycles - cycle
        if share <= self.step_ratio:
            height = share / self.step_ratio
        else:
            height = (share - 1) / (self.step_ratio - 1)
        by_cycle = self.scale_mode == "cycle"
        scale = self.scale_fn(cycle if by_cycle else self.last_epoch)
        if self.cycle_momentum:
            for group, low, high in zip(
                self.optimizer.param_groups, self.base_momentums, self.max_momentums
            ):
                put_momentum(group, high - (high - low) * height * scale)
        return [
            low + (high - low) * height * scale
            for low, high in zip(self.base_lrs, self.max_lrs)
        ]

    def state_dict(self) -> dict:
        """As in the base class; a function `scale_fn` is not in it."""
        state = super().state_dict()
        state.pop("_scale_fn_ref", None)
        custom = state.pop("_scale_fn_custom")
        state["_scale_fn_custom"] = saved_function(custom)
        return state

    def load_state_dict(self, state_dict: dict) -> None:
        """Takes over what `state_dict` gave; a function stays as it is."""
        state_dict = dict(state_dict)
        attributes = state_dict.pop("_scale_fn_custom", None)
        super().load_state_dict(state_dict)
        load_function(self._scale_fn_custom, attributes)
        self._init_scale_fn()


def saved_function(function):
    """Attributes of a callable object; None for what cannot be saved."""
    plain = isinstance(function, type(saved_function))
    if function is None or plain or not hasattr(function, "__dict__"):
        return None
    return dict(function.__dict__)


def load_function(function, attributes) -> None:
    """Gives a callable object what `saved_function` gave, if anything."""
    if attributes is not None:
        function.__dict__.update(attributes)
