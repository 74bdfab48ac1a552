"""Pairs of things that are compared, as classes that a test suite derives from.

`not_close_error_metas` takes two things apart, makes of each two parts a pair of
the first class that takes them, and gives the errors of those that differ.
"""

from __future__ import annotations

import abc
import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NoReturn

from .. import _C
from .._C import Tensor
from .._functions import as_tensor
from . import _leaves, _mismatch
from ._close import assert_allclose, assert_close
from ._leaves import near, numpy_kinds
from ._mismatch import MismatchError

__all__ = [
    "BooleanPair",
    "ErrorMeta",
    "NonePair",
    "NumberPair",
    "ObjectPair",
    "Pair",
    "TensorLikePair",
    "UnsupportedInputs",
    "assert_allclose",
    "assert_close",
    "default_tolerances",
    "get_tolerances",
    "not_close_error_metas",
    "originate_pairs",
]

_LAYOUTS = {
    _C.strided,
    _C.jagged,
    _C.sparse_coo,
    _C.sparse_csr,
    _C.sparse_csc,
    _C.sparse_bsr,
    _C.sparse_bsc,
}
_REPORT = (
    "If you are a user and see this message during normal operation please file "
    "an issue at https://github.com/pytorch/pytorch/issues. If you are a developer "
    "and working on the comparison functions, please "
)


class ErrorMeta(Exception):
    """An error of a comparison: its class, its text, and where in the containers."""

    def __init__(self, type: type[Exception], msg: str, *, id: tuple = ()) -> None:
        super().__init__(
            f"{_REPORT}`raise ErrorMeta.to_error()` for user facing errors."
        )
        self.type, self.msg, self.id = type, msg, id

    def to_error(self, msg: str | Callable[[str], str] | None = None) -> Exception:
        """The error for the user; `msg` replaces the text or makes another."""
        found = MismatchError(self.type, self.msg)
        found.path = self.id
        return found.error(msg)


class UnsupportedInputs(Exception):
    """Raised by a pair that is made of inputs which are not of its kind."""


@contextlib.contextmanager
def _told(id: tuple) -> Iterator[None]:
    """Mismatches inside are ErrorMeta at that place."""
    try:
        yield
    except MismatchError as found:
        raise ErrorMeta(found.kind, found.text, id=id) from None


def default_tolerances(
    *inputs: Tensor | _C.dtype, dtype_precisions: dict | None = None
) -> tuple[float, float]:
    """The loosest relative and absolute tolerance of tensors and dtypes."""
    dtypes = []
    for one in inputs:
        if not isinstance(one, (Tensor, _C.dtype)):
            raise TypeError(
                f"Expected a torch.Tensor or a torch.dtype, but got {type(one)} "
                "instead."
            )
        quantized = isinstance(one, Tensor) and one.is_quantized
        dtype = one.dtype if isinstance(one, Tensor) else one
        # Numbers that quantised ones stand for are of float32.
        usual = quantized and not dtype_precisions
        dtypes.append(_C.float32 if usual else dtype)
    if dtype_precisions:
        return _leaves.default_tolerances(*dtypes, table=dtype_precisions)
    return _leaves.default_tolerances(*dtypes)


def get_tolerances(
    *inputs: Tensor | _C.dtype, rtol: float | None, atol: float | None, id: tuple = ()
) -> tuple[float, float]:
    """The given tolerances, or the inputs' own.

    Raises ErrorMeta of ValueError where one alone is given.
    """
    with _told(id):
        given = _options(rtol=rtol, atol=atol).tolerances(_C.float32)
    return given if rtol is not None else default_tolerances(*inputs)


def _options(**given) -> _leaves.Options:
    usual = dict.fromkeys(_leaves.Options.__dataclass_fields__)
    return _leaves.Options(**{**usual, **given})


class Pair(abc.ABC):
    """Two things of one kind. A pair gets all options and keeps those it knows.

    Its constructor raises UnsupportedInputs for things of another kind, and
    `compare` ErrorMeta where the two differ.
    """

    def __init__(self, actual: Any, expected: Any, *, id: tuple = (), **unknown):
        self.actual, self.expected, self.id = actual, expected, id
        self._unknown_parameters = unknown

    @staticmethod
    def _inputs_not_supported() -> NoReturn:
        raise UnsupportedInputs

    @staticmethod
    def _check_inputs_isinstance(*inputs: Any, cls: type | tuple[type, ...]) -> None:
        if not all(isinstance(one, cls) for one in inputs):
            raise UnsupportedInputs

    def _fail(self, type: type[Exception], msg: str, *, id: tuple = ()) -> NoReturn:
        raise ErrorMeta(type, msg, id=id or getattr(self, "id", ()))

    @abc.abstractmethod
    def compare(self) -> None:
        """Raises ErrorMeta unless the two are close."""

    def extra_repr(self) -> Sequence[str | tuple[str, Any]]:
        """Names of options, or names and values, that the text shows."""
        return ()

    def __repr__(self) -> str:
        shown = [(name, getattr(self, name)) for name in ("id", "actual", "expected")]
        for extra in self.extra_repr():
            named = isinstance(extra, str)
            shown.append((extra, getattr(self, extra)) if named else extra)
        body = "".join(f"    {name}={value!s},\n" for name, value in shown)
        return f"{type(self).__name__}(\n{body})"


class ObjectPair(Pair):
    """Things that `==` compares, of every kind."""

    def compare(self) -> None:
        try:
            equal = self.actual == self.expected
        except Exception as error:
            told = f"{self.actual} == {self.expected} failed with:\n{error}."
            raise ErrorMeta(ValueError, told, id=self.id) from error
        if not equal:
            self._fail(AssertionError, f"{self.actual} != {self.expected}")


class NonePair(Pair):
    """None, and what stands beside it."""

    def __init__(self, actual: Any, expected: Any, **options) -> None:
        if actual is not None and expected is not None:
            raise UnsupportedInputs
        super().__init__(actual, expected, **options)

    def compare(self) -> None:
        if self.actual is not self.expected:
            told = f"None mismatch: {self.actual} is not {self.expected}"
            self._fail(AssertionError, told)


class BooleanPair(Pair):
    """Python's and numpy's booleans."""

    def __init__(self, actual: Any, expected: Any, *, id: tuple, **options) -> None:
        actual, expected = self._process_inputs(actual, expected, id=id)
        # The place is not kept: PyTorch names none in this pair's errors.
        super().__init__(actual, expected, **options)

    @property
    def _supported_types(self) -> tuple[type, ...]:
        return (bool, *numpy_kinds("bool_"))

    def _process_inputs(self, actual: Any, expected: Any, *, id: tuple):
        self._check_inputs_isinstance(actual, expected, cls=self._supported_types)
        return tuple(self._to_bool(one, id=id) for one in (actual, expected))

    def _to_bool(self, bool_like: Any, *, id: tuple) -> bool:
        if not isinstance(bool_like, (bool, *numpy_kinds("bool_"))):
            told = f"Unknown boolean type {type(bool_like)}."
            raise ErrorMeta(TypeError, told, id=id)
        return bool(bool_like)

    def compare(self) -> None:
        if self.actual is not self.expected:
            told = f"Booleans mismatch: {self.actual} is not {self.expected}"
            self._fail(AssertionError, told)


class NumberPair(Pair):
    """Python's and numpy's numbers; options are `assert_close`'s."""

    _TYPE_TO_DTYPE = {int: _C.int64, float: _C.float64, complex: _C.complex128}
    _NUMBER_TYPES = tuple(_TYPE_TO_DTYPE)

    def __init__(
        self,
        actual: Any,
        expected: Any,
        *,
        id: tuple = (),
        rtol: float | None = None,
        atol: float | None = None,
        equal_nan: bool = False,
        check_dtype: bool = False,
        **options,
    ) -> None:
        actual, expected = self._process_inputs(actual, expected, id=id)
        super().__init__(actual, expected, id=id, **options)
        dtypes = [self._TYPE_TO_DTYPE[type(one)] for one in (actual, expected)]
        self.rtol, self.atol = get_tolerances(*dtypes, rtol=rtol, atol=atol, id=id)
        self.equal_nan, self.check_dtype = equal_nan, check_dtype

    @property
    def _supported_types(self) -> tuple[type, ...]:
        return (*self._NUMBER_TYPES, *numpy_kinds("number"))

    def _process_inputs(self, actual: Any, expected: Any, *, id: tuple):
        self._check_inputs_isinstance(actual, expected, cls=self._supported_types)
        return tuple(self._to_number(one, id=id) for one in (actual, expected))

    def _to_number(self, number_like: Any, *, id: tuple):
        if isinstance(number_like, numpy_kinds("number")):
            return number_like.item()
        if not isinstance(number_like, self._NUMBER_TYPES):
            told = f"Unknown number type {type(number_like)}."
            raise ErrorMeta(TypeError, told, id=id)
        return number_like

    def compare(self) -> None:
        actual, expected = self.actual, self.expected
        if self.check_dtype and type(actual) is not type(expected):
            told = f"{type(actual)} != {type(expected)}."
            self._fail(AssertionError, f"The (d)types do not match: {told}")
        if not near(actual, expected, self.rtol, self.atol, self.equal_nan):
            told = _mismatch.numbers(actual, expected, self.rtol, self.atol)
            self._fail(AssertionError, told)

    def extra_repr(self) -> Sequence[str]:
        return ("rtol", "atol", "equal_nan", "check_dtype")


class TensorLikePair(Pair):
    """Tensors and what `as_tensor` makes one of; options are `assert_close`'s."""

    def __init__(
        self,
        actual: Any,
        expected: Any,
        *,
        id: tuple = (),
        allow_subclasses: bool = True,
        rtol: float | None = None,
        atol: float | None = None,
        equal_nan: bool = False,
        check_device: bool = True,
        check_dtype: bool = True,
        check_layout: bool = True,
        check_stride: bool = False,
        **options,
    ) -> None:
        actual, expected = self._process_inputs(
            actual, expected, id=id, allow_subclasses=allow_subclasses
        )
        super().__init__(actual, expected, id=id, **options)
        inputs = (actual, expected)
        self.rtol, self.atol = get_tolerances(*inputs, rtol=rtol, atol=atol, id=id)
        self.equal_nan = equal_nan
        self.check_device, self.check_dtype = check_device, check_dtype
        self.check_layout, self.check_stride = check_layout, check_stride

    def _process_inputs(
        self, actual: Any, expected: Any, *, id: tuple, allow_subclasses: bool
    ):
        kinds = type(actual), type(expected)
        related = isinstance(actual, kinds[1]) or isinstance(expected, kinds[0])
        if not (related and (allow_subclasses or kinds[0] is kinds[1])):
            raise UnsupportedInputs
        actual, expected = (self._to_tensor(one) for one in (actual, expected))
        for one in (actual, expected):
            self._check_supported(one, id=id)
        return actual, expected

    def _to_tensor(self, tensor_like: Any) -> Tensor:
        if isinstance(tensor_like, Tensor):
            return tensor_like
        try:
            return as_tensor(tensor_like)
        except Exception:  # whatever an object's protocols raise: no tensor
            raise UnsupportedInputs from None

    def _check_supported(self, tensor: Tensor, *, id: tuple) -> None:
        if tensor.layout not in _LAYOUTS:
            told = f"Unsupported tensor layout {tensor.layout}"
            raise ErrorMeta(ValueError, told, id=id)

    def compare(self) -> None:
        actual, expected = self.actual, self.expected
        self._compare_attributes(actual, expected)
        if "meta" in (actual.device.type, expected.device.type):
            return
        self._compare_values(*self._equalize_attributes(actual, expected))

    def _compare_attributes(self, actual: Tensor, expected: Tensor) -> None:
        names = ("check_device", "check_dtype", "check_layout", "check_stride")
        options = _options(**{name: getattr(self, name) for name in names})
        with _told(self.id):
            _leaves.check_attributes(actual, expected, options)

    def _equalize_attributes(self, actual: Tensor, expected: Tensor):
        return _leaves.alike(actual, expected)

    def _compare_values(self, actual: Tensor, expected: Tensor) -> None:
        tolerances = (self.rtol, self.atol, self.equal_nan)
        with _told(self.id):
            _leaves.compare_values(actual, expected, *tolerances)

    def extra_repr(self) -> Sequence[str]:
        checks = ("check_device", "check_dtype", "check_layout", "check_stride")
        return ("rtol", "atol", "equal_nan", *checks)


def originate_pairs(
    actual: Any,
    expected: Any,
    *,
    pair_types: Sequence[type[Pair]],
    sequence_types: tuple[type, ...] = (Sequence,),
    mapping_types: tuple[type, ...] = (Mapping,),
    id: tuple = (),
    **options,
) -> list[Pair]:
    """Pairs of all parts, each of the first of `pair_types` that takes it.

    Raises ErrorMeta where two containers have other lengths or keys, and where no
    class takes a pair.
    """
    both = (actual, expected)
    if all(isinstance(x, sequence_types) and not isinstance(x, str) for x in both):
        keys = _indices(actual, expected, id)
    elif all(isinstance(x, mapping_types) for x in both):
        keys = _keys(actual, expected, id)
    else:
        return [_pair(actual, expected, pair_types, id, options)]
    kinds = {"sequence_types": sequence_types, "mapping_types": mapping_types}
    options = {"pair_types": pair_types, **kinds, **options}
    return [
        pair
        for key in keys
        for pair in originate_pairs(
            actual[key], expected[key], id=(*id, key), **options
        )
    ]


def _indices(actual, expected, id: tuple) -> range:
    count, wanted = len(actual), len(expected)
    if count != wanted:
        told = f"The length of the sequences mismatch: {count} != {wanted}"
        raise ErrorMeta(AssertionError, told, id=id)
    return range(count)


def _keys(actual, expected, id: tuple) -> list:
    here, there = set(actual.keys()), set(expected.keys())
    if here != there:
        told = (
            "The keys of the mappings do not match:\n"
            f"Missing keys in the actual mapping: {sorted(there - here)}\n"
            f"Additional keys in the actual mapping: {sorted(here - there)}"
        )
        raise ErrorMeta(AssertionError, told, id=id)
    with contextlib.suppress(Exception):  # keys without an order
        return sorted(here)
    return list(here)


def _pair(actual, expected, pair_types, id: tuple, options: dict) -> Pair:
    for kind in pair_types:
        try:
            return kind(actual, expected, id=id, **options)
        except UnsupportedInputs:
            continue
        except ErrorMeta:
            raise
        except Exception as error:
            where = "".join(str([item]) for item in id)
            raise RuntimeError(
                f"Originating a {kind.__name__}() at item {where} with\n\n"
                f"{type(actual).__name__}(): {actual}\n\nand\n\n"
                f"{type(expected).__name__}(): {expected}\n\n"
                f"resulted in the unexpected exception above. {_REPORT}"
                "except the previous error and raise an expressive `ErrorMeta` instead."
            ) from error
    raise ErrorMeta(TypeError, _leaves.not_compared(actual, expected), id=id)


def not_close_error_metas(
    actual: Any,
    expected: Any,
    *,
    pair_types: Sequence[type[Pair]] = (ObjectPair,),
    sequence_types: tuple[type, ...] = (Sequence,),
    mapping_types: tuple[type, ...] = (Mapping,),
    **options,
) -> list[ErrorMeta]:
    """The errors of the pairs that differ; options go to each pair.

    Raises the user's error where the two cannot be taken apart alike.
    """
    __tracebackhide__ = True
    kinds = {"sequence_types": sequence_types, "mapping_types": mapping_types}
    options = {"pair_types": pair_types, **kinds, **options}
    try:
        pairs = originate_pairs(actual, expected, **options)
    except ErrorMeta as found:
        raise found.to_error() from None
    errors = []
    for pair in pairs:
        try:
            pair.compare()
        except ErrorMeta as found:
            # Tracebacks would hold this frame, and it the tensors.
            errors.append(found.with_traceback(None))
        except Exception as error:
            raise RuntimeError(
                f"Comparing\n\n{pair}\n\nresulted in the unexpected exception above. "
                f"{_REPORT}except the previous error and raise an expressive "
                "`ErrorMeta` instead."
            ) from error
    return errors
