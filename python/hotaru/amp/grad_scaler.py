"""Scaling of losses, so that small gradients survive float16."""

from __future__ import annotations

import inspect
import warnings
from collections import defaultdict
from collections.abc import Iterable
from enum import Enum
from typing import Any, overload

from .. import _C, Tensor, float16, float32, full, int32, no_grad

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..optim.optimizer import Optimizer

__all__ = ["GradScaler", "OptState"]

_NO_SCALE = (
    "This may indicate your script did not use scaler.scale(loss or outputs) "
    "earlier in the iteration."
)
_NEW_SCALE = (
    "new_scale should be a float or a 1-element torch.cuda.FloatTensor or "
    "torch.FloatTensor with requires_grad=False."
)


class OptState(Enum):
    """Where an optimizer is within an iteration."""

    READY = 0
    UNSCALED = 1
    STEPPED = 2


def _refresh_per_optimizer_state() -> dict:
    """A new optimizer's; pickles of scalers know it by this name."""
    return {"stage": OptState.READY, "found_inf_per_device": {}}


class _Copies:
    """Copies of a tensor, one on each device that asks."""

    def __init__(self, tensor: Tensor) -> None:
        self._tensor = tensor
        self.known: dict = {}

    def on(self, device) -> Tensor:
        if device not in self.known:
            self.known[device] = self._tensor.to(
                device=device, non_blocking=True, copy=True
            )
        return self.known[device]


def _check(holds: bool, text: str) -> None:
    if not holds:
        raise AssertionError(text)


def _elements(param: Tensor) -> Tensor:
    """The values of a sparse gradient; what is written into them it has."""
    if param.grad.dtype == float16:
        # Sums of equal indices may be infinite where their terms are not.
        param.grad = param.grad.coalesce()
    return param.grad._values()


class GradScaler:
    """Multiplies losses by a number that follows what gradients can bear.

    ``scale(loss).backward()``, ``step(optimizer)``, ``update()``: gradients
    are divided again before the optimizer sees them; a step whose gradients
    hold an infinity or NaN is left out, and the number shrinks.

    Args:
        device: ``"cuda"`` or ``"cpu"``; without CUDA the former disables it.
        init_scale: the number at first.
        growth_factor: what it is multiplied by after `growth_interval` steps
            in a row that were made.
        backoff_factor: what it is multiplied by after a step left out.
        growth_interval: see there.
        enabled: if not, ``step`` is the optimizer's and the rest does nothing.
    """

    def __init__(
        self,
        device: str = "cuda",
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        self._device = device
        self._enabled = enabled
        if enabled and device == "cuda":
            from .. import cuda

            if not cuda.is_available():
                warnings.warn(
                    "torch.cuda.amp.GradScaler is enabled, but CUDA is not "
                    "available.  Disabling.",
                    stacklevel=2,
                )
                self._enabled = False
        if not self._enabled:
            return
        _check(growth_factor > 1.0, "The growth factor must be > 1.0.")
        _check(backoff_factor < 1.0, "The backoff factor must be < 1.0.")
        self._init_scale = init_scale
        self._growth_factor = growth_factor
        self._backoff_factor = backoff_factor
        self._growth_interval = growth_interval
        self._init_growth_tracker = 0
        # Made where the first loss is.
        self._scale: Tensor | None = None
        self._growth_tracker: Tensor | None = None
        self._per_optimizer_states = defaultdict(_refresh_per_optimizer_state)

    # -- one iteration -----------------------------------------------------

    @overload
    def scale(self, outputs: Tensor) -> Tensor: ...
    @overload
    def scale(self, outputs: Iterable[Tensor]) -> Iterable[Tensor]: ...
    def scale(self, outputs):
        """A tensor, or those of a nest of iterables, times the scale."""
        if not self._enabled:
            return outputs
        if isinstance(outputs, Tensor):
            scale = self._scale_for(outputs.device)
            return outputs * scale.to(device=outputs.device, non_blocking=True)
        copies: list[_Copies] = []

        def scaled(value):
            if isinstance(value, Tensor):
                if not copies:
                    copies.append(_Copies(self._scale_for(value.device)))
                return value * copies[0].on(value.device)
            if isinstance(value, Iterable):
                items = map(scaled, value)
                if isinstance(value, (list, tuple)):
                    return type(value)(items)
                return items
            raise ValueError("outputs must be a Tensor or an iterable of Tensors")

        return scaled(outputs)

    def unscale_(self, optimizer: Optimizer) -> None:
        """Divides the optimizer's gradients by the scale, to look at them or
        clip them before ``step``.

        Raises:
            RuntimeError: it was done, or the step was made, since `update`.
            AssertionError: nothing was scaled yet.
        """
        if not self._enabled:
            return
        scale, _ = self._tensors("unscale_")
        state = self._per_optimizer_states[id(optimizer)]
        if state["stage"] is OptState.UNSCALED:
            raise RuntimeError(
                "unscale_() has already been called on this optimizer since "
                "the last update()."
            )
        if state["stage"] is OptState.STEPPED:
            raise RuntimeError("unscale_() is being called after step().")
        inverse = scale.double().reciprocal().float()
        state["found_inf_per_device"] = self._unscale_grads_(
            optimizer, inverse, self._number(0.0), False
        )
        state["stage"] = OptState.UNSCALED

    def step(self, optimizer: Optimizer, *args, **kwargs) -> Any:
        """``optimizer.step(*args, **kwargs)``, unless its gradients hold an
        infinity or NaN; unscales them if `unscale_` did not.

        Raises:
            RuntimeError: a closure is given, or the step was made since
                `update`.
            AssertionError: nothing was scaled, or no parameter has a gradient.
        """
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError(
                "Closure use is not currently supported if GradScaler is enabled."
            )
        self._tensors("step")
        state = self._per_optimizer_states[id(optimizer)]
        if state["stage"] is OptState.STEPPED:
            raise RuntimeError(
                "step() has already been called since the last update()."
            )
        if getattr(optimizer, "_step_supports_amp_scaling", False):
            result = self._own_step(optimizer, state, args, kwargs)
        else:
            if state["stage"] is OptState.READY:
                self.unscale_(optimizer)
            found = state["found_inf_per_device"]
            _check(len(found) > 0, "No inf checks were recorded for this optimizer.")
            result = None
            if not sum(f.item() for f in found.values()):
                result = optimizer.step(*args, **kwargs)
        state["stage"] = OptState.STEPPED
        return result

    def update(self, new_scale=None) -> None:
        """Ends the iteration: the scale shrinks, stays or grows, or becomes
        the number or tensor that is given.

        Raises:
            AssertionError: no optimizer's gradients were looked at.
        """
        if not self._enabled:
            return
        scale, tracker = self._tensors("update")
        if isinstance(new_scale, float):
            scale.fill_(new_scale)
        elif new_scale is not None:
            fits = (
                new_scale.device.type == self._device
                and new_scale.numel() == 1
                and not new_scale.requires_grad
            )
            _check(fits, _NEW_SCALE)
            scale.copy_(new_scale)
        else:
            found = [
                found.to(device=scale.device, non_blocking=True)
                for state in self._per_optimizer_states.values()
                for found in state["found_inf_per_device"].values()
            ]
            _check(len(found) > 0, "No inf checks were recorded prior to update.")
            for other in found[1:]:
                found[0] += other
            _C.ops._amp_update_scale_(
                scale,
                tracker,
                found[0],
                self._growth_factor,
                self._backoff_factor,
                self._growth_interval,
            )
        self._per_optimizer_states = defaultdict(_refresh_per_optimizer_state)

    # -- its parts ---------------------------------------------------------

    def _number(self, value: float) -> Tensor:
        return full((), value, dtype=float32, device=self._scale.device)

    def _scale_for(self, device) -> Tensor:
        if self._scale is None:
            _check(
                self._growth_tracker is None,
                "_growth_tracker initialized before _scale",
            )
            self._scale = full((), self._init_scale, dtype=float32, device=device)
            self._growth_tracker = full(
                (), self._init_growth_tracker, dtype=int32, device=device
            )
        return self._scale

    def _tensors(self, what: str) -> tuple[Tensor, Tensor]:
        for name in ("_scale", "_growth_tracker"):
            _check(
                getattr(self, name) is not None,
                f"Attempted {what} but {name} is None.  {_NO_SCALE}",
            )
        return self._scale, self._growth_tracker

    def _unscale_grads_(
        self, optimizer, inv_scale: Tensor, found_inf: Tensor, allow_fp16: bool
    ) -> dict:
        """Returns what was found, for each device."""
        inverses, found = _Copies(inv_scale), _Copies(found_inf)
        groups: dict = defaultdict(list)
        with no_grad():
            for group in optimizer.param_groups:
                for param in group["params"]:
                    _check(
                        isinstance(param, Tensor),
                        "expected param to be torch.Tensor, got "
                        f"{type(param).__name__}",
                    )
                    grad = param.grad
                    if grad is None:
                        continue
                    if not allow_fp16 and grad.dtype == float16:
                        raise ValueError("Attempting to unscale FP16 gradients.")
                    if grad.is_sparse:
                        grad = _elements(param)
                    groups[grad.device, grad.dtype].append(grad)
            for (device, _), grads in groups.items():
                _C.ops._amp_foreach_non_finite_check_and_unscale_(
                    grads, found.on(device), inverses.on(device)
                )
        return found.known

    def _own_step(self, optimizer, state: dict, args: tuple, kwargs: dict):
        """The step of an optimizer that divides and skips by itself."""
        if "grad_scaler" in inspect.signature(optimizer.step).parameters:
            warnings.warn(
                "GradScaler is going to stop passing itself as a keyword "
                "argument to the passed optimizer. In the near future "
                "GradScaler registers `grad_scale: Tensor` and `found_inf: "
                "Tensor` to the passed optimizer and let the optimizer use "
                "them directly.",
                FutureWarning,
                stacklevel=3,
            )
            return optimizer.step(*args, **{**kwargs, "grad_scaler": self})
        if state["stage"] is OptState.READY:
            self._check_inf_per_device(optimizer)
        scale = self._scale
        optimizer.grad_scale = (
            getattr(optimizer, "grad_scale", None)
            if state["stage"] is OptState.UNSCALED
            else scale * getattr(optimizer, "grad_scale", 1)
        )
        optimizer.found_inf = sum(
            t.to(scale.device, non_blocking=True)
            for t in state["found_inf_per_device"].values()
        )
        result = optimizer.step(*args, **kwargs)
        del optimizer.grad_scale
        del optimizer.found_inf
        return result

    def _check_inf_per_device(self, optimizer) -> dict:
        self._tensors("_check_inf_per_device")
        state = self._per_optimizer_states[id(optimizer)]
        state["found_inf_per_device"] = self._unscale_grads_(
            optimizer, self._number(1.0), self._number(0.0), True
        )
        return state["found_inf_per_device"]

    def _found_inf_per_device(self, optimizer) -> dict:
        return self._per_optimizer_states[id(optimizer)]["found_inf_per_device"]

    # -- numbers and state -------------------------------------------------

    def is_enabled(self) -> bool:
        """True if it does anything."""
        return self._enabled

    def _get_scale_async(self) -> Tensor | None:
        return self._scale

    def get_scale(self) -> float:
        """The scale, for which it waits; 1.0 if disabled."""
        if not self._enabled:
            return 1.0
        return self._init_scale if self._scale is None else self._scale.item()

    def _get_growth_tracker(self) -> int:
        if not self._enabled:
            return 0
        tracker = self._growth_tracker
        return self._init_growth_tracker if tracker is None else tracker.item()

    def get_growth_factor(self) -> float:
        """Factor by which the scale grows."""
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        """From now on it grows by that."""
        self._growth_factor = new_factor

    def get_backoff_factor(self) -> float:
        """Factor by which the scale shrinks."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        """From now on it shrinks by that."""
        self._backoff_factor = new_factor

    def get_growth_interval(self) -> int:
        """How many steps in a row let it grow."""
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        """From now on so many do."""
        self._growth_interval = new_interval

    def state_dict(self) -> dict:
        """Returns what `load_state_dict` needs; empty if disabled."""
        if not self._enabled:
            return {}
        return {
            "scale": self.get_scale(),
            "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval,
            "_growth_tracker": self._get_growth_tracker(),
        }

    def load_state_dict(self, state_dict: dict) -> None:
        """Goes on from a `state_dict`; does nothing if disabled."""
        if not self._enabled:
            return
        if len(state_dict) == 0:
            raise RuntimeError(
                "The source state dict is empty, possibly because it was saved "
                "from a disabled instance of GradScaler."
            )
        self._init_scale = state_dict["scale"]
        self._growth_factor = state_dict["growth_factor"]
        self._backoff_factor = state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
        self._init_growth_tracker = state_dict["_growth_tracker"]
        if self._scale is not None:
            self._scale.fill_(self._init_scale)
        if self._growth_tracker is not None:
            self._growth_tracker.fill_(self._init_growth_tracker)

    def __getstate__(self) -> dict:
        state = self.__dict__.copy()
        if self._enabled:
            _check(
                len(self._per_optimizer_states) == 0,
                "A GradScaler instance may only be pickled at the beginning of "
                "an iteration, or at the end after scaler.update().",
            )
            state["_init_scale"] = self.get_scale()
            state["_init_growth_tracker"] = self._get_growth_tracker()
            state["_scale"] = state["_growth_tracker"] = None
        return state

    def __setstate__(self, state: dict) -> None:
        self.__dict__.update(state)
