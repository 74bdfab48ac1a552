"""Checks of what optimizers are given."""

from __future__ import annotations

from .. import _C, Tensor

# Kinds of devices as PyTorch names them in its texts.
_CAPTURABLE = ("cuda", "xpu", "hpu", "privateuseone", "xla")
_FUSED = ("mps", "cuda", "xpu", "hpu", "cpu", "mtia", "privateuseone")

_TEXTS = {"lr": "learning rate", "eps": "epsilon value"}


def check_lr(lr) -> None:
    """ValueError for a rate that is a tensor of several numbers."""
    check_single("lr", lr)


def check_single(name: str, value) -> None:
    """ValueError for a tensor of several numbers."""
    if isinstance(value, Tensor) and value.numel() != 1:
        raise ValueError(f"Tensor {name} must be 1-element")


def check_options(**options) -> None:
    """ValueError for an option that is negative."""
    for name, value in options.items():
        check_single(name, value)
        if not value >= 0.0:
            raise ValueError(f"Invalid {_TEXTS.get(name, f'{name} value')}: {value}")


def check_amounts(**options) -> None:
    """As `check_options`, in the words of the newer optimizers."""
    for name, value in options.items():
        if not value >= 0.0:
            raise ValueError(f"{name} should be >= 0 but is: {value}")


def check_betas(betas) -> None:
    """ValueError for a decay rate outside of [0, 1)."""
    for i in range(2):
        if not 0.0 <= betas[i] < 1.0:
            raise ValueError(f"Invalid beta parameter at index {i}: {betas[i]}")


def check_tensors(options: dict, foreach: bool | None, capturable: bool):
    """ValueError for a tensor option where updates go by lists of numbers."""
    for name, value in options.items():
        if isinstance(value, Tensor) and foreach and not capturable:
            raise ValueError(
                f"{name} as a Tensor is not supported for capturable=False "
                "and foreach=True"
            )
        check_single(name, value)


def check_fused(fused, foreach, differentiable) -> None:
    """RuntimeError for options that do not go with `fused`."""
    if not fused:
        return
    if differentiable:
        raise RuntimeError("`fused` does not support `differentiable`")
    if foreach:
        raise RuntimeError("`fused` and `foreach` cannot be `True` together.")


def check_fused_param(param: Tensor, cuda_unsupported: bool = False) -> None:
    """RuntimeError for a parameter that fused updates are not for."""
    devices = [kind for kind in _FUSED if not (cuda_unsupported and kind == "cuda")]
    if not (param.device.type in devices and param.is_floating_point()):
        raise RuntimeError(
            "`fused=True` requires all the params to be floating point Tensors "
            f"of supported devices: {devices} but {param.dtype} and "
            f"{param.device.type}"
        )


def capturable_devices(supports_xla: bool = True) -> list[str]:
    """Kinds of devices whose work can be captured and replayed."""
    return list(_CAPTURABLE if supports_xla else _CAPTURABLE[:-1])


def check_capturable(params, steps, what: str, supports_xla: bool) -> None:
    """AssertionError unless all is on a device whose work can be captured."""
    devices = capturable_devices(supports_xla)
    if _C.is_current_stream_capturing():
        devices.append("cpu")  # its graphs read tensors on the CPU
    for param, step in zip(params, steps):
        if not (param.device.type == step.device.type in devices):
            raise AssertionError(
                f"If capturable=True, {what} must be on supported devices: {devices}."
            )


def check_steps(steps, text: str = "API has changed, ") -> None:
    """RuntimeError for counts of steps that are plain numbers."""
    for step in steps:
        if not isinstance(step, Tensor):
            raise RuntimeError(
                f"{text}`state_steps` argument must contain a list of singleton tensors"
            )
