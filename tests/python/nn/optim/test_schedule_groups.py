"""A group of parameters that an optimizer gets after its schedule was made.

Schedules that go from a rate to the next take it along; those that compute from
the first rates have none for it and refuse, as in PyTorch.
"""

from __future__ import annotations

import pytest
from hotaru.optim import lr_scheduler

import hotaru as torch
from hotaru import nn

ALONG = [
    ("StepLR", {"step_size": 1, "gamma": 0.5}, 0.15),
    ("ExponentialLR", {"gamma": 0.5}, 0.15),
    ("MultiStepLR", {"milestones": [2], "gamma": 0.5}, 0.15),
    ("PolynomialLR", {"total_iters": 3}, 0.15),
]
REFUSING = [
    ("LambdaLR", {"lr_lambda": lambda epoch: 0.9**epoch}),
    ("MultiplicativeLR", {"lr_lambda": lambda epoch: 0.9}),
    ("CosineAnnealingLR", {"T_max": 1}),
    ("CosineAnnealingWarmRestarts", {"T_0": 3}),
    ("CyclicLR", {"base_lr": 0.1, "max_lr": 0.2}),
]


def _stepped(name, options):
    param, other = (nn.Parameter(torch.ones(1)) for _ in range(2))
    optimizer = torch.optim.SGD([param], lr=0.1, momentum=0.9)
    schedule = getattr(lr_scheduler, name)(optimizer, **options)
    optimizer.step()
    schedule.step()
    optimizer.add_param_group({"params": [other], "lr": 0.3})
    optimizer.step()
    return optimizer, schedule


@pytest.mark.parametrize(("name", "options", "want"), ALONG)
def test_chained_schedules_take_it_along(name, options, want):
    optimizer, schedule = _stepped(name, options)
    schedule.step()
    assert optimizer.param_groups[1]["lr"] == pytest.approx(want)
    assert schedule.get_last_lr()[1] == optimizer.param_groups[1]["lr"]


@pytest.mark.parametrize(("name", "options"), REFUSING)
def test_schedules_from_the_first_rates_refuse(name, options):
    optimizer, schedule = _stepped(name, options)
    with pytest.raises(ValueError, match="1 param groups, and the optimizer 2"):
        schedule.step()
    assert optimizer.param_groups[1]["lr"] == 0.3
