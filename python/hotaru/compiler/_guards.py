"""Filters of guards, which `options={"guard_filter_fn": ...}` takes.

A graph is looked up by all that it depends on, so that there are no guards to
leave out: the filters answer for entries that they are given.
"""

from __future__ import annotations

from ..nn import Module, Parameter

__all__ = [
    "keep_portable_guards_unsafe",
    "keep_tensor_guards_unsafe",
    "skip_all_guards_unsafe",
    "skip_guard_on_all_nn_modules_unsafe",
    "skip_guard_on_globals_unsafe",
    "skip_guard_on_inbuilt_nn_modules_unsafe",
]

# Guards that hold without Python: of tensors, sizes and global states.
_PORTABLE = {
    "TENSOR_MATCH",
    "SHAPE_ENV",
    "GLOBAL_STATE",
    "GRAD_MODE",
    "AUTOCAST_STATE",
    "DETERMINISTIC_ALGORITHMS",
    "TORCH_FUNCTION_STATE",
}


def _is_builtin(module) -> bool:
    return (getattr(type(module), "__module__", "")).partition(".")[0] in (
        Module.__module__.partition(".")[0],
        "torch",
    )


def skip_all_guards_unsafe(guard_entries) -> list[bool]:
    """False of every entry."""
    return [False for _ in guard_entries]


def skip_guard_on_globals_unsafe(guard_entries) -> list[bool]:
    """False of entries of global names."""
    return [not entry.is_global for entry in guard_entries]


def skip_guard_on_all_nn_modules_unsafe(guard_entries) -> list[bool]:
    """False of entries of modules."""
    return [not isinstance(entry.value, Module) for entry in guard_entries]


def skip_guard_on_inbuilt_nn_modules_unsafe(guard_entries) -> list[bool]:
    """False of entries of modules that the package has."""
    return [
        not (isinstance(entry.value, Module) and _is_builtin(entry.value))
        for entry in guard_entries
    ]


def keep_tensor_guards_unsafe(
    guard_entries, keep_parameters: bool = False
) -> list[bool]:
    """True of entries of tensors; of parameters if `keep_parameters`."""
    return [
        entry.guard_type == "TENSOR_MATCH"
        and (keep_parameters or not isinstance(entry.value, Parameter))
        for entry in guard_entries
    ]


def keep_portable_guards_unsafe(guard_entries) -> list[bool]:
    """True of entries that hold without Python: tensors, global states."""
    return [entry.guard_type in _PORTABLE for entry in guard_entries]
