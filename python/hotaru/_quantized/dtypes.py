"""The dtypes of quantised tensors and the schemes of their scales."""

from __future__ import annotations

from .. import _C

__all__ = [
    "per_channel_affine",
    "per_channel_affine_float_qparams",
    "per_channel_symmetric",
    "per_tensor_affine",
    "per_tensor_symmetric",
    "qint8",
    "qint32",
    "qscheme",
    "quint2x4",
    "quint4x2",
    "quint8",
]


class _Named:
    """An object of PyTorch's module, which pickles and copies take by name."""

    _name: str

    def __repr__(self) -> str:
        return f"torch.{self._name}"

    def __reduce__(self) -> str:
        return self._name

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self


def no_sign() -> RuntimeError:
    return RuntimeError("isSignedType not supported for quantized types")


class QuantizedDtype(_Named):
    """A dtype whose elements are integers with a scale.

    It is a `torch.dtype` to Python (`isinstance`). What is compiled has no
    elements of it and refuses it: `storage` is the dtype that they lie in.
    """

    is_floating_point = False
    is_complex = False

    def __init__(self, name: str, storage, low: int, high: int) -> None:
        self._name = name
        self.storage = storage
        self.low = low
        self.high = high

    @property
    def __class__(self):
        return _C.dtype

    @property
    def itemsize(self) -> int:
        return self.storage.itemsize

    @property
    def is_signed(self) -> bool:
        raise no_sign()

    @property
    def abbr(self) -> str:
        """Its name."""
        return self._name


# Pickles say of which module a dtype is.
QuantizedDtype.__module__ = _C.dtype.__module__

qint8 = QuantizedDtype("qint8", _C.int8, -128, 127)
quint8 = QuantizedDtype("quint8", _C.uint8, 0, 255)
qint32 = QuantizedDtype("qint32", _C.int32, -(2**31), 2**31 - 1)
# Two and four elements a byte in PyTorch's memory; a byte each here.
quint4x2 = QuantizedDtype("quint4x2", _C.uint8, 0, 15)
quint2x4 = QuantizedDtype("quint2x4", _C.uint8, 0, 3)


STORAGE_NAMES = {
    qint8: "QInt8Storage",
    quint8: "QUInt8Storage",
    qint32: "QInt32Storage",
}
"""Names that files give the storages of those dtypes."""


def is_quantized_dtype(dtype) -> bool:
    """True if it is one of those above."""
    return type(dtype) is QuantizedDtype


class qscheme(_Named):  # noqa: N801, PyTorch's name
    """Scheme that says whether scales are those of a tensor or of its
    channels, and whether zero stands in the middle.
    """

    def __init__(self, name: str) -> None:
        self._name = name


qscheme.__module__ = _C.dtype.__module__

per_tensor_affine = qscheme("per_tensor_affine")
per_channel_affine = qscheme("per_channel_affine")
per_tensor_symmetric = qscheme("per_tensor_symmetric")
per_channel_symmetric = qscheme("per_channel_symmetric")
per_channel_affine_float_qparams = qscheme("per_channel_affine_float_qparams")
