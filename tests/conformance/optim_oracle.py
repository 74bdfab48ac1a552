"""PyTorch's side of the optimizers' database, as files."""

from __future__ import annotations

import torch
from case_file import File, main
from optim_trials import TRIALS, mapped
from plain import NotPlainError
from recorder import class_name, made_of, remember
from torch.testing._internal.common_optimizers import (
    OptimizerErrorEnum,
    _get_optim_inputs_including_global_cliquey_kwargs,
    optim_db,
)

STEPS = 6
REAL = {torch.float32, torch.float64}
COMPLEX = {torch.complex64, torch.complex128}

remember(torch.optim.lr_scheduler.LRScheduler)


def base_values(info, dtype) -> dict:
    """Parameters of an optimizer and their gradients; Muon's are matrices."""
    torch.manual_seed(0)
    shapes = [(4, 3), (3, 2) if info.optim_cls is torch.optim.Muon else (5,)]
    if info.only_supports_sparse_grads:
        shapes[1] = (3, 2)
    grads = [[torch.randn(s, dtype=dtype) for s in shapes] for _ in range(STEPS)]
    if info.only_supports_sparse_grads:
        for k, (g, h) in enumerate(grads):
            g[k % 4] = 0
            h[k % 3] = 0
    return {
        "optimizer": class_name(info.optim_cls),
        "params": [torch.randn(s, dtype=dtype) for s in shapes],
        "grads": grads,
        "closure": info.step_requires_closure,
        "sparse": info.only_supports_sparse_grads,
        # Optimizers that iterate are soon where rounding decides.
        "steps": 2 if info.step_requires_closure else STEPS,
        "dtype": dtype,
    }


def add(file, kind, values) -> None:
    try:
        file.try_out(kind, values, TRIALS[kind])
    except NotPlainError as reason:
        file.skipped.append(f"{kind}: {reason}")


def add_schedules(file, info, values) -> None:
    """Each list of schedulers of the database, as their classes' names and
    arguments.
    """
    kwargs = {} if info.optim_cls is not torch.optim.SGD else {"lr": 0.01}
    for makers in info.scheduler_inputs:
        optimizer = info.optim_cls([torch.nn.Parameter(torch.ones(1, 1))], **kwargs)
        made = []
        for maker in makers:
            kind, args, named = made_of(maker(optimizer))
            made.append([class_name(kind), list(args[1:]), named])
        add(file, "schedule", {**values, "options": kwargs, "schedulers": made})


def layouts(params) -> set:
    """Layouts of parameters, or of groups of them."""
    found = set()
    mapped(params, lambda x: found.add(x.layout))
    return found


def add_errors(file, info, dtype) -> None:
    for error in info.optim_error_inputs_func("cpu", dtype):
        given = error.optimizer_error_input
        values = base_values(info, dtype)
        params = given.params
        if params is None:
            params = values["params"]
        sparse = torch.sparse_coo in layouts(params)
        if sparse:  # files hold strided tensors alone
            params = mapped(params, lambda x: x.to_dense())
        values = {
            **values,
            "params": params,
            "sparse_params": sparse,
            "options": given.kwargs,
            "steps": int(error.error_on is OptimizerErrorEnum.STEP_ERROR),
        }
        try:
            file.try_error(values, TRIALS["error"], error)
        except NotPlainError as reason:
            file.skipped.append(f"error: {reason}")


def write_entry(info, dtype, path) -> None:
    file = File()
    values = base_values(info, dtype)
    # A step that is differentiated itself needs parameters without grad.
    given = _get_optim_inputs_including_global_cliquey_kwargs(
        "cpu", dtype, info, skip=("differentiable",)
    )
    for one in given:
        kinds = ["init", "repr", "step", "state", "resume"]
        if info.supports_param_groups:
            kinds.append("groups")
        if info.step_requires_closure and dtype != torch.float64:
            # How often such a step iterates is left to rounding.
            kinds = ["init", "repr", "step"]
        for kind in kinds:
            add(file, kind, {**values, "options": one.kwargs})
    if dtype in REAL:
        add_schedules(file, info, values)
    if dtype == torch.float32:
        add_errors(file, info, dtype)
    file.write(path)


if __name__ == "__main__":
    main(
        __doc__,
        {info.optim_cls.__name__: info for info in optim_db},
        lambda info: REAL | COMPLEX if info.supports_complex else REAL,
        write_entry,
    )
