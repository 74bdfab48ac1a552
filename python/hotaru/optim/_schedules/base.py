"""Base of all learning rate schedules."""

from __future__ import annotations

import functools
import types
import warnings
import weakref

from ... import Tensor
from ...utils._deferred import deferrable
from ..optimizer import Optimizer

EPOCH_DEPRECATION_WARNING = (
    "The epoch parameter in `scheduler.step()` was not necessary and is being "
    "deprecated where possible. Please use `scheduler.step()` to step the "
    "scheduler. During the deprecation, if epoch is different from None, the "
    "closed form is used instead of the new chainable form, where available. "
    "Please open an issue if you are unable to replicate your use case: "
    "https://github.com/pytorch/pytorch/issues/new/choose."
)

_OVERRIDDEN = (
    "Seems like `optimizer.step()` has been overridden after learning rate "
    "scheduler initialization. Please, make sure to call `optimizer.step()` "
    "before `lr_scheduler.step()`. See more details at "
    "https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate"
)
_TOO_EARLY = (
    "Detected call of `lr_scheduler.step()` before `optimizer.step()`. In "
    "PyTorch 1.1.0 and later, you should call them in the opposite order: "
    "`optimizer.step()` before `lr_scheduler.step()`.  Failure to do this will "
    "result in PyTorch skipping the first value of the learning rate schedule. "
    "See more details at "
    "https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate"
)
_NO_INITIAL = (
    "param 'initial_lr' is not specified in param_groups[{}] when resuming "
    "scheduler with last_epoch >= 0.\nThis typically happens when:\n1. You're "
    "trying to resume training from a checkpoint but haven't properly loaded "
    "the optimizer state\n2. You're using last_epoch >= 0 for a fresh training "
    "run (not recommended)"
)


def copied(value):
    """A copy of a tensor, which later updates do not reach; else the value."""
    return value.clone() if isinstance(value, Tensor) else value


def values_of(optimizer: Optimizer, key: str) -> list:
    """Copies of an option of all groups."""
    return [copied(group[key]) for group in optimizer.param_groups]


def put(group: dict, key: str, value) -> None:
    """Sets an option; of a tensor its value, which stays the same tensor."""
    if isinstance(group[key], Tensor):
        value = value.item() if isinstance(value, Tensor) else value
        group[key].fill_(value)
    else:
        group[key] = value


def each(name: str, optimizer: Optimizer, value) -> list:
    """An option for all groups from a list of them, or from one.

    Raises:
        ValueError: a list of another length.
    """
    groups = len(optimizer.param_groups)
    if not isinstance(value, (list, tuple)):
        return [copied(value) for _ in range(groups)]
    if len(value) != groups:
        raise ValueError(
            f"{name} must have the same length as optimizer.param_groups. "
            f"{name} has {len(value)} values, param_groups has {groups}."
        )
    return [copied(item) for item in value]


def check_strategy(anneal_strategy: str) -> None:
    if anneal_strategy not in ("cos", "linear"):
        raise ValueError(
            "anneal_strategy must be one of 'cos' or 'linear', instead got "
            f"{anneal_strategy}"
        )


def check_optimizer(optimizer) -> None:
    """TypeError for anything else."""
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")


def warn_outside_step(schedule: LRScheduler) -> None:
    """Warns that `get_lr` is not what tells the present rates."""
    if not schedule._get_lr_called_within_step:
        warnings.warn(
            "To get the last learning rate computed by the scheduler, please "
            "use `get_last_lr()`.",
            UserWarning,
            stacklevel=3,
        )


class within_step:  # noqa: N801
    """A context in which `get_lr` may be called without a warning."""

    def __init__(self, schedule: LRScheduler) -> None:
        self._schedule = schedule

    def __enter__(self) -> within_step:
        self._schedule._get_lr_called_within_step = True
        return self

    def __exit__(self, *error) -> None:
        self._schedule._get_lr_called_within_step = False


class LRScheduler:
    """Base class: subclasses define `get_lr`, one rate a parameter group.

    A rate that is a tensor is updated in place.

    Args:
        optimizer: whose rates to set; groups without "initial_lr" get it.
        last_epoch: the epoch to go on from, -1 for the start.

    Attributes:
        last_epoch: counts the calls of `step`, the first being part of the
            construction.
        base_lrs: the rates at the start.

    Raises:
        TypeError: no optimizer.
        KeyError: going on with groups that have no "initial_lr".
    """

    _is_initial = False
    _get_lr_called_within_step = False

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        check_optimizer(optimizer)
        self.optimizer = optimizer
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", copied(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(_NO_INITIAL.format(i))
        self.base_lrs = values_of(optimizer, "initial_lr")
        self.last_epoch = last_epoch
        _note_steps(optimizer)
        self._initial_step()

    def _initial_step(self) -> None:
        """Sets the rates of the start."""
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    def state_dict(self) -> dict:
        """All attributes but the optimizer."""
        return {k: v for k, v in self.__dict__.items() if k != "optimizer"}

    def load_state_dict(self, state_dict: dict) -> None:
        """Takes over what `state_dict` gave."""
        self.__dict__.update(state_dict)

    def get_last_lr(self) -> list:
        """The rates that the last `step` set, as copies."""
        return [copied(rate) for rate in self._last_lr]

    def get_lr(self) -> list:
        """The rates to set now; called by `step`."""
        raise NotImplementedError

    @deferrable
    def step(self, epoch: int | None = None) -> None:
        """Goes on to the next epoch and sets the rates.

        With `epoch` (deprecated) goes there, by the closed form if there is.
        """
        if self._step_count == 1:
            self._check_order()
        self._step_count += 1
        if epoch is not None:
            warnings.warn(EPOCH_DEPRECATION_WARNING, UserWarning, stacklevel=3)
        self._update_lr(epoch)

    def _check_order(self) -> None:
        if not hasattr(self.optimizer.step, "_wrapped_by_lr_sched"):
            warnings.warn(_OVERRIDDEN, UserWarning, stacklevel=4)
        elif not getattr(self.optimizer, "_opt_called", False):
            warnings.warn(_TOO_EARLY, UserWarning, stacklevel=4)

    def _update_lr(self, epoch: int | None = None) -> None:
        with within_step(self):
            if epoch is None:
                self.last_epoch += 1
                rates = self.get_lr()
            else:
                self.last_epoch = epoch
                closed = getattr(self, "_get_closed_form_lr", self.get_lr)
                rates = closed()
        self._set(rates)

    def _set(self, rates: list) -> None:
        """ValueError where a group has come since, whose rate is not known."""
        groups = self.optimizer.param_groups
        if len(groups) != len(rates):
            raise ValueError(
                f"{type(self).__name__} has learning rates for {len(rates)} "
                f"param groups, and the optimizer {len(groups)}"
            )
        for group, rate in zip(groups, rates):
            put(group, "lr", rate)
        self._last_lr = self._present()

    def _present(self) -> list:
        return values_of(self.optimizer, "lr")

    def _times(self, factor: float) -> list:
        return [rate * factor for rate in self._present()]


def _note_steps(optimizer: Optimizer) -> None:
    """Makes steps of the optimizer leave a note that there was one."""
    if hasattr(optimizer.step, "_wrapped_by_lr_sched"):
        return
    step = optimizer.step.__func__
    # The function in place of the method must not keep the optimizer alive.
    owner = weakref.ref(optimizer)

    @functools.wraps(step)
    def run(*args, **kwargs):
        self = owner()
        self._opt_called = True
        return types.MethodType(step, self)(*args, **kwargs)

    run._wrapped_by_lr_sched = True
    optimizer.step = run


class ByFactor(LRScheduler):
    """A schedule that multiplies all rates by one factor an epoch."""

    def get_lr(self) -> list:
        """The present rates times the factor of this epoch."""
        warn_outside_step(self)
        return self._times(self._factor())

    def _factor(self) -> float:
        raise NotImplementedError
