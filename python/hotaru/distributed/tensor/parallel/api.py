"""A model's modules spread over a mesh by a plan."""

from __future__ import annotations

import fnmatch
import warnings

from ....nn import Module
from ...device_mesh import DeviceMesh, current_mesh
from .style import ParallelStyle

__all__ = ["parallelize_module"]


def parallelize_module(
    module: Module,
    device_mesh: DeviceMesh | None = None,
    parallelize_plan: ParallelStyle | dict[str, ParallelStyle] | None = None,
    *,
    src_data_rank: int | None = 0,
) -> Module:
    """Spreads modules over a mesh of one dimension, in place.

    `parallelize_plan` is a style for the module, or styles by the names of
    modules in it, where `*` stands for any name. The rank `src_data_rank` sends
    the others their parameters' parts; with None each takes them of its own.

    Raises:
        ValueError: a mesh of several dimensions: take one (`mesh["tp"]`).
        TypeError: a plan that is neither.
    """
    mesh = device_mesh or current_mesh()
    if mesh.ndim > 1:
        raise ValueError(
            f"Currently only accept 1D device mesh for {mesh}: slice it, as mesh['tp']"
        )
    if parallelize_plan is None:
        warnings.warn(
            "No parallelize_plan is provided and auto-parallel is not "
            "supported at the moment, so this parallelize_module call will do "
            "nothing.",
            stacklevel=2,
        )
        return module
    if isinstance(parallelize_plan, ParallelStyle):
        parallelize_plan.src_data_rank = src_data_rank
        return parallelize_plan._apply(module, mesh)
    if not isinstance(parallelize_plan, dict):
        raise TypeError(
            "Expect Union[ParallelStyle, Dict[str, ParallelStyle]] for "
            f"parallelize_plan, {type(parallelize_plan)} found!"
        )
    for pattern, style in parallelize_plan.items():
        if not pattern:
            parallelize_module(module, mesh, style, src_data_rank=src_data_rank)
            continue
        _by_name(module, mesh, pattern.split("."), style, src_data_rank)
    return module


def _by_name(
    module: Module,
    mesh: DeviceMesh,
    path: list[str],
    style: ParallelStyle,
    source: int | None,
) -> None:
    name, *rest = path
    found = [
        child for key, child in module.named_children() if fnmatch.fnmatch(key, name)
    ]
    if not found:
        warnings.warn(
            f"Parallelize plan key '{'.'.join(path)}' could not be resolved: "
            f"no submodule matching token '{name}' in module {module}, "
            "skipping this plan key.",
            stacklevel=3,
        )
    for child in found:
        if rest:
            _by_name(child, mesh, rest, style, source)
        else:
            parallelize_module(child, mesh, style, src_data_rank=source)
