"""Calls that change nothing: they give the tensor itself."""

from __future__ import annotations

from collections.abc import Callable

from .. import _C
from .._tensor.elements import CASTS


def gives_itself(name: str, args: tuple, kwargs: dict) -> bool:
    """Tells whether the operator gives its first argument as it is."""
    question = _QUESTIONS.get(name)
    if question is None or kwargs.get("out") is not None:
        return False
    if not args or not isinstance(args[0], _C.Tensor):
        return False
    return question(*args, **kwargs)


def _is_contiguous(x, memory_format=_C.contiguous_format, **_) -> bool:
    from .stack import native

    given = {"memory_format": memory_format}
    return native(_C.Tensor.is_contiguous, (x,), given)


def _is_there(
    x, *args, dtype=None, device=None, copy=False, memory_format=None, **_
) -> bool:
    """For `to`: the dtype and device are those that are asked for."""
    flags = [a for a in args if isinstance(a, bool)]  # non_blocking, copy
    if copy or flags[1:] == [True] or not _in_format(x, memory_format):
        return False
    for given in args:
        if isinstance(given, _C.Tensor):
            dtype, device = given.dtype, given.device
        elif isinstance(given, _C.dtype):
            dtype = given
        elif isinstance(given, (str, _C.device)):
            device = given
        elif given is not None and not isinstance(given, bool):
            return False
    return (dtype is None or dtype == x.dtype) and (
        device is None or _C.device(device) == x.device
    )


def _in_format(x, memory_format) -> bool:
    if memory_format in (None, _C.preserve_format):
        return True
    return _is_contiguous(x, memory_format)


def _is_of(dtype) -> Callable:
    def question(x, memory_format=None, **_) -> bool:
        return x.dtype == dtype and _in_format(x, memory_format)

    return question


def _keeps_all(x, p=0.5, train=True, **_) -> bool:
    """For dropout's kinds."""
    return not train or p == 0


def _has_dimensions(count: int) -> Callable:
    return lambda x, *rest, **_: not rest and x.dim() >= count


def _is_one(x, start_dim=0, end_dim=-1, **_) -> bool:
    """For `flatten`: one dimension is joined with itself."""
    count = x.dim()
    return count > 0 and (start_dim - end_dim) % count == 0


def _is_real(x, **_) -> bool:
    return not x.is_complex()


_QUESTIONS: dict[str, Callable] = {
    "contiguous": _is_contiguous,
    "to": _is_there,
    "type_as": _is_there,
    "cpu": lambda x, memory_format=None, **_: (
        x.device.type == "cpu" and memory_format is None
    ),
    "flatten": _is_one,
    "positive": lambda x, **_: x.dtype != _C.bool,
    "conj": _is_real,
    "conj_physical": _is_real,
    "real": _is_real,
    "resolve_conj": lambda x, **_: not x.is_conj(),
    "resolve_neg": lambda x, **_: not x.is_neg(),
    **{name: _is_of(dtype) for name, dtype in CASTS.items()},
    **{f"atleast_{n}d": _has_dimensions(n) for n in (1, 2, 3)},
    **dict.fromkeys(
        ("dropout", "feature_dropout", "alpha_dropout", "feature_alpha_dropout"),
        _keeps_all,
    ),
}
