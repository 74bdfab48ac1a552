"""The types of tensors."""

# Names are PyTorch's.
# ruff: noqa: N802, N815
from __future__ import annotations

import itertools
from typing import NamedTuple

from .. import _C
from .base_type import Type

_DTYPES = {
    "Byte": "uint8",
    "Char": "int8",
    "Short": "int16",
    "Int": "int32",
    "Long": "int64",
    "Half": "float16",
    "Float": "float32",
    "Double": "float64",
    "ComplexHalf": "complex32",
    "ComplexFloat": "complex64",
    "ComplexDouble": "complex128",
    "Bool": "bool",
    "BFloat16": "bfloat16",
}
SCALAR_TYPES = {name: getattr(_C, dtype) for name, dtype in _DTYPES.items()}
_SCALAR_NAMES = {dtype: name for name, dtype in SCALAR_TYPES.items()}


_SYMBOLS = itertools.count(2)


def new_symbol() -> int:
    """A negative number that stands for a size, and for no other one."""
    return -next(_SYMBOLS)


class Known(NamedTuple):
    """Facts known of a tensor; None where nothing is. A negative size is the
    symbol of one.
    """

    scalar_type: str | None = None
    sizes: tuple | None = None
    strides: tuple | None = None
    requires_grad: bool | None = None
    device: object = None


class TensorType(Type):
    """A tensor, with what is known of its dtype, sizes, strides and device."""

    def __init__(self, known: Known | None = None) -> None:
        super().__init__()
        self._known = known or Known()

    @classmethod
    def get(cls) -> TensorType:
        """Any tensor."""
        return _ANY_TENSOR

    getInferred = get

    @classmethod
    def create_from_tensor(cls, tensor) -> TensorType:
        """All that the tensor tells."""
        sizes, strides = tuple(tensor.shape), tuple(tensor.stride())
        return cls.of(tensor.dtype, sizes, strides, tensor.requires_grad, tensor.device)

    @classmethod
    def of(cls, dtype, sizes, strides, requires_grad, device) -> TensorType:
        """A tensor of which all is known."""
        name = _SCALAR_NAMES.get(dtype)
        return cls(Known(name, sizes, strides, requires_grad, device))

    def str(self) -> str:
        known = self._known
        if known == Known():
            return "Tensor"
        parts = []
        if known.sizes is not None:
            parts += ["*" if n is None else f"{n}" for n in _without(known.sizes)]
        if known.strides:
            parts.append(f"strides={list(known.strides)}")
        if known.requires_grad is not None:
            parts.append(f"requires_grad={int(known.requires_grad)}")
        if known.device is not None:
            parts.append(f"device={known.device}")
        name = known.scalar_type or "Tensor"
        if known.sizes is None:
            name = f"{known.scalar_type or ''}Tensor"
            return f"{name}({', '.join(parts)})" if parts else name
        return f"{name}({', '.join(parts)})"

    @property
    def annotation_str(self) -> str:
        return "Tensor"

    def dim(self) -> int | None:
        """The number of dimensions, if known."""
        return None if self._known.sizes is None else len(self._known.sizes)

    def sizes(self) -> list[int] | None:
        """The sizes, if all are known."""
        sizes = _without(self._known.sizes)
        return None if sizes is None or None in sizes else list(sizes)

    def varyingSizes(self) -> list[int | None] | None:
        """The sizes, None for those that are not known."""
        sizes = _without(self._known.sizes)
        return None if sizes is None else list(sizes)

    def symbolic_sizes(self) -> list[int] | None:
        """The sizes, negative symbols of those that are not known."""
        sizes = self._known.sizes
        if sizes is None:
            return None
        if None in sizes:
            sizes = tuple(new_symbol() if n is None else n for n in sizes)
            self._known = self._known._replace(sizes=sizes)
        return list(sizes)

    def strides(self) -> list[int] | None:
        """The strides, if known."""
        known = self._known.strides
        return None if known is None else list(known)

    def scalarType(self) -> str | None:
        """The dtype, as "Float" or "Long", if known."""
        return self._known.scalar_type

    def dtype(self):
        """The dtype, if known."""
        return SCALAR_TYPES.get(self._known.scalar_type)

    def device(self):
        """The device, if known."""
        return self._known.device

    def requires_grad(self) -> bool:
        """Tells whether it may need gradients: True where nothing is known."""
        return self._known.requires_grad is not False

    def with_sizes(self, sizes) -> TensorType:
        """The type with these sizes, and all else as it is.

        Args:
            sizes: numbers, symbols as `symbolic_sizes` gives them, and None for
                sizes that get symbols of their own.
        """
        known = None if sizes is None else tuple(sizes)
        return TensorType(self._known._replace(sizes=known))

    def with_dtype(self, dtype) -> TensorType:
        """The type with this dtype."""
        name = _SCALAR_NAMES.get(dtype)
        return TensorType(self._known._replace(scalar_type=name))

    def with_device(self, device) -> TensorType:
        """The type with this device."""
        return TensorType(self._known._replace(device=device))

    def _numbers(self) -> Known:
        """Its facts, without symbols: these are no part of what it says."""
        known = self._known
        if known.sizes is None:
            return known
        return known._replace(sizes=_without(known.sizes))

    def _fits(self, other: Type) -> bool:
        return isinstance(other, TensorType) and all(
            theirs is None or ours == theirs
            for ours, theirs in zip(self._numbers(), other._numbers())
        )

    def __eq__(self, other) -> bool:
        return isinstance(other, TensorType) and self._numbers() == other._numbers()

    __hash__ = None


def _without(sizes):
    """The sizes with None in place of symbols."""
    if sizes is None:
        return None
    return tuple(None if n is None or n < 0 else n for n in sizes)


_ANY_TENSOR = TensorType()
