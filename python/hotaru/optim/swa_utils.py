"""Averages of the parameters of a training."""

from __future__ import annotations

import itertools
import math
from copy import deepcopy
from typing import Union

import hotaru

from .. import Tensor, no_grad
from ..nn import Module
from ..nn.modules.batchnorm import _BatchNorm
from ._schedules.base import check_strategy, each, warn_outside_step
from .lr_scheduler import LRScheduler
from .optimizer import Optimizer

__all__ = [
    "SWALR",
    "AveragedModel",
    "get_ema_avg_fn",
    "get_ema_multi_avg_fn",
    "get_swa_avg_fn",
    "get_swa_multi_avg_fn",
    "update_bn",
]

PARAM_LIST = Union[tuple[Tensor, ...], list[Tensor]]


def get_ema_multi_avg_fn(decay: float = 0.999):
    """The exponential moving average, as `multi_avg_fn` of `AveragedModel`.

    Raises:
        ValueError: `decay` is not in [0, 1].
    """
    _check_decay(decay)

    @no_grad()
    def ema_update(ema_param_list, current_param_list, _) -> None:
        for mean, value in zip(ema_param_list, current_param_list):
            if _has_parts(mean):
                mean.lerp_(value, 1 - decay)
            else:
                mean.copy_(mean * decay + value * (1 - decay))

    return ema_update


def get_swa_multi_avg_fn():
    """The mean with equal weights, as `multi_avg_fn` of `AveragedModel`."""

    @no_grad()
    def swa_update(averaged_param_list, current_param_list, num_averaged):
        share = 1 / (float(num_averaged) + 1)
        for mean, value in zip(averaged_param_list, current_param_list):
            if _has_parts(mean):
                mean.lerp_(value, share)
            else:
                mean.copy_(mean + (value - mean) * share)

    return swa_update


def get_ema_avg_fn(decay: float = 0.999):
    """The exponential moving average, as `avg_fn` of `AveragedModel`.

    Raises:
        ValueError: `decay` is not in [0, 1].
    """
    _check_decay(decay)

    @no_grad()
    def ema_update(ema_param, current_param, num_averaged) -> Tensor:
        return decay * ema_param + (1 - decay) * current_param

    return ema_update


def get_swa_avg_fn():
    """The mean with equal weights, as `avg_fn` of `AveragedModel`."""

    @no_grad()
    def swa_update(averaged_param, current_param, num_averaged) -> Tensor:
        change = current_param - averaged_param
        return averaged_param + change / (num_averaged + 1)

    return swa_update


def _check_decay(decay: float) -> None:
    if not 0.0 <= decay <= 1.0:
        raise ValueError(
            f"Invalid decay value {decay} provided. "
            "Please provide a value in [0,1] range."
        )


def _has_parts(tensor: Tensor) -> bool:
    return tensor.is_floating_point() or tensor.is_complex()


class AveragedModel(Module):
    """A copy of a model that holds averages of its parameters.

    "Averaging Weights Leads to Wider Optima and Better Generalization"
    (Izmailov et al. 2018, arXiv 1803.05407), or Polyak averaging with
    `get_ema_multi_avg_fn`.

    Args:
        model: the model that is trained.
        device: where the averages are (that of the model).
        avg_fn: gives a new average from the present one, the parameter and the
            number of models so far.
        multi_avg_fn: updates lists of averages in place, from the same (the
            mean with equal weights, without either).
        use_buffers: average buffers as well; they are copied otherwise.

    Raises:
        AssertionError: `avg_fn` and `multi_avg_fn`.
    """

    n_averaged: Tensor

    def __init__(
        self,
        model: Module,
        device=None,
        avg_fn=None,
        multi_avg_fn=None,
        use_buffers: bool = False,
    ) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError(
                "Only one of avg_fn and multi_avg_fn should be provided"
            )
        self.module = deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer(
            "n_averaged", hotaru.tensor(0, dtype=hotaru.long, device=device)
        )
        self.avg_fn = avg_fn
        self.multi_avg_fn = multi_avg_fn
        self.use_buffers = use_buffers

    def forward(self, *args, **kwargs):
        """Returns what the model gives, with the averages."""
        return self.module(*args, **kwargs)

    def update_parameters(self, model: Module) -> None:
        """Takes the model's present parameters into the averages."""
        means = self._averaged(self.module)
        values = [
            value.detach().to(mean.device)
            for mean, value in zip(means, self._averaged(model))
        ]
        if self.n_averaged == 0:
            for mean, value in zip(means, values):
                mean.copy_(value)
        elif self.avg_fn is not None:
            count = self.n_averaged
            for mean, value in zip(means, values):
                mean.copy_(self.avg_fn(mean, value, count.to(mean.device)))
        else:
            average = self.multi_avg_fn or get_swa_multi_avg_fn()
            for some, present in _alike(means, values):
                average(some, present, self.n_averaged.to(some[0].device))
        if not self.use_buffers:
            for mean, value in zip(self.module.buffers(), model.buffers()):
                mean.detach().copy_(value.detach())
        self.n_averaged += 1

    def _averaged(self, module: Module) -> list[Tensor]:
        found = module.parameters()
        if self.use_buffers:
            found = itertools.chain(found, module.buffers())
        return [tensor.detach() for tensor in found]


def _alike(means: list[Tensor], values: list[Tensor]) -> list:
    """The pairs as two lists for each device and dtype."""
    found: dict = {}
    for mean, value in zip(means, values):
        lists = found.setdefault((mean.device, mean.dtype), ([], []))
        lists[0].append(mean)
        lists[1].append(value)
    return list(found.values())


@no_grad()
def update_bn(loader, model: Module, device=None) -> None:
    """Computes the running statistics of batch norms anew.

    Args:
        loader: batches, or lists whose first item is one.
        model: is run on them, in training mode.
        device: where to move batches first.
    """
    norms = [m for m in model.modules() if isinstance(m, _BatchNorm)]
    if not norms:
        return
    momenta = [norm.momentum for norm in norms]
    was_training = model.training
    model.train()
    for norm in norms:
        norm.reset_running_stats()
        norm.momentum = None  # of all batches alike
    for batch in loader:
        if isinstance(batch, (list, tuple)):
            batch = batch[0]
        model(batch if device is None else batch.to(device))
    for norm, momentum in zip(norms, momenta):
        norm.momentum = momentum
    model.train(was_training)


class SWALR(LRScheduler):
    """To a fixed rate in `anneal_epochs`, for averages of models.

    Args:
        optimizer: whose rates to set.
        swa_lr: the rate, one or a list of one for each group.
        anneal_epochs: epochs until then (10).
        anneal_strategy: along a "cos" or "linear" (cos).
        last_epoch: the epoch to go on from, -1 for the start.

    Raises:
        TypeError, ValueError: no optimizer, an option out of its range.
    """

    def __init__(
        self,
        optimizer: Optimizer,
        swa_lr: float | list[float],
        anneal_epochs: int = 10,
        anneal_strategy: str = "cos",
        last_epoch: int = -1,
    ) -> None:
        rates = each("swa_lr", optimizer, swa_lr)
        for group, rate in zip(optimizer.param_groups, rates):
            group["swa_lr"] = rate
        self._set_anneal_func(anneal_strategy)
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(
                f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}"
            )
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    def _set_anneal_func(self, anneal_strategy: str) -> None:
        check_strategy(anneal_strategy)
        self._anneal_strategy = anneal_strategy

    def _share(self, step: int) -> float:
        """How much of the rate is `swa_lr` after so many steps."""
        t = max(0, min(1, step / max(1, self.anneal_epochs)))
        if self._anneal_strategy == "linear":
            return t
        return (1 - math.cos(math.pi * t)) / 2

    def get_lr(self) -> list:
        """The rates of this epoch, from the present ones."""
        warn_outside_step(self)
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now = self._share(step - 1), self._share(step)
        rates = []
        for group, rate in zip(self.optimizer.param_groups, self._present()):
            goal = group["swa_lr"]
            # Where the rate comes from, as others may have changed it.
            start = goal
            if before != 1:
                start = (rate - before * goal) / (1 - before)
            rates.append(goal * now + start * (1 - now))
        return rates
