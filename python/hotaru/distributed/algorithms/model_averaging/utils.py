"""Averages of parameters."""

from __future__ import annotations

from collections.abc import Iterable

from .... import Tensor, cat, no_grad
from ...collectives import all_reduce
from ...groups import default_group
from ...reducer import views_like

__all__ = [
    "average_parameters",
    "average_parameters_or_parameter_groups",
    "get_params_to_average",
]


@no_grad()
def average_parameters(params: Iterable[Tensor], process_group=None) -> None:
    """Parameters of one dtype become the average over the processes."""
    params = list(params)
    group = process_group or default_group()
    if not params:
        return
    row = cat([p.detach().reshape(-1) for p in params])
    row.div_(group.size())
    all_reduce(row, group=group)
    for param, average in zip(params, views_like(row, params)):
        param.copy_(average)


def get_params_to_average(params) -> list[Tensor]:
    """Parameters, or those of an optimizer's groups, that have a gradient."""
    found = []
    for each in params:
        listed = each["params"] if isinstance(each, dict) else [each]
        found += [p for p in listed if p.grad is not None]
    return found


def average_parameters_or_parameter_groups(params, process_group=None) -> None:
    """The same of what has a gradient."""
    average_parameters(get_params_to_average(params), process_group)
