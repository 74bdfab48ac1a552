"""`TestCase`, which compares tensors, and helpers of random numbers."""

from __future__ import annotations

import contextlib
import random
import sys
import unittest
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ... import _C, sparse
from ..._C import Tensor
from ..._functions import as_tensor
from ...autograd import set_grad_enabled
from ...nn import ModuleDict, ModuleList, ParameterDict, ParameterList, Sequential
from ...random import fork_rng, manual_seed
from .._comparison import (
    BooleanPair,
    ErrorMeta,
    NonePair,
    NumberPair,
    Pair,
    TensorLikePair,
    not_close_error_metas,
)
from .._make import make_tensor

try:  # its assertExpectedInline is there where the package is
    from expecttest import TestCase as _Base
except ImportError:
    _Base = unittest.TestCase

__all__ = [
    "IS_LINUX",
    "IS_MACOS",
    "IS_WINDOWS",
    "SEED",
    "TEST_NUMPY",
    "TestCase",
    "freeze_rng_state",
    "make_tensor",
    "run_tests",
    "set_default_dtype",
    "set_rng_seed",
]

SEED = 1234
TEST_NUMPY = True
IS_LINUX = sys.platform == "linux"
IS_MACOS = sys.platform == "darwin"
IS_WINDOWS = sys.platform == "win32"

_ARRAYS = (Tensor, np.ndarray)


def _single(value, pair: Pair, what: str):
    """The only element of a tensor or array."""
    count = value.numel() if isinstance(value, Tensor) else value.size
    if count > 1:
        pair._fail(
            ValueError,
            f"Only single element tensor-likes can be compared against a {what}. "
            f"Got {count} elements instead.",
        )
    return value.item()


def _one_of(pair: Pair, actual, expected, others: tuple) -> None:
    """Inputs are supported where one is of the pair's types, the other near."""
    own = pair._supported_types
    here, there = isinstance(actual, own), isinstance(expected, own)
    if not (
        (here and isinstance(expected, (*own, *others)))
        or (there and isinstance(actual, (*own, *others)))
    ):
        pair._inputs_not_supported()


class RelaxedBooleanPair(BooleanPair):
    """A boolean, and one, a number or a tensor of one element."""

    _supported_number_types = (int, float, complex, np.number)

    def _process_inputs(self, actual, expected, *, id):
        _one_of(self, actual, expected, (*self._supported_number_types, *_ARRAYS))
        return tuple(self._to_bool(one, id=id) for one in (actual, expected))

    def _to_bool(self, bool_like, *, id):
        if isinstance(bool_like, _ARRAYS):
            return bool(_single(bool_like, self, "boolean"))
        if isinstance(bool_like, self._supported_number_types):
            return bool(bool_like)
        return super()._to_bool(bool_like, id=id)


class RelaxedNumberPair(NumberPair):
    """A number, and one or a tensor of one element, within float32's bounds."""

    _TYPE_TO_DTYPE = {int: _C.int64, float: _C.float32, complex: _C.complex64}

    def __init__(
        self,
        actual,
        expected,
        *,
        rtol_override=0.0,
        atol_override=0.0,
        check_dtype=None,
        **options,
    ) -> None:
        super().__init__(actual, expected, check_dtype=False, **options)
        self.rtol = max(self.rtol, rtol_override)
        self.atol = max(self.atol, atol_override)

    def _process_inputs(self, actual, expected, *, id):
        _one_of(self, actual, expected, _ARRAYS)
        return tuple(self._to_number(one, id=id) for one in (actual, expected))

    def _to_number(self, number_like, *, id):
        if isinstance(number_like, _ARRAYS):
            return _single(number_like, self, "number")
        number = super()._to_number(number_like, id=id)
        # Booleans and enumerations of numbers are numbers of their base.
        base = next(t for t in (int, float, complex) if isinstance(number, t))
        return number if type(number) is base else base(number)


class TensorOrArrayPair(TensorLikePair):
    """Two of tensors and arrays, of whichever classes."""

    def __init__(
        self, actual, expected, *, rtol_override=0.0, atol_override=0.0, **options
    ) -> None:
        self._check_coalesced = options.pop("check_is_coalesced", False)
        super().__init__(actual, expected, **options)
        self.rtol = max(self.rtol, rtol_override)
        self.atol = max(self.atol, atol_override)

    def _process_inputs(self, actual, expected, *, id, allow_subclasses):
        self._check_inputs_isinstance(actual, expected, cls=_ARRAYS)
        actual, expected = (self._to_tensor(one) for one in (actual, expected))
        for one in (actual, expected):
            self._check_supported(one, id=id)
        return actual, expected

    def _compare_attributes(self, actual, expected) -> None:
        super()._compare_attributes(actual, expected)
        if self._check_coalesced and actual.layout is expected.layout is _C.sparse_coo:
            one, other = actual.is_coalesced(), expected.is_coalesced()
            if one is not other:
                told = "The values for attribute 'is_coalesced()' do not match: "
                self._fail(AssertionError, f"{told}{one} != {other}.")

    def _equalize_attributes(self, actual, expected):
        actual, expected = super()._equalize_attributes(actual, expected)
        if actual.layout is _C.sparse_coo:
            actual, expected = actual.coalesce(), expected.coalesce()
        return actual, expected


class UnittestPair(Pair):
    """Things that unittest compares; CLS names their classes."""

    CLS: type | tuple[type, ...] = object
    TYPE_NAME: str | None = None

    def __init__(self, actual, expected, **options) -> None:
        self._check_inputs_isinstance(actual, expected, cls=self.CLS)
        super().__init__(actual, expected, **options)

    def compare(self) -> None:
        case = unittest.TestCase()
        try:
            case.assertEqual(self.actual, self.expected)
        except case.failureException as error:
            kind = self.CLS if isinstance(self.CLS, type) else self.CLS[0]
            name = (self.TYPE_NAME or kind.__name__).title()
            self._fail(AssertionError, f"{name} comparison failed: {error}")


class StringPair(UnittestPair):
    """Texts and bytes."""

    CLS = (str, bytes)
    TYPE_NAME = "string"


class SetPair(UnittestPair):
    """Sets."""

    CLS = set


class TypePair(UnittestPair):
    """Classes."""

    CLS = type


class ObjectPair(UnittestPair):
    """Everything else."""


_PAIRS = (
    NonePair,
    RelaxedBooleanPair,
    RelaxedNumberPair,
    TensorOrArrayPair,
    StringPair,
    SetPair,
    TypePair,
    ObjectPair,
)


class TestCase(_Base):
    """A unittest.TestCase whose `assertEqual` compares tensors by closeness.

    Each test starts from the same seed, with the invariants of sparse tensors
    checked; the mode of derivatives is restored after it. `precision` and
    `rel_tol` are the least tolerances of its comparisons.
    """

    maxDiff = None
    precision: float = 0.0
    rel_tol: float = 0.0

    def setUp(self) -> None:
        set_rng_seed()
        invariants = sparse.check_sparse_tensor_invariants
        self._checked = invariants.is_enabled()
        invariants.enable()
        self._grad = _C.is_grad_enabled()

    def tearDown(self) -> None:
        invariants = sparse.check_sparse_tensor_invariants
        if not getattr(self, "_checked", True):
            invariants.disable()
        if hasattr(self, "_grad"):  # not where a subclass replaced setUp
            set_grad_enabled(self._grad)

    def assertEqual(
        self,
        x: Any,
        y: Any,
        msg: str | Callable[[str], str] | None = None,
        *,
        atol: float | None = None,
        rtol: float | None = None,
        equal_nan: bool = True,
        exact_dtype: bool = True,
        exact_device: bool = False,
        exact_layout: bool = False,
        exact_stride: bool = False,
        exact_is_coalesced: bool = False,
    ) -> None:
        """Raises AssertionError unless the two are close, part by part."""
        __tracebackhide__ = True
        x, y = _comparable(x, y)
        errors = not_close_error_metas(
            x,
            y,
            pair_types=_PAIRS,
            sequence_types=(Sequence, Sequential, ModuleList, ParameterList),
            mapping_types=(Mapping, ModuleDict, ParameterDict),
            rtol=rtol,
            rtol_override=self.rel_tol,
            atol=atol,
            atol_override=self.precision,
            equal_nan=equal_nan,
            check_device=exact_device,
            check_dtype=exact_dtype,
            check_layout=exact_layout,
            check_stride=exact_stride,
            check_is_coalesced=exact_is_coalesced,
        )
        if errors:
            raise self._error(errors[0], msg)

    def _error(self, found: ErrorMeta, msg) -> Exception:
        if isinstance(msg, str) and self.longMessage:
            return found.to_error(lambda text: f"{text}\n{msg}")
        return found.to_error(msg)

    def assertNotEqual(self, x, y, msg=None, *, atol=None, rtol=None, **options):
        """Raises AssertionError if `assertEqual` raises none."""
        with self.assertRaises(AssertionError, msg=msg):
            self.assertEqual(x, y, msg, atol=atol, rtol=rtol, **options)

    def assertEqualIgnoreType(self, *things, **options) -> None:
        """`assertEqual`, where dtypes may differ."""
        self.assertEqual(*things, exact_dtype=False, **options)

    def assertObjectIn(self, obj: Any, iterable) -> None:
        """Raises AssertionError unless the object itself is among them."""
        if not any(one is obj for one in iterable):
            raise AssertionError("object not found in iterable")


def _comparable(x, y):
    """A sequence beside a tensor is a tensor; nested ones are their parts."""
    if any(
        isinstance(one, np.ndarray) and one.dtype.kind in "OSUMmV" for one in (x, y)
    ):
        x, y = (z.tolist() if isinstance(z, _ARRAYS) else list(z) for z in (x, y))
    elif isinstance(x, Tensor) and isinstance(y, Sequence):
        y = as_tensor(y, dtype=x.dtype, device=x.device)
    elif isinstance(x, Sequence) and isinstance(y, Tensor):
        x = as_tensor(x, dtype=y.dtype, device=y.device)
    return tuple(
        z.unbind()
        if isinstance(z, Tensor) and z.is_nested and z.layout is _C.strided
        else z
        for z in (x, y)
    )


def set_rng_seed(seed: int | None = None) -> None:
    """Seeds Python's, numpy's and this library's generators; SEED by default."""
    seed = SEED if seed is None else seed
    manual_seed(seed)
    random.seed(seed)
    np.random.seed(seed)


@contextlib.contextmanager
def freeze_rng_state() -> Iterator[None]:
    """After it, the generators are as they were before."""
    with fork_rng():
        yield


@contextlib.contextmanager
def set_default_dtype(dtype: _C.dtype) -> Iterator[None]:
    """The default dtype within it."""
    saved = _C.get_default_dtype()
    _C.set_default_dtype(dtype)
    try:
        yield
    finally:
        _C.set_default_dtype(saved)


def run_tests(argv: list[str] | None = None) -> None:
    """Runs the tests of the main module, as unittest.main does."""
    unittest.main(argv=argv or sys.argv)
