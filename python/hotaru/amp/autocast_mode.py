"""Scopes of mixed precision, and functions of autograd that mind them."""

from __future__ import annotations

import functools
import threading
import warnings
from collections.abc import Callable, Iterable, Mapping

from .. import _C, Tensor, bfloat16, float16, float64
from ._thread import check_device_type, get_autocast_dtype, is_autocast_enabled

__all__ = [
    "autocast",
    "autocast_decorator",
    "custom_bwd",
    "custom_fwd",
    "is_autocast_available",
]


def is_autocast_available(device_type: str) -> bool:
    """Tells whether a type of device has autocast: the CPU and CUDA."""
    return _C._autocast_available(device_type)


def autocast_decorator(autocast_instance, func: Callable) -> Callable:
    """The function, run within the scope."""

    @functools.wraps(func)
    def decorate_autocast(*args, **kwargs):
        with autocast_instance:
            return func(*args, **kwargs)

    return decorate_autocast


class autocast:  # noqa: N801
    """A scope, or by decoration a function, of mixed precision.

    Operators run in the dtype that PyTorch's lists give them: products of
    matrices and convolutions in `dtype`, what needs range or precision in
    float32. It holds for this thread; an instance may be entered again before
    it is left.

    Args:
        device_type: ``"cpu"`` or ``"cuda"``.
        dtype: bfloat16 or float16; by default that of the device type,
            bfloat16 on the CPU and float16 on CUDA.
        enabled: whether the scope turns autocast on, or off.
        cache_enabled: whether casts of float32 parameters are kept to the end
            of the outermost scope; as around the scope by default.

    Raises:
        RuntimeError: there is no autocast for the device type.
    """

    def __init__(
        self,
        device_type: str,
        dtype: _C.dtype | None = None,
        enabled: bool = True,
        cache_enabled: bool | None = None,
    ) -> None:
        check_device_type(device_type)
        if not is_autocast_available(device_type):
            raise RuntimeError(
                f"User specified an unsupported autocast device_type '{device_type}'"
            )
        if dtype is None:
            dtype = get_autocast_dtype(device_type)
        self.device = device_type
        self.fast_dtype = dtype
        self._cache_enabled = (
            _C.is_autocast_cache_enabled() if cache_enabled is None else cache_enabled
        )
        if enabled and not _can_enable(device_type, dtype):
            enabled = False
        self._enabled = enabled

    def __enter__(self) -> autocast:
        if not isinstance(self._enabled, bool):
            raise TypeError(
                "set_autocast_enabled(): argument 'enabled' (position 2) must "
                f"be bool, not {type(self._enabled).__name__}"
            )
        _scopes().append(
            (
                self,
                _C._autocast_enabled(self.device),
                _C._autocast_dtype(self.device),
                _C.is_autocast_cache_enabled(),
            )
        )
        _C._set_autocast_enabled(self.device, self._enabled)
        _C._set_autocast_dtype(self.device, self.fast_dtype)
        _C._set_autocast_cache_enabled(self._cache_enabled)
        _C.autocast_increment_nesting()
        return self

    def __exit__(self, *error) -> bool:
        scopes = _scopes()
        at = len(scopes) - 1
        while at >= 0 and scopes[at][0] is not self:
            at -= 1
        if at < 0:
            raise RuntimeError("autocast is left in a thread that did not enter it")
        _, enabled, dtype, cache = scopes.pop(at)
        if _C.autocast_decrement_nesting() == 0:
            _C.clear_autocast_cache()
        _C._set_autocast_enabled(self.device, enabled)
        _C._set_autocast_dtype(self.device, dtype)
        _C._set_autocast_cache_enabled(cache)
        return False

    def __call__(self, func: Callable) -> Callable:
        if not callable(func):
            raise TypeError(
                "autocast()(func) requires a callable, but got "
                f"{type(func).__name__}. Did you mean to use autocast as a "
                "context manager? For example:\n"
                "    with torch.autocast(device_type=...):\n"
                "        output = model(input)"
            )
        return autocast_decorator(self, func)


_entered = threading.local()


def _scopes() -> list[tuple]:
    """The scopes that this thread is in, each with what was before: threads
    share instances, which decorate functions.
    """
    return _entered.__dict__.setdefault("scopes", [])


def _can_enable(device_type: str, dtype: _C.dtype) -> bool:
    """Warns where it is not to be had."""
    if device_type == "cuda":
        from .. import cuda

        if not cuda.is_available():
            warnings.warn(
                "CUDA is not available or torch_xla is imported. Disabling autocast.",
                stacklevel=3,
            )
            return False
        if dtype == bfloat16 and not cuda.is_bf16_supported():
            raise RuntimeError(
                "Current CUDA Device does not support bfloat16. "
                "Please switch dtype to float16."
            )
    elif dtype not in (bfloat16, float16):
        name = device_type.upper()
        warnings.warn(
            f"In {name} autocast, but the target dtype is not supported. "
            f"Disabling autocast.\n{name} Autocast only supports dtypes of "
            "torch.bfloat16, torch.float16 currently.",
            stacklevel=3,
        )
        return False
    return True


def _is_array(value) -> bool:
    return type(value).__module__ == "numpy" and hasattr(value, "dtype")


def _cast(value, device_type: str, dtype: _C.dtype):
    """Floating-point tensors of the device in the dtype, in nests as well."""
    if isinstance(value, Tensor):
        eligible = (
            value.is_floating_point()
            and value.device.type == device_type
            and value.dtype is not float64
        )
        return value.to(dtype) if eligible else value
    if isinstance(value, (str, bytes)) or _is_array(value):
        return value
    if isinstance(value, Mapping):
        return {
            _cast(k, device_type, dtype): _cast(v, device_type, dtype)
            for k, v in value.items()
        }
    if isinstance(value, Iterable):
        items = (_cast(item, device_type, dtype) for item in value)
        return type(value)(items) if isinstance(value, (list, tuple)) else items
    return value


def custom_fwd(
    fwd: Callable | None = None,
    *,
    device_type: str,
    cast_inputs: _C.dtype | None = None,
):
    """Decorates the ``forward`` of a ``torch.autograd.Function``.

    Args:
        device_type: ``"cpu"`` or ``"cuda"``.
        cast_inputs: where autocast is on, the dtype that floating-point
            arguments are cast to, and ``forward`` then runs without autocast.
            None leaves both as they are.
    """
    check_device_type(device_type)
    if fwd is None:
        return functools.partial(
            custom_fwd, device_type=device_type, cast_inputs=cast_inputs
        )

    @functools.wraps(fwd)
    def decorate_fwd(*args, **kwargs):
        context = args[0]
        context._dtype = get_autocast_dtype(device_type)
        enabled = is_autocast_enabled(device_type)
        context._fwd_used_autocast = enabled and cast_inputs is None
        if cast_inputs is None or not enabled:
            return fwd(*args, **kwargs)
        with autocast(device_type=device_type, enabled=False):
            return fwd(
                *_cast(args, device_type, cast_inputs),
                **_cast(kwargs, device_type, cast_inputs),
            )

    return decorate_fwd


def custom_bwd(bwd: Callable | None = None, *, device_type: str):
    """Decorates the ``backward`` that belongs to a custom_fwd: it runs with
    autocast as its ``forward`` did.
    """
    check_device_type(device_type)
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def decorate_bwd(*args, **kwargs):
        with autocast(
            device_type=device_type,
            enabled=args[0]._fwd_used_autocast,
            dtype=args[0]._dtype,
        ):
            return bwd(*args, **kwargs)

    return decorate_bwd
