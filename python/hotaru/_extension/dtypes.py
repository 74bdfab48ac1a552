"""Facts about dtypes: limits and legacy type strings."""

from __future__ import annotations

from .. import _C

TYPES = {
    "FloatTensor": _C.float32,
    "DoubleTensor": _C.float64,
    "HalfTensor": _C.float16,
    "BFloat16Tensor": _C.bfloat16,
    "LongTensor": _C.int64,
    "IntTensor": _C.int32,
    "ShortTensor": _C.int16,
    "CharTensor": _C.int8,
    "ByteTensor": _C.uint8,
    "BoolTensor": _C.bool,
    "ComplexFloatTensor": _C.complex64,
    "ComplexDoubleTensor": _C.complex128,
}


_RARE = {
    _C.complex32: "ComplexHalfTensor",
    _C.uint16: "UInt16Tensor",
    _C.uint32: "UInt32Tensor",
    _C.uint64: "UInt64Tensor",
    _C.float8_e5m2: "Float8_e5m2Tensor",
    _C.float8_e4m3fn: "Float8_e4m3fnTensor",
    _C.float8_e5m2fnuz: "Float8_e5m2fnuzTensor",
    _C.float8_e4m3fnuz: "Float8_e4m3fnuzTensor",
    _C.float8_e8m0fnu: "Float8_e8m0fnuTensor",
}
# Named and stored, without arithmetic.
STORED = (
    _C.float4_e2m1fn_x2,
    *(getattr(_C, f"bits{form}") for form in ("1x8", "2x4", "4x2", "8", "16")),
    *(getattr(_C, f"uint{bits}") for bits in range(1, 8)),
    *(getattr(_C, f"int{bits}") for bits in range(1, 8)),
)


def _stored_name(dtype) -> str:
    name = str(dtype).removeprefix("torch.")
    start = "UInt" if name.startswith("uint") else name[0].upper() + name[1:4]
    return start + name[len(start) :]


_RARE.update({dtype: f"{_stored_name(dtype)}Tensor" for dtype in STORED})
# Where the name in texts is not the dtype's own.
_CPP_NAMES = {
    "uint8": "unsigned char",
    "int8": "signed char",
    "int16": "short int",
    "int32": "int",
    "int64": "long int",
    "float16": "c10::Half",
    "bfloat16": "c10::BFloat16",
    "float32": "float",
    "float64": "double",
    "complex64": "c10::complex<float>",
    "complex128": "c10::complex<double>",
}


QUANTIZED_TYPES = {
    "quint8": "QUInt8Tensor",
    "qint8": "QInt8Tensor",
    "qint32": "QInt32Tensor",
    "quint4x2": "QUInt4x2Tensor",
    "quint2x4": "QUInt2x4Tensor",
}


def scalar_type(dtype) -> str:
    """PyTorch's name of a dtype in messages, such as Float or Long."""
    for name, known in (*TYPES.items(), *((n, d) for d, n in _RARE.items())):
        if known is dtype:
            return name[: -len("Tensor")]
    raise TypeError(f"{dtype} has no such name")


def cpp_name(dtype) -> str:
    """The C++ type of a dtype, as PyTorch's compiler prints it."""
    name = str(dtype).split(".")[-1]
    return _CPP_NAMES.get(name, name)


def options_text(dtype, device) -> str:
    """A dtype and a device as some of PyTorch's messages list them."""
    return (
        f"TensorOptions(dtype={cpp_name(dtype)}, device={device}, "
        "layout=Strided, requires_grad=false (default), "
        "pinned_memory=false (default), memory_format=(nullopt))"
    )


def type_string(tensor) -> str:
    """The legacy name, such as torch.FloatTensor."""
    if tensor.is_quantized:
        kind = str(tensor.dtype).removeprefix("torch.")
        name = f"quantized.{QUANTIZED_TYPES[kind]}"
    else:
        name = _RARE.get(tensor.dtype) or next(
            n for n, dtype in TYPES.items() if dtype is tensor.dtype
        )
    device = tensor.device.type
    if tensor.layout is not _C.strided and not tensor.is_nested:
        name = f"sparse.{name}"
    return f"torch.{name}" if device == "cpu" else f"torch.{device}.{name}"


def dtype_of_type(spec):
    """The dtype that a dtype, a legacy class or its name stands for."""
    if isinstance(spec, _C.dtype):
        return spec
    name = spec if isinstance(spec, str) else spec.__name__
    dtype = TYPES.get(name.rsplit(".", 1)[-1])
    if dtype is None:
        raise ValueError(f"invalid type: '{name}'")
    return dtype


class _Limits:
    bits: int
    dtype: str

    def __init__(self, dtype) -> None:
        self._dtype = dtype
        if not isinstance(dtype, _C.dtype):
            raise TypeError(
                f"{type(self).__name__}(): argument 'type' (position 1) must "
                f"be torch.dtype, not {type(dtype).__name__}"
            )
        if repr(self._dtype).split(".")[-1] not in self._KNOWN:
            raise TypeError(self._WRONG)
        # Limits of a complex dtype are those of its parts.
        real = dtype.to_real() if dtype.is_complex else dtype
        self.dtype = repr(real).split(".")[-1]
        self.bits = real.itemsize * 8

    def __eq__(self, other) -> bool:
        return type(other) is type(self) and other.dtype == self.dtype

    def __hash__(self) -> int:
        return hash((type(self), self.dtype))

    def __repr__(self) -> str:
        fields = ", ".join(f"{k}={getattr(self, k):g}" for k in self._SHOWN)
        return f"{type(self).__name__}({fields}, dtype={self.dtype})"


class finfo(_Limits):  # noqa: N801
    """Limits of a floating-point dtype."""

    max: float
    min: float
    eps: float
    tiny: float
    smallest_normal: float
    resolution: float

    # mantissa bits without the leading one, smallest and largest exponents
    _KNOWN = {  # noqa: RUF012
        "float16": (10, -14, 15),
        "bfloat16": (7, -126, 127),
        "float32": (23, -126, 127),
        "float64": (52, -1022, 1023),
        "complex64": (23, -126, 127),
        "complex128": (52, -1022, 1023),
        "complex32": (10, -14, 15),
        "float8_e5m2": (2, -14, 15),
        "float8_e4m3fn": (3, -6, 8),
        "float8_e5m2fnuz": (2, -15, 15),
        "float8_e4m3fnuz": (3, -7, 7),
        "float8_e8m0fnu": (0, -127, 127),
    }
    _WRONG = (
        "torch.finfo() requires a floating point input type. "
        "Use torch.iinfo to handle 'torch.finfo'"
    )
    _SHOWN = ("resolution", "min", "max", "eps", "smallest_normal", "tiny")

    def __init__(self, type=None) -> None:
        super().__init__(_C.get_default_dtype() if type is None else type)
        bits, low, high = self._KNOWN[self.dtype]
        self.eps = 2.0**-bits
        self.tiny = self.smallest_normal = 2.0**low
        self.max = (2.0 - self.eps) * 2.0**high
        if self.dtype == "float8_e4m3fn":  # its largest code is NaN
            self.max = 448.0
        elif self.dtype == "float8_e5m2fnuz":  # PyTorch's; the format's is 0.25
            self.eps = 0.125
        self.min = -self.max
        if self.dtype == "float8_e8m0fnu":  # powers of two without a sign
            self.max, self.min = 2.0**127, self.tiny
        self.resolution = 10.0 ** -int(bits * 0.30102999566398120)


class iinfo(_Limits):  # noqa: N801
    """Limits of an integer dtype; of a quantised one those of the integers that
    hold its elements.
    """

    max: int
    min: int

    _KNOWN = (
        "uint8",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint16",
        "uint32",
        "uint64",
        "qint8",
        "qint32",
        "quint8",
        "quint4x2",
        "quint2x4",
    )
    _WRONG = (
        "torch.iinfo() requires an integer input type. Use torch.finfo to "
        "handle 'torch.iinfo'"
    )

    def __init__(self, type) -> None:
        if type is _C.bool:
            raise TypeError("torch.bool is not supported by torch.iinfo")
        super().__init__(type)
        signed = not self.dtype.startswith(("u", "qu"))
        self.max = 2 ** (self.bits - signed) - 1
        self.min = -(2 ** (self.bits - 1)) if signed else 0

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"


def abbreviation(dtype) -> str:
    """As "f32", "bf16", "i64" or "b8"."""
    name = str(dtype).removeprefix("torch.").replace("_", "")
    if name == "bool":
        return "b8"
    if dtype in STORED and "float" not in name:
        short = name.replace("bits", "b")
        return f"{short}x1" if name in ("bits8", "bits16") else short
    for kind, short in (
        ("bfloat", "bf"),
        ("float", "f"),
        ("complex", "c"),
        ("uint", "u"),
        ("int", "i"),
    ):
        if name.startswith(kind):
            return short + name.removeprefix(kind)
    return name
