"""PyTorch's side of the module database, as files."""

from __future__ import annotations

import torch
from case_file import File, main
from module_trials import TRIALS
from plain import NotPlainError
from torch.testing._internal.common_modules import module_db

MOST_INPUTS = 24


def inputs_of(info, function, dtype, training):
    torch.manual_seed(0)
    return function(
        info,
        device="cpu",
        dtype=dtype,
        requires_grad=dtype == torch.float64,
        training=training,
    )


def base_case(info, given, dtype, training) -> dict:
    """How to make the module and what to call it with, as values."""
    made, called = given.constructor_input, given.forward_input
    return {
        "class": info.module_cls,
        "make": (list(made.args), dict(made.kwargs)),
        "args": list(called.args) if called else [],
        "kwargs": dict(called.kwargs) if called else {},
        "dtype": dtype,
        "training": training,
        "lazy": getattr(info, "is_lazy", False),
    }


def state_of(values) -> dict:
    """Parameters and buffers that a module of this kind has."""
    args, kwargs = values["make"]
    torch.manual_seed(0)
    module = values["class"](*args, **kwargs).to(values["dtype"])
    if values["lazy"]:
        with torch.no_grad():
            module(*values["args"], **values["kwargs"])
    return dict(module.state_dict())


def write_entry(info, dtype, path) -> None:
    file = File()
    for training in (True, False):
        given = inputs_of(info, info.module_inputs_func, dtype, training)
        for one in given[:MOST_INPUTS]:
            values = base_case(info, one, dtype, training)
            try:
                state = state_of(values)
            except Exception:
                continue
            kinds = ["init", "repr", "train", "state"] if training else ["eval"]
            if dtype == torch.float64 and training:
                kinds.append("grad")
            for kind in kinds:
                more = {"state": state, "orders": 2}
                try:
                    if not file.try_out(kind, {**values, **more}, TRIALS[kind]):
                        more["orders"] = 1  # not twice differentiable
                        file.try_out(kind, {**values, **more}, TRIALS[kind])
                except NotPlainError as reason:
                    file.skipped.append(f"{kind}: {reason}")
    if info.module_error_inputs_func and dtype == torch.float32:
        errors = inputs_of(info, info.module_error_inputs_func, dtype, True)
        for error in errors:
            one = error.module_error_input
            values = base_case(info, one, dtype, True)
            try:
                file.try_error(values, TRIALS["error"], error)
            except NotPlainError as reason:
                file.skipped.append(f"error: {reason}")
    file.write(path)


if __name__ == "__main__":
    main(
        __doc__,
        {info.name.removeprefix("nn."): info for info in module_db},
        lambda info: info.dtypes,
        write_entry,
    )
