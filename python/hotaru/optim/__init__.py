"""Optimizers and learning rate schedules.

Optimizers have these arguments in common, where they have them:

* `params`: parameters, pairs of name and parameter, or dicts of groups;
* `lr`: the learning rate, a number or a tensor of one;
* `weight_decay`: share of a parameter that is added to its gradient (0);
* `maximize`: go up instead of down (False);
* `capturable`: steps can be captured in a graph of a device, with counts of
  steps on it (False);
* `differentiable`: steps are recorded for gradients (False);
* `fused`: one kernel steps many parameters (`SGD`, `Adam`, `AdamW`,
  `Adagrad`), and takes the scale of a `GradScaler` into account; taken by
  itself on CUDA, unless `foreach=False`;
* `foreach`: how PyTorch computes the same numbers; checked, and else without
  effect.
"""

from __future__ import annotations

import sys as _sys

from .._own_names import part
from . import _functional, lr_scheduler
from ._adafactor import Adafactor
from ._muon import Muon
from .adadelta import Adadelta
from .adagrad import Adagrad
from .adam import Adam
from .adamax import Adamax
from .adamw import AdamW
from .asgd import ASGD
from .lbfgs import LBFGS
from .nadam import NAdam
from .optimizer import Optimizer
from .radam import RAdam
from .rmsprop import RMSprop
from .rprop import Rprop
from .sgd import SGD
from .sparse_adam import SparseAdam

__all__ = [
    "ASGD",
    "LBFGS",
    "SGD",
    "Adadelta",
    "Adafactor",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "Muon",
    "NAdam",
    "Optimizer",
    "RAdam",
    "RMSprop",
    "Rprop",
    "SparseAdam",
    "lr_scheduler",
    "swa_utils",
    "swap_in_optimizer_params_and_state",
]

# PyTorch's modules of optimizers have their base, too.
for _class in (
    Adadelta,
    Adagrad,
    Adam,
    Adamax,
    ASGD,
    NAdam,
    RAdam,
    RMSprop,
    Rprop,
    SGD,
):
    vars(_sys.modules[_class.__module__]).setdefault("Optimizer", Optimizer)


def __getattr__(name: str):
    # Slower to import, and seldom used.
    if name == "swap_in_optimizer_params_and_state":
        from ._swap import swap_in_optimizer_params_and_state

        return swap_in_optimizer_params_and_state
    return part(__name__, name, ("functional", "swa_utils"))
