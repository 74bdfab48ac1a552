"""The older `vmap`: results are tensors or tuples of them.

A loop over slices, as `hotaru.func.vmap`.
"""

from __future__ import annotations

import functools
import warnings

from . import _C, Tensor
from ._functorch.slices import Inputs, name_of, run_slices, stack_results


def _check_out_dims(func, out_dims) -> None:
    several = isinstance(out_dims, tuple)
    for dim in out_dims if several else (out_dims,):
        if not isinstance(dim, int):
            raise ValueError(
                f"vmap({name_of(func)}, ..., out_dims={out_dims}): `out_dims` "
                "must be an int or a tuple of int representing where in the "
                "outputs the vmapped dimension should appear."
            )


def _check_result(func, result) -> None:
    name = name_of(func)
    if isinstance(result, Tensor):
        return
    if not isinstance(result, tuple):
        raise ValueError(
            f"vmap({name}, ...): `{name}` must only return Tensors, got type "
            f"{type(result)} as the return."
        )
    for place, value in enumerate(result):
        if not isinstance(value, Tensor):
            raise ValueError(
                f"vmap({name}, ...): `{name}` must only return Tensors, got "
                f"type {type(value)} for return {place}."
            )


def _vmap(func, in_dims=0, out_dims=0, allow_none_pass_through: bool = False):
    """Maps a function over dimensions of its arguments.

    Args:
        func: returns a tensor or a tuple of tensors.
        in_dims: as in `hotaru.func.vmap`, counted from the front only.
        out_dims: an int, or a tuple with one for each result.
        allow_none_pass_through: a result that is None stays None.

    Raises:
        ValueError: dimensions that fit neither arguments nor results, or other
            results.
        RuntimeError: the function draws from the default generator.
    """

    @functools.wraps(func, updated=())
    def mapped(*args):
        _check_out_dims(func, out_dims)
        inputs = Inputs(func, in_dims, args, negative=False)
        results = run_slices(func, inputs, "never", {}, counts=False)
        if not allow_none_pass_through:
            _check_result(func, results[0])
        single = isinstance(results[0], Tensor)
        rows = [(r,) for r in results] if single else results
        count = len(rows[0])
        dims = out_dims if isinstance(out_dims, tuple) else (out_dims,) * count
        if len(dims) != count:
            raise ValueError(
                f"vmap({name_of(func)}, ..., out_dims={out_dims}): `out_dims` "
                f"must have one dim per output (got {count} outputs) of "
                f"{name_of(func)}."
            )
        joined = tuple(
            None if column[0] is None else stack_results(column, dim, inputs.size)
            for column, dim in zip(map(list, zip(*rows)), dims)
        )
        return joined[0] if single else joined

    return mapped


def vmap(func, in_dims=0, out_dims=0):
    """Deprecated: `hotaru.vmap` is newer. Arguments are `_vmap`'s."""
    warnings.warn(
        "Please use `torch.vmap` instead of `torch._vmap_internals.vmap`.",
        FutureWarning,
        stacklevel=2,
    )
    return _vmap(func, in_dims, out_dims)


_warns = False


def _are_fallback_warnings_enabled() -> bool:
    return _warns


def _display_fallback_warnings(enabled: bool) -> None:
    global _warns
    _warns = bool(enabled)


# Tells whether an operator without a batching rule warns when it is looped
# over. No operator has such a rule here, and a loop is what `vmap` says it is:
# the flag is kept for those who set it back, and nothing warns.
_C._debug_only_are_vmap_fallback_warnings_enabled = _are_fallback_warnings_enabled
_C._debug_only_display_vmap_fallback_warnings = _display_fallback_warnings
