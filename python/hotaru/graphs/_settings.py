"""Surroundings of calls: settings that code can ask for, and whoever wants to
see its operators one by one.
"""

from __future__ import annotations

from .. import _C
from .._extension.attention_kinds import allowed
from .._late import loaded
from ..autograd._transforms import _are_functorch_transforms_active

_known: tuple = (-1, ())


def interposed() -> bool:
    """True if a mode, hooks of saved tensors, a transform of `func` or an open
    level of dual numbers is around this thread's calls: no graph tells them
    what it does.
    """
    return (
        _sees_functions()
        or _C._in_dispatch_mode()
        or _C._autograd._has_saved_tensors_default_hooks()
        or _C._dual_level_open()
        or _are_functorch_transforms_active()
    )


def _sees_functions() -> bool:
    """Modes of ``__torch_function__`` but those that only take notes."""
    count = _C._len_torch_function_stack()
    return count > 0 and any(
        not getattr(_C._get_function_stack_at(i), "_takes_notes", False)
        for i in range(count)
    )


def key() -> tuple:
    """Equal as long as code that asks gets the same answers."""
    global _known
    changes = _C._setting_changes()
    if _known[0] != changes:
        _known = (changes, _of_process())
    return (
        _C.get_default_dtype(),
        _C._autocast_key(),
        _C.is_inference_mode_enabled(),
        _C.get_default_device(),
        _known[1],
    )


class Kept:
    """The settings that code may set, as they are now."""

    def __init__(self) -> None:
        self._values = [get() for _, get, _ in _SETTERS]

    def changed(self) -> str:
        """Names what is something else by now, for people; "" for nothing."""
        for (name, get, _), value in zip(_SETTERS, self._values):
            if get() != value:
                return name
        return ""

    def restore(self) -> None:
        """Sets what has changed to what it was."""
        for (_, get, put), value in zip(_SETTERS, self._values):
            if get() != value:
                put(value)


def _autocast() -> tuple:
    kinds = ("cpu", "cuda")
    return (
        *((k, _C._autocast_enabled(k), _C._autocast_dtype(k)) for k in kinds),
        _C.is_autocast_cache_enabled(),
    )


def _set_autocast(value: tuple) -> None:
    *kinds, cache = value
    for kind, enabled, dtype in kinds:
        _C._set_autocast_enabled(kind, enabled)
        _C._set_autocast_dtype(kind, dtype)
    _C._set_autocast_cache_enabled(cache)


def _anomaly() -> tuple:
    return (_C.is_anomaly_enabled(), _C.is_anomaly_check_nan_enabled())


_SETTERS = (
    ("gradient mode", _C.is_grad_enabled, _C._set_grad_enabled),
    ("default dtype", _C.get_default_dtype, _C.set_default_dtype),
    ("default device", _C.get_default_device, _C.set_default_device),
    ("autocast", _autocast, _set_autocast),
    ("number of threads", _C.get_num_threads, _C.set_num_threads),
    ("determinism", _C._get_determinism, lambda value: _C._set_determinism(*value)),
    (
        "filling of new memory",
        _C._get_deterministic_fill_uninitialized_memory,
        _C._set_deterministic_fill_uninitialized_memory,
    ),
    ("detection of anomalies", _anomaly, lambda v: _C._set_anomaly(*v)),
    ("repetition of warnings", _C.is_warn_always_enabled, _C.set_warn_always),
)


def _of_process() -> tuple:
    # Nobody has changed flags of what is not imported.
    backends = loaded("backends")
    flags = () if backends is None else _flags(backends)
    return (
        _C._get_determinism(),
        _C._get_deterministic_fill_uninitialized_memory(),
        _C.is_anomaly_enabled(),
        _C.is_anomaly_check_nan_enabled(),
        _C.get_num_threads(),
        _C.is_warn_always_enabled(),
        flags,
    )


def _flags(backends) -> tuple:
    """Flags of all libraries, of what they have flags of its own for, as for
    products, and precisions of float32.
    """
    found: list = [tuple(allowed.values()), backends._precision.held()]
    _add_flags(backends, found)
    return tuple(found)


def _add_flags(module, found: list) -> None:
    for name, value in sorted(vars(module).items(), key=lambda item: item[0]):
        attributes = getattr(value, "__dict__", ())
        if "_values" in attributes:
            values = sorted(value._values.items())
            found.append((module.__name__, name, *map(repr, values)))
            _add_flags(value, found)
