"""Optimizers whose update is a function of lists."""

from __future__ import annotations

import hotaru

from .. import Tensor
from ..utils._deferred import check_order
from ._fused import takes_fused
from ._hooks import loss_of, recording_if_differentiable
from ._options import check_fused_param
from .optimizer import Optimizer, _get_scalar_dtype, _key

# Values of options before there was a choice, if not False.
_BEFORE = {"foreach": None, "fused": None, "momentum": 0}


class Listed(Optimizer):
    """Gathers parameters, gradients and state and calls one function.

    Subclasses have `_function`, `_start`, which makes the state of a parameter,
    `_keeps`, the names of that state in the order of the function's lists, and
    `_passes`, the options that the function takes (betas are split for it).
    """

    _keeps: tuple[str, ...] = ()
    _passes: tuple[str, ...] = ()
    # Numbers in the state, which old files do not have as tensors.
    _scalars: tuple[str, ...] = ("step",)
    # Set if the function takes sparse gradients, and what does instead.
    _takes_sparse = False
    _instead = ""
    # Options that files of old versions lack.
    _later: tuple[str, ...] = ("foreach", "maximize", "differentiable", "capturable")
    # The options that may change while a graph lives.
    _changing: tuple[str, ...] = ("lr",)

    @recording_if_differentiable
    def step(self, closure=None):
        """Updates all parameters that have a gradient.

        `closure`, if given, computes the loss again; it is returned.
        """
        loss = None if closure is None else loss_of(closure)
        for group in self.param_groups:
            self._update_group(group)
        return loss

    def _update_group(self, group: dict) -> None:
        rows, keeps, states = [], self._keeps, self.state
        for param in group["params"]:
            grad = param.grad
            if grad is None:
                continue
            if grad.is_sparse:
                self._check_sparse(group)
            state = states[param]
            if not state:
                self._start(state, param, group)
            rows.append((param, grad, *map(state.get, keeps)))
        if not rows:
            return
        if group.get("fused"):
            for param, *_ in rows:
                check_fused_param(param)
        lifted = self._lifted is not None
        if not lifted and "capturable" in group and rows[0][0].is_cuda:
            self._accelerator_graph_capture_health_check()
        options = self._options(group)
        if lifted:
            self._lift(options, group, *list(zip(*rows))[:2])
        self._function(*zip(*rows), **options)

    # -- within a captured graph -------------------------------------------

    def _numbers(self, group: dict) -> list[float] | None:
        """The options that graphs read anew in each replay; None where a tensor
        is among them, which they read itself.
        """
        values: list = []
        for name in self._changing:
            value = group[name]
            values += value if isinstance(value, (tuple, list)) else [value]
        if not values or any(isinstance(value, Tensor) for value in values):
            return None
        return [float(value) for value in values]

    def _fixed(self, group: dict) -> tuple:
        """The options of which a graph is right for one value only."""
        free = self._changing if self._numbers(group) is not None else ()
        if not self._changing:
            free = ("lr",)  # updates do not read it
        return tuple(
            (name, _key(group.get(name))) for name in self.defaults if name not in free
        )

    def _lift(self, options: dict, group: dict, params, grads) -> None:
        """Has the update read what may change from memory."""
        check_order(self)
        memory = self._lifted.get(id(group))
        if memory is not None:
            options["lr"] = memory[0]
        if "capturable" in options:
            options["capturable"] = True

    def _check_sparse(self, group: dict) -> None:
        """RuntimeError where updates cannot go by a sparse gradient."""
        if not self._takes_sparse:
            kind = next(
                c for c in type(self).__mro__ if "_function" in vars(c)
            ).__name__
            raise RuntimeError(
                f"{kind} does not support sparse gradients{self._instead}"
            )

    def _start(self, state: dict, param: Tensor, group: dict) -> None:
        raise NotImplementedError

    def _options(self, group: dict) -> dict:
        passes = self._passes
        options = dict(zip(passes, map(group.__getitem__, passes)))
        if "betas" in group:
            options["beta1"], options["beta2"] = group["betas"]
        return options

    def __setstate__(self, state: dict) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            for name in self._later:
                group.setdefault(name, _BEFORE.get(name, False))
            for param in group["params"]:
                self._as_tensors(self.state.get(param, {}), param, group)

    def _as_tensors(self, state: dict, param: Tensor, group: dict) -> None:
        for name in self._scalars:
            if name in state and not isinstance(state[name], Tensor):
                state[name] = scalar(float(state[name]), param, group)


class Fused(Listed):
    """Optimizers that take a loss's scale into their update with `fused`.

    `grad_scale` and `found_inf` are set by `GradScaler` for one step.
    """

    def _lift(self, options: dict, group: dict, params, grads) -> None:
        check_order(self)
        memory = self._lifted.get(id(group))
        if memory is None:
            return
        if not takes_fused(
            params,
            grads,
            options.get("fused"),
            options.get("foreach"),
            one_by_one=group.get("differentiable", False),
        ):
            raise RuntimeError(
                "operation not permitted when stream is capturing: a step of "
                f"{type(self).__name__} for parameters one by one; leave out "
                "foreach, fused and differentiable"
            )
        # The kernel's numbers, in the order of StepOptions.
        options["lr"] = memory
        options.pop("capturable", None)  # it is, in one kernel

    def _allow_scaling(self, fused: bool | None) -> None:
        if fused:
            self._step_supports_amp_scaling = True

    def _options(self, group: dict) -> dict:
        options = super()._options(group)
        if group["fused"]:
            options.update(self._scaling())
        return options

    def _scaling(self) -> dict:
        names = "grad_scale", "found_inf"
        return {name: getattr(self, name, None) for name in names}


def scalar(value: float, param: Tensor, group: dict) -> Tensor:
    """A number of a parameter's state, as a tensor where updates need it.

    That is the parameter's device if work there is captured, or else the CPU.
    """
    fused = group.get("fused")
    if fused:
        check_fused_param(param)
    device = param.device if fused or group.get("capturable") else None
    return hotaru.tensor(value, dtype=_get_scalar_dtype(fused), device=device)
