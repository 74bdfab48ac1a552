"""Closeness of two things, through containers."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from .. import _C
from .._C import Tensor
from ._leaves import Comparison, Options, default_tolerances, leaf
from ._mismatch import MismatchError


def assert_close(
    actual: Any,
    expected: Any,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: str | Callable[[str], str] | None = None,
) -> None:
    """Raises AssertionError unless `actual` is close to `expected`.

    Elements are close where |actual - expected| <= atol + rtol * |expected|,
    where both are finite; else where they are equal, and NaN to NaN with
    `equal_nan`. The tolerances are given both or none; by default those of the
    looser dtype:

        float16 1e-3 1e-5, bfloat16 1.6e-2 1e-5, float32 and complex64
        1.3e-6 1e-5, float64 and complex128 1e-7 1e-7, others 0 0

    Both are tensors, what `as_tensor` makes one of, numbers, booleans, None, or
    sequences and mappings of those. Tensors have one shape and, unless a
    `check_` is False, one device, dtype, layout and (with `check_stride`)
    strides; without `allow_subclasses` one type. Numbers of different types
    need `check_dtype=False`.

    `msg` is the text where values or attributes differ, or a function that
    makes it of the text there would be. Raises ValueError where one tolerance
    alone is given, TypeError for inputs that cannot be compared.
    """
    __tracebackhide__ = True
    options = Options(
        allow_subclasses,
        rtol,
        atol,
        equal_nan,
        check_device,
        check_dtype,
        check_layout,
        check_stride,
    )
    try:
        leaves = list(_leaves(actual, expected, options, ()))
    except MismatchError as found:
        # Things that cannot be compared at all keep their text.
        error, msg = found, None
    else:
        error = _first(leaves)
    if error is not None:
        raise error.error(msg)


def _first(leaves: list) -> MismatchError | None:
    """Returns the first comparison's error, if one fails."""
    for path, compare in leaves:
        try:
            with _at(path):
                compare()
        except MismatchError as found:
            return found
    return None


@contextlib.contextmanager
def _at(path: tuple) -> Iterator[None]:
    """Mismatches inside know where they are."""
    try:
        yield
    except MismatchError as found:
        found.path = path
        raise


def _leaves(
    actual, expected, options: Options, path: tuple
) -> Iterator[tuple[tuple, Comparison]]:
    if _both(actual, expected, Sequence) and not (
        isinstance(actual, str) or isinstance(expected, str)
    ):
        keys = _indices(actual, expected, path)
    elif _both(actual, expected, Mapping):
        keys = _keys(actual, expected, path)
    else:
        with _at(path):
            yield path, leaf(actual, expected, options)
        return
    for key in keys:
        yield from _leaves(actual[key], expected[key], options, (*path, key))


def _both(actual, expected, kind: type) -> bool:
    return isinstance(actual, kind) and isinstance(expected, kind)


def _indices(actual: Sequence, expected: Sequence, path: tuple) -> range:
    if len(actual) != len(expected):
        with _at(path):
            raise MismatchError(
                AssertionError,
                "The length of the sequences mismatch: "
                f"{len(actual)} != {len(expected)}",
            )
    return range(len(actual))


def _keys(actual: Mapping, expected: Mapping, path: tuple) -> list:
    here, there = set(actual), set(expected)
    if here != there:
        with _at(path):
            missing, more = sorted(there - here), sorted(here - there)
            raise MismatchError(
                AssertionError,
                "The keys of the mappings do not match:\n"
                f"Missing keys in the actual mapping: {missing}\n"
                f"Additional keys in the actual mapping: {more}",
            )
    with contextlib.suppress(TypeError):  # keys without an order
        return sorted(here)
    return list(actual)


_OLD_TOLERANCES = {
    _C.float16: (1e-3, 1e-3),
    _C.float32: (1e-4, 1e-5),
    _C.float64: (1e-5, 1e-8),
}


def assert_allclose(
    actual: Any,
    expected: Any,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = True,
    msg: str = "",
) -> None:
    """The deprecated form of `assert_close`: looser, NaN equals NaN, dtypes may
    differ, and what is no tensor becomes one.
    """
    __tracebackhide__ = True
    warnings.warn(
        "`torch.testing.assert_allclose()` is deprecated since 1.12 and will "
        "be removed in a future release. Please use "
        "`torch.testing.assert_close()` instead. You can find detailed upgrade "
        "instructions in https://github.com/pytorch/pytorch/issues/61844.",
        FutureWarning,
        stacklevel=2,
    )
    if not isinstance(actual, Tensor):
        actual = _C.tensor(actual)
    if not isinstance(expected, Tensor):
        expected = _C.tensor(expected, dtype=actual.dtype)
    if rtol is None and atol is None:
        rtol, atol = default_tolerances(
            actual.dtype, expected.dtype, table=_OLD_TOLERANCES
        )
    assert_close(
        actual,
        expected,
        rtol=rtol,
        atol=atol,
        equal_nan=equal_nan,
        check_dtype=False,
        msg=msg or None,
    )
