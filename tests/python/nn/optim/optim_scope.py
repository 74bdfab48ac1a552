"""Helpers that the cases of optimizers and schedules share."""

from __future__ import annotations

from outcomes import tensor


def params(lib, dtype: str = "float32") -> list:
    """A matrix and a vector to train."""
    found = [tensor(lib, 2, 3), tensor(lib, 3, start=9)]
    if dtype == "complex64":
        found = [lib.complex(p, p.flip(0) / 2) for p in found]
    else:
        found = [p.to(getattr(lib, dtype)) for p in found]
    return [lib.nn.Parameter(p) for p in found]


def loss_of(lib, values):
    """A loss whose gradients change with each step."""
    error = values[0] * values[-1] - 0.3
    if error.is_complex():
        error = lib.view_as_real(error)
    return (error**2).sum()


def train(lib, optimizer, values, steps: int = 3, before=None) -> list:
    """A few steps; the parameters after each."""
    found = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss_of(lib, values).backward()
        optimizer.step(before)
        found.append([v.detach().clone() for v in values])
    return found


def closure_of(lib, optimizer, values):
    """A closure that computes the loss and its gradients."""

    def closure():
        optimizer.zero_grad()
        loss = loss_of(lib, values)
        loss.backward()
        return loss

    return closure


def scope(lib, **names) -> dict:
    """Names for the expressions of cases."""
    return {
        "lib": lib,
        "optim": lib.optim,
        "sched": lib.optim.lr_scheduler,
        "swa": lib.optim.swa_utils,
        **names,
    }
